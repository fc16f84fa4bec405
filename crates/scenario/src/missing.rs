//! What an answer holds instead of a value that was not found in it: names alone, no values, which may be secret.

use crate::extract::{Answered, ValueLocation};
use crate::forms::{self, FormName};
use std::fmt::Write;

/// Names of one kind that are listed.
const NAMES_MAX: usize = 12;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 60;
/// Forms that are described.
const FORMS_MAX: usize = 4;

/// What would have found something in the answer, in a few words.
pub(crate) fn instead(place: &ValueLocation, answer: &Answered) -> String {
    let bytes = answer.body.len();
    match place {
        ValueLocation::Between { after, .. } if after.find(answer.body).is_none() => {
            format!("its body of {bytes} bytes does not hold the text of `after`")
        }
        ValueLocation::Between { .. } => {
            "what follows `after` in its body does not hold the text of `before`".to_owned()
        }
        ValueLocation::Json(pointer) => of_json(answer.body, pointer),
        ValueLocation::Regex(_) => format!("nothing in its body of {bytes} bytes matches `regex`"),
        ValueLocation::Header(_) => {
            let lines = answer.head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let names = lines.filter_map(|line| line.split(|byte| *byte == b':').next());
            format!("it has the headers {}", listed(names))
        }
        ValueLocation::Field { form: None, .. } => {
            let mut names: Vec<Vec<u8>> = Vec::new();
            forms::fields(answer.body, None, &mut |field| names.push(field.name.to_vec()));
            match names.is_empty() {
                true => format!("its body of {bytes} bytes holds no field of a form"),
                false => format!("it holds the fields {}", listed(names.iter().map(Vec::as_slice))),
            }
        }
        ValueLocation::Field { form: Some(form), .. } | ValueLocation::Hidden { form } => {
            of_form(answer.body, form)
        }
    }
}

/// The fields of a form that is there; else all forms, as they can be named.
fn of_form(body: &[u8], form: &FormName) -> String {
    let mut names: Vec<Vec<u8>> = Vec::new();
    if forms::fields(body, Some(form), &mut |field| names.push(field.name.to_vec())) {
        return match names.is_empty() {
            true => "that form has no fields".to_owned(),
            false => format!("that form has the fields {}", listed(names.iter().map(Vec::as_slice))),
        };
    }
    let all = forms::forms(body, FORMS_MAX);
    if all.is_empty() {
        return format!("its body of {} bytes holds no form", body.len());
    }
    let mut text = "its forms can be named by".to_owned();
    for (at, form) in all.iter().enumerate() {
        let by = form.id.as_ref().or(form.name.as_ref()).map(|name| format!("{:?}", shown(name)));
        let by = by.unwrap_or_else(|| (at + 1).to_string());
        // Writing to a String cannot fail.
        let _ = write!(text, "{} form = {by}", if at == 0 { "" } else { ";" });
        if let Some(action) = &form.action {
            let path = action.split(|byte| b"?;#".contains(byte)).next().unwrap_or_default();
            let _ = write!(text, ", action {:?}", shown(path));
        }
        let _ = write!(text, ", with the fields {}", listed(form.fields.iter().map(Vec::as_slice)));
    }
    text
}

/// How far a pointer leads, and what is there.
fn of_json(body: &[u8], pointer: &str) -> String {
    use serde_json::Value;
    let whole: Value = match serde_json::from_slice(body) {
        Ok(whole) => whole,
        Err(error) => return format!("its body of {} bytes is not JSON: {error}", body.len()),
    };
    let leads = |end: &usize| whole.pointer(&pointer[..*end]).is_some();
    let mut ends = pointer.match_indices('/').map(|(at, _)| at).chain([pointer.len()]);
    let end = ends.rfind(leads).unwrap_or(0);
    let at = if end == 0 {
        "its JSON".to_owned()
    } else {
        format!("its JSON at {:?}", shown(&pointer.as_bytes()[..end]))
    };
    match whole.pointer(&pointer[..end]) {
        Some(Value::Object(object)) => {
            format!("{at} has the keys {}", listed(object.keys().map(String::as_bytes)))
        }
        Some(Value::Array(array)) => format!("{at} is an array of {}", array.len()),
        Some(Value::Null) => format!("{at} is null"),
        _ => format!("{at} holds neither keys nor elements"),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    let (mut text, mut count) = (String::new(), 0);
    for name in names {
        if count < NAMES_MAX {
            let _ = write!(text, "{}{}", if count == 0 { "" } else { ", " }, shown(name));
        }
        count += 1;
    }
    match count {
        0 => "none".to_owned(),
        1..=NAMES_MAX => text,
        _ => format!("{text} and {} more", count - NAMES_MAX),
    }
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(place: &ValueLocation, body: &str, want: &str) {
        let answer = Answered { body: body.as_bytes(), head: b"ETag:1\nX-Token:secret\n" };
        assert_eq!(instead(place, &answer), want);
    }

    #[test]
    fn what_an_answer_holds_is_named_without_its_values() {
        let json = |pointer: &str| ValueLocation::Json(pointer.to_owned());
        let body = r#"{"access_token":"secret","of":{"id":[1,2]},"no":null}"#;
        check(&json("/token"), body, "its JSON has the keys access_token, no, of");
        check(&json("/of/name"), body, "its JSON at \"/of\" has the keys id");
        check(&json("/of/id/2"), body, "its JSON at \"/of/id\" is an array of 2");
        check(&json("/no"), body, "its JSON at \"/no\" is null");
        check(&json("/no/x"), body, "its JSON at \"/no\" is null");
        check(&ValueLocation::Header("x".into()), body, "it has the headers ETag, X-Token");
        let login = ValueLocation::Hidden { form: FormName::Named("login".into()) };
        check(&login, body, "its body of 53 bytes holds no form");
        let page = "<form class=login-form method=post action='/login;jsessionid=7'><input name=_csrf value=secret>\
                    <input name=username></form><form id=f2></form>";
        check(
            &login,
            page,
            "its forms can be named by form = 1, action \"/login\", with the fields _csrf, username; form = \"f2\", with the fields none",
        );
        let field = |form| ValueLocation::Field { form, field: "csrf".into() };
        check(&field(Some(FormName::Number(1))), page, "that form has the fields _csrf, username");
        check(&field(None), page, "it holds the fields _csrf, username");
        check(&field(None), "", "its body of 0 bytes holds no field of a form");
        let many: String = (0..20).map(|n| format!("<input name=n{n}>")).collect();
        let answer = Answered { body: many.as_bytes(), head: b"" };
        assert!(instead(&field(None), &answer).ends_with("n10, n11 and 8 more"));
    }

    #[test]
    fn a_body_that_is_no_json_says_why() {
        let answer = Answered { body: b"<html>", head: b"" };
        let said = instead(&ValueLocation::Json("/a".into()), &answer);
        assert!(said.starts_with("its body of 6 bytes is not JSON: expected value"), "{said}");
    }
}
