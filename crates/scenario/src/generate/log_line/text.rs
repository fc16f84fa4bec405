//! Forms of text: the common and the combined one with what servers add to them, HAProxy's, and those of Amazon's load balancers.

use super::entry::Entry;
use super::time::time_of;

/// `host identity user [time] "request" status ...`; before it there may be more, such as the name of the server or what a logger writes.
pub(super) fn entry(line: &str) -> Option<Entry> {
    of_load_balancer(line).or_else(|| of_common(line))
}

fn of_common(line: &str) -> Option<Entry> {
    let (before, rest) = line.split_once('"')?;
    let (request, rest) = rest.split_once('"')?;
    let (method, target) = request_of(request)?;
    let ((time_ns, is_whole_second), behind) = time_in(before)?;
    // HAProxy's stands before the request, behind the times of the connection.
    let status = of_haproxy(behind).or_else(|| rest.split_whitespace().next()?.parse().ok());
    Some(Entry { time_ns, is_whole_second, method, target, status })
}

/// The time within a text, in brackets or, as of Quarkus, without; and what stands behind it.
fn time_in(text: &str) -> Option<((i128, bool), &str)> {
    let bracketed = text.match_indices('[').find_map(|(at, _)| {
        let (inside, behind) = text[at + 1..].split_once(']')?;
        // A number alone is that of a process.
        let time = time_of(inside).filter(|_| inside.contains(['/', '-']))?;
        Some((time, behind))
    });
    let bare = || {
        let slash = text.find('/')?;
        let begin = slash.checked_sub(2)?;
        let time = text.get(begin..)?.trim_end();
        Some((time_of(time)?, ""))
    };
    bracketed.or_else(bare)
}

/// `http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 `
fn of_haproxy(behind: &str) -> Option<u16> {
    let mut words = behind.split_whitespace();
    let is_times = |word: &&str| {
        word.matches('/').count() == 4
            && word.bytes().all(|byte| byte.is_ascii_digit() || b"/+-".contains(&byte))
    };
    words.find(is_times)?;
    words.next()?.parse().ok()
}

/// `https 2024-03-12T10:15:32.123456Z app/shop/50dc 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://.."`;
/// that of the older kind begins with the time.
fn of_load_balancer(line: &str) -> Option<Entry> {
    let (before, rest) = line.split_once('"')?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let at = match *words.first()? {
        "http" | "https" | "h2" | "grpcs" | "ws" | "wss" => 1,
        _ => 0,
    };
    if words.len() != 11 + at {
        return None;
    }
    let (method, target) = request_of(rest.split_once('"')?.0)?;
    let (time_ns, is_whole_second) = time_of(words.get(at)?)?;
    let status = words.get(at + 7)?.parse().ok();
    Some(Entry { time_ns, is_whole_second, method, target, status })
}

/// `METHOD target HTTP/1.1`
pub(super) fn request_of(request: &str) -> Option<(String, String)> {
    let mut words = request.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    Some((method.to_owned(), target_of(method, target)?))
}

/// The path and query that a request of this method asks for; absent where it cannot be sent again.
pub(super) fn target_of(method: &str, target: &str) -> Option<String> {
    let is_method =
        !method.is_empty() && method.len() <= 16 && method.bytes().all(|byte| byte.is_ascii_uppercase());
    // A proxy logs whole URLs.
    let target = match target.split_once("://") {
        Some((scheme, rest)) if scheme.len() <= 5 => rest.find('/').map_or("/", |slash| &rest[slash..]),
        _ => target,
    };
    (is_method && target.starts_with('/')).then(|| target.to_owned())
}
