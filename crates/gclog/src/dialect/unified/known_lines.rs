//! Lists of lines that are accounted for: data, in `known_lines.txt`.

use std::sync::LazyLock;

const TEXT: &str = include_str!("known_lines.txt");

/// How lines of `gc` begin.
pub(super) static GC: LazyLock<Vec<&'static str>> = LazyLock::new(|| list("gc"));
/// How lines of other tags begin, whose figures follow.
pub(super) static UNTAGGED: LazyLock<Vec<&'static str>> = LazyLock::new(|| list("untagged"));
/// Lines of other tags that are always the same.
pub(super) static EXACT: LazyLock<Vec<&'static str>> = LazyLock::new(|| list("exact"));
/// Settings, as the start of a log names them.
pub(super) static INIT: LazyLock<Vec<&'static str>> = LazyLock::new(|| list("init"));

fn list(name: &str) -> Vec<&'static str> {
    let named = |line: &&str| line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(name);
    let of_list =
        TEXT.lines().skip_while(|line| !named(line)).skip(1).take_while(|line| !line.starts_with('['));
    of_list.filter_map(|line| line.strip_prefix('"')?.strip_suffix('"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        assert_eq!([GC.len(), UNTAGGED.len(), EXACT.len(), INIT.len()], [26, 423, 56, 75]);
        assert!(EXACT.is_sorted());
        for list in [&INIT, &GC, &UNTAGGED] {
            for pair in list.windows(2) {
                assert!(pair[0] < pair[1] && !pair[1].starts_with(pair[0]), "{pair:?}");
            }
        }
    }
}
