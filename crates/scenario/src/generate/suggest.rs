//! Where in an answer a value stands that a later request sends.

use crate::extract::{Answered, VALUE_BYTES_MAX, ValueLocation};
use memchr::memmem::Finder;

/// Shortest value that is taken for one that the server gave: shorter ones are found everywhere.
const VALUE_CHARS_MIN: usize = 6;
/// Shortest number that is taken for one that the server gave where a field of JSON calls it an id.
const ID_CHARS_MIN: usize = 2;
/// Longest text around a value that finds it again.
const AROUND_CHARS_MAX: usize = 24;

/// Whether a value may be one that a server gave, and not a word.
pub(super) fn may_be_given(value: &str) -> bool {
    let is_long = VALUE_CHARS_MIN <= value.len()
        && value.len() <= VALUE_BYTES_MAX
        && value.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && !value.contains(['{', '}', ' ', '\n']);
    is_long || is_short_number(value)
}

fn is_short_number(value: &str) -> bool {
    (ID_CHARS_MIN..VALUE_CHARS_MIN).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a pointer of JSON leads to what is called an id: `/data/id`, `/orderId`, `/order_id`.
fn leads_to_id(pointer: &str) -> bool {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    matches!(name, "id" | "ID") || ["Id", "ID", "_id", "-id"].iter().any(|end| name.ends_with(end))
}

/// The place of a value in an answer, if one finds it there, and nothing else.
pub(super) fn place(answer: &Answered, value: &str) -> Option<ValueLocation> {
    if is_short_number(value) {
        let place = of_json(answer.body, value);
        return place.filter(|place| matches!(place, ValueLocation::Json(pointer) if leads_to_id(pointer)));
    }
    let candidates = [
        of_json(answer.body, value),
        of_field(answer.body, value),
        of_header(answer.head, value),
        around(answer.body, value),
    ];
    let finds = |place: &ValueLocation| place.find(answer).is_ok_and(|found| *found == *value.as_bytes());
    candidates.into_iter().flatten().find(finds)
}

fn of_json(body: &[u8], value: &str) -> Option<ValueLocation> {
    let whole: serde_json::Value = serde_json::from_slice(body).ok()?;
    pointer(&whole, value).map(ValueLocation::Json)
}

/// The first pointer that leads to a value; serde_json bounds how deep.
fn pointer(json: &serde_json::Value, value: &str) -> Option<String> {
    use serde_json::Value;
    match json {
        Value::String(text) => (text == value).then(String::new),
        Value::Number(number) => (number.to_string() == value).then(String::new),
        Value::Array(all) => {
            let found = |(at, one)| pointer(one, value).map(|rest| format!("/{at}{rest}"));
            all.iter().enumerate().find_map(found)
        }
        Value::Object(all) => all.iter().find_map(|(key, one)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            pointer(one, value).map(|rest| format!("/{key}{rest}"))
        }),
        Value::Null | Value::Bool(_) => None,
    }
}

fn of_field(body: &[u8], value: &str) -> Option<ValueLocation> {
    crate::forms::field_with(body, value.as_bytes())
        .map(|field| ValueLocation::Field { form: None, field: String::from_utf8_lossy(&field).into_owned() })
}

fn of_header(head: &[u8], value: &str) -> Option<ValueLocation> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        let is_it = line[colon + 1..].trim_ascii() == value.as_bytes();
        is_it.then(|| ValueLocation::Header(String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase()))
    })
}

/// By the text on the same line before and after it.
fn around(body: &[u8], value: &str) -> Option<ValueLocation> {
    let text = std::str::from_utf8(body).ok()?;
    let at = text.find(value)?;
    let before: String =
        text[..at].chars().rev().take_while(|c| !c.is_control()).take(AROUND_CHARS_MAX).collect();
    let after: String = before.chars().rev().collect();
    let before = text[at + value.len()..].chars().next().filter(|c| !c.is_control())?;
    let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
    (!after.is_empty()).then(|| ValueLocation::Between {
        after: Box::new(finder(&after)),
        before: Box::new(finder(&before.to_string())),
    })
}
