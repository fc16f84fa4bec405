//! Values that are taken from answers: by the text around them, a JSON pointer, a regular expression, a header, or a form's fields.

use crate::template::{Encoding, encode};
use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};
use memchr::memmem::Finder;
use regex::bytes::Regex;

/// Longest value that is taken from an answer, bytes; what is longer counts as not there.
const VALUE_BYTES_MAX: usize = 1024;
/// Longest text of all hidden fields of a form together, bytes.
const HIDDEN_BYTES_MAX: usize = 64 << 10;

/// An answer, as far as values are taken from it.
pub struct Answered<'a> {
    /// What was kept of the body.
    pub body: &'a [u8],
    /// Header lines, each a name, a colon, a value and a line feed; kept where [`crate::Operation::keeps_head`] says so.
    pub head: &'a [u8],
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
    Field { form: Option<String>, field: String },
    /// All hidden fields of a form, as they are sent back.
    Hidden { form: String },
}

impl ValueLocation {
    /// Whether it is in a header.
    pub fn is_header(&self) -> bool {
        matches!(self, ValueLocation::Header(_))
    }

    /// The value in an answer.
    pub fn find(&self, answer: &Answered) -> Option<Box<[u8]>> {
        let body = answer.body;
        let short = |value: &[u8]| (value.len() <= VALUE_BYTES_MAX).then(|| value.into());
        match self {
            ValueLocation::Between { after, before } => {
                let rest = &body[after.find(body)? + after.needle().len()..];
                let rest = &rest[..rest.len().min(VALUE_BYTES_MAX + before.needle().len())];
                short(&rest[..before.find(rest)?])
            }
            ValueLocation::Json(pointer) => {
                let whole: serde_json::Value = serde_json::from_slice(body).ok()?;
                match whole.pointer(pointer)? {
                    serde_json::Value::Null => None,
                    serde_json::Value::String(text) => short(text.as_bytes()),
                    other => short(other.to_string().as_bytes()),
                }
            }
            ValueLocation::Regex(regex) => {
                let found = regex.captures(body)?;
                short(found.get(1).or_else(|| found.get(0))?.as_bytes())
            }
            ValueLocation::Header(name) => short(header(answer.head, name)?),
            ValueLocation::Field { form, field } => {
                let mut found: Option<Box<[u8]>> = None;
                fields(body, form.as_deref(), &mut |one: &Field| {
                    if found.is_none() && one.name == field.as_bytes() {
                        found = Some(one.value.into());
                    }
                });
                found.filter(|value| value.len() <= VALUE_BYTES_MAX)
            }
            ValueLocation::Hidden { form } => {
                let mut out = Vec::new();
                let is_there = fields(body, Some(form), &mut |one: &Field| {
                    if one.is_hidden && out.len() <= HIDDEN_BYTES_MAX {
                        encode(one.name, Encoding::Form, &mut out);
                        out.push(b'=');
                        encode(one.value, Encoding::Form, &mut out);
                        out.push(b'&');
                    }
                });
                (is_there && out.len() <= HIDDEN_BYTES_MAX).then(|| out.into())
            }
        }
    }
}

fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
    })
}

/// A field of a form that has a name and is sent.
struct Field<'a> {
    name: &'a [u8],
    value: &'a [u8],
    is_hidden: bool,
}

/// Goes through the fields of a form, or of all of them; says whether the form is there. A form is named by its `id` or `name`; a
/// field belongs to the form that it stands in, or that its own `form` attribute names (HTML, 4.10.18.3).
fn fields(body: &[u8], form: Option<&str>, each: &mut dyn FnMut(&Field)) -> bool {
    let get =
        |tag: &StartTag<()>, name: &str| tag.attributes.get(name.as_bytes()).map(|value| value.to_vec());
    let wanted = form.map(str::as_bytes);
    let (mut is_there, mut is_within) = (form.is_none(), form.is_none());
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles contain no tags.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(body, emitter) {
        match token {
            Token::StartTag(tag) if **tag.name == *b"form" && wanted.is_some() => {
                is_within = ["id", "name"].iter().any(|key| get(&tag, key).as_deref() == wanted);
                is_there |= is_within;
            }
            Token::EndTag(tag) if **tag.name == *b"form" && wanted.is_some() => is_within = false,
            Token::StartTag(tag) if **tag.name == *b"input" => {
                let belongs = match get(&tag, "form") {
                    Some(of) => wanted.is_none_or(|wanted| of == wanted),
                    None => is_within,
                };
                let name = get(&tag, "name").filter(|name| !name.is_empty());
                let (Some(name), true, false) =
                    (name, belongs, tag.attributes.contains_key(b"disabled".as_slice()))
                else {
                    continue;
                };
                let value = get(&tag, "value").unwrap_or_default();
                let is_hidden = get(&tag, "type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"hidden"));
                each(&Field { name: &name, value: &value, is_hidden });
            }
            _ => (),
        }
    }
    is_there
}

/// The name of the first field with this value.
pub(crate) fn field_with(body: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    fields(body, None, &mut |one: &Field| {
        if found.is_none() && one.value == value {
            found = Some(one.name.to_vec());
        }
    });
    found
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
        place.find(&answer).map(|value| String::from_utf8_lossy(&value).into_owned())
    }

    fn field(form: Option<&str>, field: &str) -> ValueLocation {
        ValueLocation::Field { form: form.map(str::to_owned), field: field.to_owned() }
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
        assert_eq!(found(&regex("(x*)"), &"x".repeat(2_000)), None, "too long to be meant");
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
        let hidden = |form: &str| found(&ValueLocation::Hidden { form: form.to_owned() }, PAGE);
        assert_eq!(hidden("login").as_deref(), Some("csrf=a%26b%3D%221%22&empty=&outside=%C3%BC&"));
        assert_eq!(hidden("search").as_deref(), Some("scope=all&"));
        assert_eq!(hidden("other"), None);
        assert_eq!(
            found(&ValueLocation::Hidden { form: "f".to_owned() }, "<form id=f></form>").as_deref(),
            Some("")
        );
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
                    ValueLocation::Hidden { form: "f".into() },
                ] {
                    let _ = place.find(&answer);
                }
            }
        }
    }
}
