//! Scenarios made from what was recorded: an HTTP archive of a browser, or a server's access log.
//!
//! The result is a beginning that runs, not the truth about the users: it says what was left out, and it never holds what looks
//! like a secret.

mod access_log;
mod draft;
mod har;
mod log_line;
mod suggest;

pub use access_log::{AccessLog, from_access_log};
pub use har::{HarOptions, from_har};

/// A scenario that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Of the scenario file.
    pub text: String,
    /// Address that was recorded; absent where the recording does not say it.
    pub base_url: Option<String>,
    /// Text of the file of arrival times that the scenario names, where it was asked for.
    pub trace: Option<String>,
}

/// Text in a template that is itself: a brace that would begin a name is encoded.
fn literal_path(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        match c {
            '{' => out.push_str("%7B"),
            '}' => out.push_str("%7D"),
            '#' => out.push_str("%23"),
            c if c <= ' ' || c == '\u{7f}' || !c.is_ascii() => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
            }
            c => out.push(c),
        }
    }
    out
}

/// Without percent signs, and pluses for spaces.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match (byte, hex.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The parts of a query, as they stand there.
fn query_parts(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}
