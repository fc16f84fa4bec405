//! Values that are taken from answers: by the text around them, a JSON pointer, a regular expression, a header, or a form's fields.

use crate::forms::{Field, FormName, fields};
use crate::template::{Encoding, encode};
use memchr::memmem::Finder;
use regex::bytes::Regex;
use std::borrow::Cow;

/// Longest value that is taken from an answer, bytes: servers take no longer heads by default (Tomcat, Jetty, Undertow: 8 KiB to 1 MiB), and
/// tokens with many claims have several KiB.
pub(crate) const VALUE_BYTES_MAX: usize = 16 << 10;
/// Longest text of all hidden fields of a form together, bytes.
const HIDDEN_BYTES_MAX: usize = 64 << 10;

/// An answer, as far as values are taken from it.
pub struct Answered<'a> {
    /// What was kept of the body.
    pub body: &'a [u8],
    /// Header lines, each a name, a colon, a value and a line feed; kept where [`crate::Operation::keeps_head`] says so.
    pub head: &'a [u8],
}

/// Why a value was not taken from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// It is not there.
    Absent,
    /// It is there, and longer than what is kept: bytes.
    TooLong(usize),
    /// It is to be the path of a request, and leads to no path of the server under load.
    Elsewhere,
}

/// A value taken from an answer.
#[derive(Debug, Clone)]
pub(crate) struct Extract {
    pub name: String,
    pub place: ValueLocation,
    /// A request that sends the value uses it up.
    pub once: bool,
    /// It comes from a one-time request.
    pub is_given: bool,
    /// A path begins with it.
    pub is_path: bool,
}

/// Where it stands.
#[derive(Debug, Clone)]
pub(crate) enum ValueLocation {
    /// After the first of the one to the next of the other.
    Between { after: Box<Finder<'static>>, before: Box<Finder<'static>> },
    /// In the JSON of the body, by a pointer (RFC 6901).
    Json(String),
    /// The first group, or all of the match where there is none.
    Regex(Regex),
    /// The value of the first header of this name.
    Header(String),
    /// The value of a field of a form.
    Field { form: Option<FormName>, field: String },
    /// All hidden fields of a form, as they are sent back.
    Hidden { form: FormName },
}

impl ValueLocation {
    /// Whether it is in a header.
    pub fn is_header(&self) -> bool {
        matches!(self, ValueLocation::Header(_))
    }

    /// The value in an answer.
    ///
    /// # Errors
    /// It is absent, or too long.
    pub fn find(&self, answer: &Answered) -> Result<Box<[u8]>, Missed> {
        let (value, bytes_max) = match self {
            ValueLocation::Hidden { form } => (hidden(answer.body, form), HIDDEN_BYTES_MAX),
            _ => (self.value(answer), VALUE_BYTES_MAX),
        };
        let value = value.ok_or(Missed::Absent)?;
        if value.len() <= bytes_max { Ok(value.into()) } else { Err(Missed::TooLong(value.len())) }
    }

    fn value<'a>(&self, answer: &Answered<'a>) -> Option<Cow<'a, [u8]>> {
        let body = answer.body;
        Some(match self {
            ValueLocation::Between { after, before } => {
                let rest = &body[after.find(body)? + after.needle().len()..];
                rest[..before.find(rest)?].into()
            }
            ValueLocation::Json(pointer) => {
                let whole: serde_json::Value = serde_json::from_slice(body).ok()?;
                match whole.pointer(pointer)? {
                    serde_json::Value::Null => return None,
                    serde_json::Value::String(text) => text.clone().into_bytes().into(),
                    other => other.to_string().into_bytes().into(),
                }
            }
            ValueLocation::Regex(regex) => {
                let found = regex.captures(body)?;
                found.get(1).or_else(|| found.get(0))?.as_bytes().into()
            }
            ValueLocation::Header(name) => header(answer.head, name)?.into(),
            ValueLocation::Field { form, field } => {
                let mut found = None;
                fields(body, form.as_ref(), &mut |one: &Field| {
                    if found.is_none() && one.name == field.as_bytes() {
                        found = Some(one.value.to_vec().into());
                    }
                });
                found?
            }
            ValueLocation::Hidden { form } => hidden(body, form)?,
        })
    }
}

/// All hidden fields of a form.
fn hidden<'a>(body: &[u8], form: &FormName) -> Option<Cow<'a, [u8]>> {
    let mut out = Vec::new();
    let is_there = fields(body, Some(form), &mut |one: &Field| {
        // One beyond the limit says that it is reached.
        if one.is_hidden && out.len() <= HIDDEN_BYTES_MAX {
            encode(one.name, Encoding::Form, &mut out);
            out.push(b'=');
            encode(one.value, Encoding::Form, &mut out);
            out.push(b'&');
        }
    });
    is_there.then(|| out.into())
}

fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = r#"<!doctype html><form id=search><input type=hidden name=scope value=all><input name=q></form>
        <!-- <form name="login"><input type="hidden" name="fake" value="1"></form> -->
        <FORM name="login" action="/login"><input TYPE="Hidden" name="csrf" value="a&amp;b=&quot;1&quot;">
        <input type=hidden name=empty><input type=hidden value=nameless><input name=user value="me">
        <input type=hidden disabled name=off value=1></FORM>
        <input type=hidden form=login name=outside value="&#252;">
        <script>'<input type=hidden name=scripted value=1>'</script>"#;

    fn found(place: &ValueLocation, body: &str) -> Option<String> {
        let answer =
            Answered { body: body.as_bytes(), head: b"ETag: \"1\"\nX-Token:  t 1 \nx-token: second\n" };
        place.find(&answer).ok().map(|value| String::from_utf8_lossy(&value).into_owned())
    }

    fn named(name: &str) -> FormName {
        FormName::Named(name.to_owned())
    }

    fn field(form: Option<&str>, field: &str) -> ValueLocation {
        ValueLocation::Field { form: form.map(named), field: field.to_owned() }
    }

    #[test]
    fn a_value_is_found_where_it_is_said_to_be() {
        let json = |pointer: &str| ValueLocation::Json(pointer.to_owned());
        let regex = |text: &str| ValueLocation::Regex(Regex::new(text).expect("right"));
        let body = r#"{"items":[{"id":7,"a/b":"x"},{"id":null}],"ok":true}"#;
        for (place, want) in [
            (json("/items/0/id"), Some("7")),
            (json("/items/0/a~1b"), Some("x")),
            (json("/items/0"), Some(r#"{"a/b":"x","id":7}"#)),
            (json("/items/1/id"), None),
            (json("/items/9"), None),
            (json("/ok"), Some("true")),
            (regex(r#""id":(\d+)"#), Some("7")),
            (regex("tru."), Some("true")),
            (regex("fals"), None),
            (ValueLocation::Header("x-token".to_owned()), Some("t 1")),
            (ValueLocation::Header("etag".to_owned()), Some("\"1\"")),
            (ValueLocation::Header("tag".to_owned()), None),
        ] {
            assert_eq!(found(&place, body).as_deref(), want, "{place:?}");
        }
        assert_eq!(found(&json("/a"), "{\"a\":1"), None, "cut off");
    }

    #[test]
    fn a_value_of_16_kib_is_taken_and_a_longer_one_says_how_long_it_is() {
        let of = |place: &ValueLocation, length: usize| {
            let value = "x".repeat(length);
            let (body, head) = (format!("{{\"t\":\"{value}\"}}"), format!("t:{value}\n"));
            let found = place.find(&Answered { body: body.as_bytes(), head: head.as_bytes() });
            found.map(|found| found.len())
        };
        let finder = |text: &str| Box::new(Finder::new(text).into_owned());
        for place in [
            ValueLocation::Json("/t".to_owned()),
            ValueLocation::Regex(Regex::new("(x+)").expect("right")),
            ValueLocation::Header("t".to_owned()),
            ValueLocation::Between { after: finder(":\""), before: finder("\"}") },
        ] {
            assert_eq!(of(&place, VALUE_BYTES_MAX), Ok(16_384), "{place:?}");
            assert_eq!(of(&place, VALUE_BYTES_MAX + 1), Err(Missed::TooLong(16_385)), "{place:?}");
        }
        let none = ValueLocation::Header("u".to_owned());
        assert_eq!(of(&none, 1), Err(Missed::Absent));
    }

    #[test]
    fn fields_of_a_form_are_those_that_a_browser_sends() {
        assert_eq!(found(&field(None, "csrf"), PAGE).as_deref(), Some("a&b=\"1\""));
        assert_eq!(found(&field(Some("login"), "user"), PAGE).as_deref(), Some("me"));
        for (form, name) in
            [(Some("search"), "csrf"), (Some("login"), "scope"), (None, "fake"), (Some("login"), "off")]
        {
            assert_eq!(found(&field(form, name), PAGE), None, "{name}");
        }
        let hidden = |form: &str| found(&ValueLocation::Hidden { form: named(form) }, PAGE);
        assert_eq!(hidden("login").as_deref(), Some("csrf=a%26b%3D%221%22&empty=&outside=%C3%BC&"));
        assert_eq!(hidden("search").as_deref(), Some("scope=all&"));
        assert_eq!(hidden("other"), None);
        assert_eq!(
            found(&ValueLocation::Hidden { form: named("f") }, "<form id=f></form>").as_deref(),
            Some("")
        );
    }

    #[test]
    fn a_form_without_id_and_name_is_found_by_its_number_or_its_action() {
        // As Spring Security 6 writes its own.
        let page = r#"<form id="search"><input name="q" value="all"></form>
            <form class="login-form" method="post" action="/login;jsessionid=1"><input type="text" name="username">
            <input type="hidden" name="_csrf" value="t1"></form><input form="search" name="beyond" value="b">"#;
        let csrf = |form: FormName| {
            found(&ValueLocation::Field { form: Some(form), field: "_csrf".to_owned() }, page)
        };
        assert_eq!(csrf(FormName::Number(2)).as_deref(), Some("t1"));
        assert_eq!(csrf(named("/login")).as_deref(), Some("t1"));
        for other in [FormName::Number(1), FormName::Number(3), named("login"), named("/"), named("")] {
            assert_eq!(csrf(other), None);
        }
        assert_eq!(
            found(&ValueLocation::Hidden { form: named("/login") }, page).as_deref(),
            Some("_csrf=t1&")
        );
        let beyond = ValueLocation::Field { form: Some(FormName::Number(1)), field: "beyond".to_owned() };
        assert_eq!(found(&beyond, page).as_deref(), Some("b"));
    }

    proptest! {
        #[test]
        fn any_body_is_searched_without_panic(
            body in proptest::collection::vec(any::<u8>(), 0..300),
            html in "(<(form|input|/form)|id=f|name=f|type=hidden|value=|[\"'>< /&;a-f])*",
        ) {
            for body in [body.as_slice(), html.as_bytes()] {
                let answer = Answered { body, head: body };
                for place in [
                    ValueLocation::Json("/a".into()),
                    ValueLocation::Header("a".into()),
                    field(Some("f"), "a"),
                    ValueLocation::Hidden { form: FormName::Number(1) },
                ] {
                    let _ = place.find(&answer);
                    let _ = crate::missing::instead(&place, &answer);
                }
            }
        }
    }
}
