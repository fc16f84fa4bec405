//! One thing that a collector puts before a line.

use super::json;
use super::stripped::Stripped;
use super::time::take_time;
use std::borrow::Cow;

/// Longest name of a host, a service, a stream.
const NAME_BYTES_MAX: usize = 256;

/// One thing that stands before a line. In the order in which they are tried: what takes least and fits least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// Colours of a terminal, wherever they stand.
    Colours,
    /// A JSON object with the line in it: Docker, journald, ECS, fluent-bit, Google's and Amazon's services.
    Json,
    /// Syslog's `<13>`, and of RFC 5424 all up to its message.
    Priority,
    /// A time of any form.
    Time,
    /// CRI's `stdout F `.
    Stream,
    /// kubectl's `[pod/shop-7f/app] `.
    Pod,
    /// `shop-1  | ` of Compose and Swarm.
    Service,
    /// `host java[1]: ` of syslog and journald, `app[web.1]: ` of Heroku.
    Tag,
    /// `[main] INFO  shop.Gc - ` of loggers, in any order.
    Logger,
    /// A row of `aws logs --output text`, or of a table of CSV.
    Row,
    /// A name alone: the stream of CloudWatch, the pod and the container of stern.
    Word,
}

pub(super) const ALL: [Element; 11] = [
    Element::Colours,
    Element::Json,
    Element::Priority,
    Element::Time,
    Element::Stream,
    Element::Pod,
    Element::Service,
    Element::Tag,
    Element::Logger,
    Element::Row,
    Element::Word,
];

impl Element {
    /// Takes it off the front of a text; absent where it does not stand there.
    pub fn take<'a>(self, text: &'a str) -> Option<Stripped<'a>> {
        let rest = |rest: &'a str| Stripped { text: Cow::Borrowed(rest), ..Stripped::default() };
        match self {
            Element::Colours => without_colours(text),
            Element::Json => json::take(text),
            Element::Priority => priority(text),
            Element::Time => take_time(text).map(|(unix_ns, behind)| Stripped { unix_ns, ..rest(behind) }),
            Element::Stream => stream(text),
            Element::Pod => text.strip_prefix("[pod/").and_then(|t| t.split_once("] ")).map(|(_, t)| rest(t)),
            Element::Service => service(text).map(rest),
            // A time has the form of a host's name.
            Element::Tag | Element::Word if take_time(text).is_some() => None,
            Element::Tag => tag(text).map(rest),
            Element::Logger => logger(text).map(rest),
            Element::Row => row(text),
            Element::Word => word(text).map(|(_, behind)| rest(behind)),
        }
    }
}

/// Without the sequences that set colours: `ESC [ 1 ; 32 m`. Some collectors leave the escape itself out of what they write.
fn without_colours(text: &str) -> Option<Stripped<'_>> {
    memchr::memchr(0x1b, text.as_bytes())?;
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let parameters = behind.strip_prefix('[').unwrap_or(behind);
        let end = parameters.bytes().position(|b| !(b.is_ascii_digit() || b == b';' || b == b'?'));
        rest = end.and_then(|at| parameters.get(at + 1..)).unwrap_or_default();
    }
    plain.push_str(rest);
    Some(Stripped { text: Cow::Owned(plain), ..Stripped::default() })
}

/// `<13>`; and `<13>1 2003-10-11T22:14:15.003Z host app 8710 - [id k="v"] text` whole.
fn priority(text: &str) -> Option<Stripped<'_>> {
    let (number, rest) = text.strip_prefix('<')?.split_once('>')?;
    if number.is_empty() || number.len() > 3 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let plain = Stripped { text: Cow::Borrowed(rest), ..Stripped::default() };
    Some(rest.strip_prefix("1 ").and_then(of_rfc_5424).unwrap_or(plain))
}

fn of_rfc_5424(text: &str) -> Option<Stripped<'_>> {
    let (time, mut rest) = text.split_once(' ')?;
    let unix_ns = match time {
        "-" => None,
        _ => take_time(text)?.0,
    };
    for _ in ["host", "application", "process", "kind of message"] {
        rest = rest.split_once(' ')?.1;
    }
    rest = match rest.strip_prefix('-') {
        Some(behind) => behind,
        None => behind_elements(rest)?,
    };
    // The byte order mark says that the message is UTF-8.
    let rest = rest.strip_prefix(' ').unwrap_or(rest).trim_start_matches('\u{feff}');
    Some(Stripped { text: Cow::Borrowed(rest), unix_ns, ..Stripped::default() })
}

