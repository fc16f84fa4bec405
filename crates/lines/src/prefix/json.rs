//! A line of a log within a JSON object.

use super::stripped::Stripped;
use super::time::{time_of_number, whole_time};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Keys of the line itself: Docker, journald, ECS and loggers, Loki, Google, Amazon, Splunk.
const TEXTS: [&str; 13] = [
    "log",
    "MESSAGE",
    "message",
    "msg",
    "line",
    "textPayload",
    "@message",
    "body",
    "text",
    "_raw",
    "event",
    "jsonPayload",
    "_source",
];
/// Keys of its time.
const TIMES: [&str; 9] = [
    "time",
    "__REALTIME_TIMESTAMP",
    "@timestamp",
    "timestamp",
    "ts",
    "date",
    "instant",
    "_time",
    "receiveTimestamp",
];
/// Docker cuts longer lines.
const DOCKER_PIECE_BYTES: usize = 16 << 10;
/// Objects within objects that are looked into.
const DEPTH_MAX: usize = 2;

/// Takes the line out of an object, or out of a line of a printed list of them.
pub(super) fn take(text: &str) -> Option<Stripped<'static>> {
    let text = text.trim().trim_end_matches(',');
    if text.starts_with('{') {
        return of_object(&serde_json::from_str(text).ok()?, 0);
    }
    // A list that is printed with a key on each line.
    let keyed = text.strip_prefix('"').and_then(|text| text.split_once("\": "));
    let (_, value) = keyed.filter(|(key, _)| TEXTS.contains(key))?;
    let line: String = serde_json::from_str(value).ok()?;
    Some(Stripped { text: Cow::Owned(without_end(line)), ..Stripped::default() })
}

fn of_object(object: &Map<String, Value>, depth: usize) -> Option<Stripped<'static>> {
    let inner = TEXTS.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) => {
            let goes_on = *key == "log" && text.len() >= DOCKER_PIECE_BYTES && !text.ends_with('\n');
            Some(Stripped { text: Cow::Owned(text.clone()), unix_ns: None, goes_on })
        }
        // journald's way to write what is not UTF-8.
        Value::Array(bytes) => {
            let bytes: Option<Vec<u8>> = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
            let text = String::from_utf8_lossy(&bytes?).into_owned();
            Some(Stripped { text: Cow::Owned(text), ..Stripped::default() })
        }
        Value::Object(within) if depth < DEPTH_MAX => of_object(within, depth + 1),
        _ => None,
    })?;
    let time = TIMES.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) => whole_time(text).or_else(|| time_of_number(text.parse().ok()?)),
        Value::Number(number) => time_of_number(number.as_f64()?),
        // Log4j's JSON.
        Value::Object(parts) => {
            let part = |key: &str| parts.get(key)?.as_i64();
            part("epochSecond")?.checked_mul(1_000_000_000)?.checked_add(part("nanoOfSecond").unwrap_or(0))
        }
        _ => None,
    });
    let text = if inner.goes_on { inner.text } else { Cow::Owned(without_end(inner.text.into_owned())) };
    Some(Stripped { text, unix_ns: inner.unix_ns.or(time), goes_on: inner.goes_on })
}

/// Without the end of the line.
fn without_end(mut line: String) -> String {
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    line
}
