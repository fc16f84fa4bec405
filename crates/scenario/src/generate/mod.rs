//! Scenarios made from what was recorded: an HTTP archive of a browser, or a server's access log; and from what other tools have: a
//! Postman collection, a JMeter plan, an OpenAPI description.
//!
//! The result is a beginning that runs, not the truth about the users: it says what was left out, and it never holds what looks
//! like a secret.

mod access_log;
#[cfg(any(test, fuzzing))]
pub mod any_text_tests;
mod draft;
mod har;
mod imported;
mod jmeter;
mod log_line;
mod openapi;
mod postman;
mod suggest;

pub use access_log::{AccessLog, from_access_log};
pub use har::{HarOptions, from_har};
pub use jmeter::from_jmeter;
pub use openapi::from_openapi;
pub use postman::from_postman;

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

/// A URL, taken apart.
struct Url<'a> {
    base: &'a str,
    host: &'a str,
    path: &'a str,
    query: &'a str,
}

fn url(url: &str) -> Option<Url<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, target) = rest.split_at(end);
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // User and password in a URL are not supported, and would be stored.
    let is_good = !host.is_empty() && !host.contains('@');
    is_good.then(|| Url {
        base: &url[..scheme.len() + 3 + host.len()],
        host,
        path: if path.is_empty() { "/" } else { path },
        query,
    })
}

/// A text as itself in a template: what would be the name of a value there cannot be written, so a space parts it from its brace.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        out.push(c);
        if c == '{' && crate::template::begins_placeholder(&text[at..]) {
            out.push(' ');
        }
    }
    out
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