/// What stands behind `[id key="value"][..]`, whose values may contain brackets.
fn behind_elements(mut text: &str) -> Option<&str> {
    while text.starts_with('[') {
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            let ends = byte == b']' && !is_quoted;
            is_quoted ^= byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        })?;
        text = &text[end + 1..];
    }
    (text.is_empty() || text.starts_with(' ')).then_some(text)
}

/// `stdout F text`, and `stdout P text` where the line goes on; containerd may put tags behind a colon.
fn stream(text: &str) -> Option<Stripped<'_>> {
    let rest = text.strip_prefix("stdout ").or_else(|| text.strip_prefix("stderr "))?;
    let (tags, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let goes_on = match tags.split(':').next()? {
        "F" => false,
        "P" => true,
        _ => return None,
    };
    Some(Stripped { text: Cow::Borrowed(text), goes_on, ..Stripped::default() })
}

/// A name, blanks, a bar and one blank.
fn service(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once('|')?;
    let name = name.strip_suffix(' ')?.trim_end();
    is_name(name).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `java[1]: `, `java: `, either behind a host.
fn tag(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
    let (host, name) = before.split_once(' ').unwrap_or(("", before));
    let program = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((program, _)) => program,
        None => name,
    };
    ((host.is_empty() || is_name(host)) && is_name(program)).then_some(rest)
}

/// Levels of loggers; those of the JVM are written in small letters.
const LEVELS: [&str; 9] = ["TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "SEVERE", "NOTICE"];

/// A level, which may stand in brackets, the thread and the logger in any order, up to a dash, a colon or the last bracket.
fn logger(text: &str) -> Option<&str> {
    let (mut rest, mut has_level, mut has_logger) = (text, false, false);
    loop {
        rest = rest.trim_start_matches(' ');
        if let Some((inside, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            // The JVM's own decorators begin the message.
            let is_level = LEVELS.contains(&inside.trim());
            if has_level && !is_level && !behind.starts_with(' ') {
                return Some(rest);
            }
            has_level |= is_level;
            rest = behind;
            continue;
        }
        let (word, behind) = rest.split_once(' ')?;
        if LEVELS.contains(&word.trim_end_matches(':')) && !has_level {
            has_level = true;
        } else if has_level
            && (matches!(word, "-" | "--" | ":" | "|") || word.strip_suffix(':').is_some_and(is_name))
        {
            return Some(behind);
        } else if has_level && !has_logger && is_name(word) {
            has_logger = true;
        } else if word != "---" && !word.bytes().all(|b| b.is_ascii_digit()) {
            return has_level.then_some(rest);
        }
        rest = behind;
    }
}

/// `EVENTS<tab>..<tab>text<tab>1758010652000`, and `2025-09-16 08:17:32.137,"text"`.
fn row(text: &str) -> Option<Stripped<'_>> {
    if let Some(rest) = text.strip_prefix("EVENTS\t") {
        let (rest, time) = rest.rsplit_once('\t')?;
        let unix_ns = time.trim().parse::<i64>().ok()?.checked_mul(1_000_000);
        // What stands before the message: the time it came, its number, the stream.
        let (_, text) = rest.rsplit_once('\t')?;
        return Some(Stripped { text: Cow::Borrowed(text), unix_ns, goes_on: false });
    }
    let (time, rest) = text.split_once(',')?;
    // A comma may part the milliseconds.
    let (time, rest) = match take_time(time) {
        Some((unix_ns, "")) => (unix_ns, rest),
        _ => return None,
    };
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = quoted.map_or(Cow::Borrowed(rest), |quoted| Cow::Owned(quoted.replace("\"\"", "\"")));
    Some(Stripped { text, unix_ns: time, goes_on: false })
}

fn word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    // Blanks fill a column; those of the message are its own.
    is_name(word).then_some((word, rest))
}

/// A name of a host, a service, a program: it has a letter, and neither blanks nor what the JVM's own lines begin with.
fn is_name(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX
        && text.bytes().any(|b| b.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./@:+$~*()".contains(&b))
}
