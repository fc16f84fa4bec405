//! Bodies of forms with files: `multipart/form-data` (RFC 7578).

use crate::file::{PartFile, PartTable};
use crate::template::{Encoding, Template};
use std::collections::BTreeMap;
use std::path::Path;

/// Between the parts. It is no part of a sane text, and every request has the same.
const BOUNDARY: &str = "----assay-part-7MA4YWxkTrZu0gW";
/// Of the body.
pub(crate) const CONTENT_TYPE: &str =
    "Content-Type: multipart/form-data; boundary=----assay-part-7MA4YWxkTrZu0gW\r\n";

/// A file, or why it cannot be read.
type FileBytes = Result<Box<[u8]>, String>;

/// The body of a form: `text` makes templates of texts, `file` reads the files that it names. What is wrong goes to `wrong`.
pub(crate) fn body(
    parts: &BTreeMap<String, PartFile>,
    text: &mut dyn FnMut(&str, Encoding) -> Template,
    file: &dyn Fn(&str) -> FileBytes,
    wrong: &mut dyn FnMut(String),
) -> Template {
    let mut body = Template::default();
    for (name, part) in parts {
        let usual = PartTable { text: None, file: None, filename: None, kind: None };
        let part = match part {
            PartFile::Text(text) => &PartTable { text: Some(text.clone()), ..usual },
            PartFile::Part(part) => part,
        };
        let (content, filename, kind) = match (&part.text, &part.file) {
            (Some(content), None) => (text(content, Encoding::Raw), part.filename.as_deref(), None),
            (None, Some(path)) => {
                let bytes = file(path).unwrap_or_else(|what| {
                    wrong(format!("multipart {name:?}: {what}"));
                    Box::default()
                });
                let mut content = Template::default();
                content.literal(&bytes);
                let named = Path::new(path).file_name().and_then(|name| name.to_str());
                (content, part.filename.as_deref().or(named), Some("application/octet-stream"))
            }
            _ => {
                wrong(format!("multipart {name:?} has either `text` or `file`"));
                continue;
            }
        };
        body.literal(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name)).as_bytes(),
        );
        if let Some(filename) = filename {
            body.literal(b"; filename=\"");
            body.append(text(&quoted(filename), Encoding::Header));
            body.literal(b"\"");
        }
        if let Some(kind) = part.kind.as_deref().or(kind) {
            if kind.bytes().any(|byte| byte < b' ') {
                wrong(format!("multipart {name:?}: type {kind:?} is not one line"));
            }
            body.literal(format!("\r\nContent-Type: {kind}").as_bytes());
        }
        body.literal(b"\r\n\r\n");
        if content.holds(BOUNDARY.as_bytes()) {
            wrong(format!("multipart {name:?} holds {BOUNDARY:?}, which stands between parts"));
        }
        body.append(content);
        body.literal(b"\r\n");
    }
    body.literal(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// As browsers write names: the HTML standard, "multipart form data".
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use crate::{Drawn, Scenario, User};

    const SCENARIO: &str = r#"
        schema = "assay.scenario/1"
        name = "upload"
        [values]
        number = { kind = "counter", from = 7 }
        [[operation]]
        name = "upload"
        method = "POST"
        path = "/upload"
        [operation.multipart]
        comment = "of {number}"
        data = { text = '{"n": {number}}', type = "application/json" }
        photo = { file = "a photo.jpg", type = "image/jpeg" }
        "odd \"name\"" = { file = "a photo.jpg", filename = "{number}.bin" }
    "#;

    /// Headers and body of the request.
    fn request(scenario: &Scenario) -> (String, Vec<u8>) {
        let (operation, mut drawn) = (&scenario.operations[0], Drawn::default());
        let mut user = User::new(1, 0, 0, scenario, &scenario.shared());
        drawn.begin(scenario);
        let (mut headers, mut body) = (Vec::new(), Vec::new());
        user.fill(scenario, &operation.headers, &mut drawn, &mut headers);
        user.fill(scenario, operation.body.as_ref().expect("it has one"), &mut drawn, &mut body);
        (String::from_utf8(headers).expect("text"), body)
    }

    #[test]
    fn parts_are_texts_and_files_also_at_an_injector() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, photo] = ["s.toml", "a photo.jpg"].map(|name| folder.path().join(name));
        std::fs::write(&path, SCENARIO)
            .and_then(|()| std::fs::write(photo, b"\xff\xd8\0\r\n"))
            .expect("written");
        let scenario = Scenario::read(&path).expect("a right scenario");
        let boundary = "----assay-part-7MA4YWxkTrZu0gW";
        let part = |head: &str, content: &[u8]| {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; name={head}\r\n\r\n");
            [head.as_bytes(), content, b"\r\n"].concat()
        };
        let want = [
            part("\"comment\"", b"of 7"),
            part("\"data\"\r\nContent-Type: application/json", b"{\"n\": 7}"),
            part(
                "\"odd %22name%22\"; filename=\"7.bin\"\r\nContent-Type: application/octet-stream",
                b"\xff\xd8\0\r\n",
            ),
            part("\"photo\"; filename=\"a photo.jpg\"\r\nContent-Type: image/jpeg", b"\xff\xd8\0\r\n"),
            format!("--{boundary}--\r\n").into_bytes(),
        ];
        let (headers, body) = request(&scenario);
        assert_eq!(headers, format!("Content-Type: multipart/form-data; boundary={boundary}\r\n"));
        assert_eq!(String::from_utf8_lossy(&body), String::from_utf8_lossy(&want.concat()));
        let sent = serde_json::to_string(&scenario).expect("it can be sent");
        drop(folder);
        let received: Scenario = serde_json::from_str(&sent).expect("as it was sent");
        assert_eq!(request(&received).1, body);
    }

    #[test]
    fn mistakes_of_parts_are_named() {
        let mistake = |parts: &str| {
            let text = SCENARIO.split("comment").next().unwrap_or_default();
            let error = Scenario::parse(&format!("{text}{parts}"), "s").expect_err("it is wrong").to_string();
            error.split("upload\": ").nth(1).unwrap_or_default().to_owned()
        };
        assert_eq!(mistake("a = { type = \"text/plain\" }"), "multipart \"a\" has either `text` or `file`");
        assert!(
            mistake("a = { file = \"nowhere.jpg\" }")
                .starts_with("multipart \"a\": cannot read nowhere.jpg: ")
        );
        let boundary = mistake("a = \"----assay-part-7MA4YWxkTrZu0gW\"");
        assert!(boundary.ends_with("which stands between parts"), "{boundary}");
    }
}
