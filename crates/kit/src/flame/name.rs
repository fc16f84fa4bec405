//! Names of frames: what stands in a frame that has no room for all of one.

use crate::letters::{whole, whole_or_cut};

/// The name in at most `room`: whole, else [`short`], else that cut; absent where nothing would be left that says something.
pub fn label(sign: &str, name: &str, room: f64, size: f64) -> Option<String> {
    let short = short(name);
    whole(&format!("{sign}{name}"), room, size)
        .or_else(|| whole_or_cut(&format!("{sign}{short}"), room, size))
}

/// Without what says least: the library and the arguments, the package of a Java class (`Class.method` stays), all but the last qualifier of
/// a C++ name.
pub fn short(name: &str) -> &str {
    // `memcpy (libc.so.6)`; `int a.Cart.total(int)`, as the JVM's own list has it.
    let bare = match name.split_once('(') {
        Some((library, _)) if library.ends_with(' ') => library.trim_end(),
        Some((method, _)) if method.contains("::") => method,
        Some((method, _)) if !method.is_empty() => method.rsplit(' ').next().unwrap_or(method),
        _ => name,
    };
    if bare.contains("::") {
        return last_qualified(bare);
    }
    let dots: Vec<usize> = bare.match_indices('.').map(|(at, _)| at).collect();
    let [.., package_end, _] = dots.as_slice() else { return bare };
    let (package, class) = (&bare[..*package_end], &bare[package_end + 1..]);
    let is_package =
        package.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '/'));
    if is_package && class.starts_with(char::is_uppercase) { class } else { bare }
}

/// `Class::method` of `outer::Class<T>::method`: qualifiers within brackets are not its own.
fn last_qualified(name: &str) -> &str {
    let mut depth = 0_usize;
    let mut ends = Vec::new();
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && name[at..].starts_with("::") => ends.push(at + 2),
            _ => {}
        }
    }
    match ends.as_slice() {
        [.., before, _] => &name[*before..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_goes_first_and_class_and_method_stay() {
        for (name, wanted) in [
            ("java.util.HashMap.get", "HashMap.get"),
            ("int shop.orders.Cart.total(int, java.lang.String)", "Cart.total"),
            ("shop.Cart$Line.<init>", "Cart$Line.<init>"),
            ("HashMap.get", "HashMap.get"),
            ("io.netty.util.Recycler$LocalPool.claim", "Recycler$LocalPool.claim"),
            ("compiled Java", "compiled Java"),
            ("pthread_cond_signal@@GLIBC_2.3.2 (libc.so.6)", "pthread_cond_signal@@GLIBC_2.3.2"),
            ("tcp_sendmsg.isra.0", "tcp_sendmsg.isra.0"),
            ("G1ParScanThreadState::trim_queue", "G1ParScanThreadState::trim_queue"),
            ("std::vector<a::B, c::D>::push_back(a::B const&)", "vector<a::B, c::D>::push_back"),
            ("", ""),
            ("(unknown)", "(unknown)"),
            ("a::", "a::"),
        ] {
            assert_eq!(short(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_frame_without_room_for_the_package_has_class_and_method() {
        let of = |room| label("+ ", "java.util.concurrent.ThreadPoolExecutor.runWorker", room, 11.5);
        assert_eq!(of(400.0).as_deref(), Some("+ java.util.concurrent.ThreadPoolExecutor.runWorker"));
        assert_eq!(of(240.0).as_deref(), Some("+ ThreadPoolExecutor.runWorker"));
        assert!(of(120.0).is_some_and(|cut| cut.starts_with("+ Thread") && cut.ends_with("orker")));
        assert_eq!(of(30.0), None);
    }
}
