//! From an operation of the file to the checked one: its request, and what a correct answer to it is.

use crate::extract::Extract;
use crate::file::{ForgetFile, OneOrMany, OperationFile, PartFile};
use crate::grpc::UnaryMethod;
use crate::mistakes::Mistakes;
use crate::multipart;
use crate::names::Names;
use crate::operation::{Contains, Operation, OwnHeaders};
use crate::template::{self, Encoding, Source, Template, TemplatePart};
use crate::think::{Think, thought};
use assay_text::near::hint;
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use toml::Spanned;

/// Headers that the generator writes itself, and an operation cannot set.
pub(crate) const OWN_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "upgrade"];
/// A header that begins the session of each user with these cookies.
pub(crate) const COOKIE: &str = "cookie";

/// Those that the protocol of gRPC asks for.
pub const GRPC_HEADERS: &[u8] = b"content-type: application/grpc\r\nte: trailers\r\n";
/// Says how the messages of a request are compressed.
const GRPC_ENCODING: &str = "grpc-encoding";

/// The operation that a table of the file describes. A mistake in it goes to `mistakes`.
pub(crate) fn operation(
    file: Spanned<OperationFile>,
    usual: Option<Think>,
    names: &Names,
    mistakes: &mut Mistakes,
) -> Option<Operation> {
    let span = file.span();
    let file = file.into_inner();
    let mut wrong = |what: String| mistakes.add(&span, format!("operation {:?}: {what}", file.name));
    check_request_line(&file, &mut wrong);
    if file.grpc.is_some() {
        check_grpc(&file, &mut wrong);
    }
    check_headers(&file.headers, &mut wrong);
    let mut texts = Texts { names, wrong: &mut wrong };
    let grpc_path = file.grpc.as_ref().map(|name| format!("/{name}"));
    let (path, path_value) = texts.path(grpc_path.as_ref().or(file.path.as_ref()).map_or("", String::as_str));
    let mut headers = Template::default();
    for (header, value) in file.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(COOKIE)) {
        headers.literal(format!("{header}: ").as_bytes());
        headers.append(texts.template(value, Encoding::Header));
        headers.literal(b"\r\n");
    }
    let (body, grpc, encodes) = match &file.grpc {
        None => (texts.body(&file, &mut headers), None, false),
        Some(name) => texts.message(name, &file, &mut headers),
    };
    let contains = file.contains.as_ref().map(|text| texts.contains(text));
    let cookies = header(&file.headers, COOKIE).map(|value| texts.cookies(value));
    let requires = required(&file, names, &mut wrong);
    let think = thought(file.think_ms.as_ref(), usual, &mut wrong);
    let mut operation = Operation {
        name: file.name.clone(),
        method: if grpc_path.is_some() { "POST".to_owned() } else { file.method.clone() },
        path,
        path_value,
        sets: own_headers(&file.headers),
        cookies,
        headers,
        body,
        grpc,
        encodes,
        statuses: listed(file.status.as_ref()).to_vec(),
        follow_redirects: file.follow_redirects,
        keeps_body: contains.is_some(),
        contains,
        requires,
        otherwise: None,
        timeout_ns: file.timeout_ms.saturating_mul(1_000_000),
        think,
        keeps_head: false,
        events: file.events.unwrap_or(0),
        extracts: Vec::new(),
        uses_up: Vec::new(),
        forgets: file.forget.as_ref().map(|forget| forgotten(forget, names, &mut wrong)).unwrap_or_default(),
        restarts_session: false,
    };
    let used: Vec<&Extract> = operation.uses().map(|at| &names.extracts[at]).collect();
    let is_certain = |one: &Extract| {
        one.is_given || operation.requires.iter().any(|at| names.extracts[*at].name == one.name)
    };
    if let Some(Extract { name, .. }) = used.into_iter().find(|one| !is_certain(one)) {
        wrong(format!("uses {{{name}}}, which may not be there; add requires = \"{name}\" and otherwise"));
    }
    operation.uses_up = operation.uses().filter(|at| names.extracts[*at].once).collect();
    operation.otherwise = file.otherwise.as_deref().and_then(|name| names.operation(name, &span, mistakes));
    Some(operation)
}

/// Texts of an operation, with what their names mean.
struct Texts<'a> {
    names: &'a Names<'a>,
    wrong: &'a mut dyn FnMut(String),
}

impl Texts<'_> {
    fn template(&mut self, text: &str, encoding: Encoding) -> Template {
        Template::parse(text, encoding, &|name| self.names.source(name)).unwrap_or_else(|what| {
            (self.wrong)(what);
            Template::default()
        })
    }

    /// The path, and the extract that it begins with, whose value is a path as it is.
    fn path(&mut self, text: &str) -> (Template, Option<usize>) {
        let mut path = self.template(text, Encoding::Path);
        let value = match path.parts.first_mut() {
            Some(TemplatePart::Placeholder(Source::Extracted(at), encoding)) => {
                *encoding = Encoding::Raw;
                Some(*at)
            }
            Some(TemplatePart::Placeholder(..)) => {
                let what = "begins with a value that is not taken from an answer; let it begin with /";
                (self.wrong)(format!("path {text:?} {what}"));
                None
            }
            Some(TemplatePart::Literal(_)) | None => None,
        };
        (path, value)
    }

    /// Cookies that a session begins with: they are filled in then, before any answer and any request.
    fn cookies(&mut self, text: &str) -> Template {
        let template = self.template(text, Encoding::Header);
        let is_of_request = |source: &Source| match source {
            Source::Drawn(at) => !self.names.values[*at].per_session,
            Source::Column(feed, _) => self.names.feeds.get(*feed).is_some_and(|feed| !feed.per_session),
            Source::Extracted(_) => true,
            Source::Secret(_) => false,
        };
        if template.sources().any(|source| is_of_request(&source)) {
            let what = "header \"Cookie\": a session begins with these cookies, so they hold only values of \
                the session (session-..., per = \"session\") and of the environment. Cookies that a server \
                sets are sent back without it";
            (self.wrong)(what.to_owned());
        }
        template
    }

    fn contains(&mut self, text: &str) -> Contains {
        let template = self.template(text, Encoding::Raw);
        let has_values = template.sources().next().is_some();
        match has_values {
            true => Contains::Filled(template),
            false => Contains::Text(Box::new(Finder::new(text.as_bytes()).into_owned())),
        }
    }

    /// The body, with the header that says what it is.
    fn body(&mut self, file: &OperationFile, headers: &mut Template) -> Option<Template> {
        let hidden = file
            .hidden
            .as_ref()
            .and_then(|name| self.names.hidden(name, file.form.is_some()).map_err(&mut *self.wrong).ok());
        if let Some(parts) = &file.multipart {
            headers.literal(multipart::CONTENT_TYPE.as_bytes());
            return Some(self.multipart(parts));
        }
        match (&file.form, &file.body) {
            (Some(form), _) => {
                if !file.headers.keys().any(|header| header.eq_ignore_ascii_case("content-type")) {
                    headers.literal(b"Content-Type: application/x-www-form-urlencoded\r\n");
                }
                Some(self.form(form, hidden))
            }
            (None, Some(body)) => Some(self.template(body, Encoding::Raw)),
            (None, None) => None,
        }
    }

    /// The message of a call of gRPC, with its method, and whether it is encoded only when it is filled in.
    fn message(
        &mut self,
        name: &str,
        file: &OperationFile,
        headers: &mut Template,
    ) -> (Option<Template>, Option<UnaryMethod>, bool) {
        headers.literal(GRPC_HEADERS);
        let message = self.template(file.body.as_deref().unwrap_or("{}"), Encoding::Json);
        let method = self.names.method(name).unwrap_or_else(|what| {
            (self.wrong)(what);
            None
        });
        let Some(method) = method else { return (Some(message), None, false) };
        let method = method.compressing(header(&file.headers, GRPC_ENCODING).is_some_and(|of| of == "gzip"));
        let json = message.with_ones();
        if let Some(what) = method.mistake(&String::from_utf8_lossy(&json)) {
            (self.wrong)(format!("body: {what}"));
        } else if message.sources().next().is_none() {
            let (mut encoded, mut body) = (Vec::new(), Template::default());
            if let Err(what) = method.write(&json, &mut encoded) {
                (self.wrong)(format!("body {what}"));
            }
            body.literal(&encoded);
            return (Some(body), Some(method), false);
        }
        (Some(message), Some(method), true)
    }

    fn multipart(&mut self, parts: &BTreeMap<String, PartFile>) -> Template {
        let (names, mut mistakes) = (self.names, Vec::new());
        let mut text = |text: &str, encoding| self.template(text, encoding);
        let body =
            multipart::body(parts, &mut text, &|file| names.file(file), &mut |what| mistakes.push(what));
        mistakes.into_iter().for_each(&mut *self.wrong);
        body
    }

    fn form(&mut self, form: &BTreeMap<String, String>, hidden: Option<usize>) -> Template {
        let mut body = Template::default();
        let hidden = hidden.map(|at| TemplatePart::Placeholder(Source::Extracted(at), Encoding::Raw));
        body.parts.extend(hidden);
        for (position, (field, value)) in form.iter().enumerate() {
            let mut encoded = Vec::new();
            template::encode(field.as_bytes(), Encoding::Form, &mut encoded);
            body.literal(if position > 0 { b"&" } else { b"" });
            body.literal(&encoded);
            body.literal(b"=");
            body.append(self.template(value, Encoding::Form).with_literals_encoded());
        }
        body
    }
}

fn listed<T>(file: Option<&OneOrMany<T>>) -> &[T] {
    file.map_or(&[][..], OneOrMany::as_slice)
}

/// The value of a header.
fn header<'a>(headers: &'a BTreeMap<String, String>, name: &str) -> Option<&'a String> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn own_headers(headers: &BTreeMap<String, String>) -> OwnHeaders {
    let value = |name: &str| header(headers, name);
    let closes =
        |connection: &String| connection.split(',').any(|token| token.trim().eq_ignore_ascii_case("close"));
    OwnHeaders {
        host: value("host").is_some(),
        user_agent: value("user-agent").is_some(),
        accept: value("accept").is_some(),
        closes: value("connection").is_some_and(closes),
    }
}

/// Numbers of extracts that are named.
fn extracts(listed: &[String], how: &str, names: &Names, wrong: &mut dyn FnMut(String)) -> Vec<usize> {
    let known = listed.iter().filter_map(|name| {
        let at = names.extract(name);
        if at.is_none() {
            let hint = hint(name, names.extracts.iter().map(|extract| extract.name.as_str()));
            wrong(format!("{how} unknown extract {name:?}{hint}"));
        }
        at
    });
    known.collect()
}

/// Numbers of the extracts that an operation requires.
fn required(file: &OperationFile, names: &Names, wrong: &mut dyn FnMut(String)) -> Vec<usize> {
    let listed = listed(file.requires.as_ref());
    if listed.is_empty() != file.otherwise.is_none() {
        wrong("`requires` and `otherwise` belong together".to_owned());
    }
    extracts(listed, "requires", names, wrong)
}

/// Statuses, and the extracts that are not there after an answer of one.
fn forgotten(file: &ForgetFile, names: &Names, wrong: &mut dyn FnMut(String)) -> (Vec<u16>, Vec<usize>) {
    let statuses = file.status.as_slice();
    check_statuses(statuses, wrong);
    let values = extracts(file.values.as_slice(), "forgets", names, wrong);
    if values.is_empty() || statuses.is_empty() {
        wrong("`forget` has a `status` and `values`, the extracts that are not there after it".to_owned());
    }
    for given in values.iter().map(|at| &names.extracts[*at]).filter(|extract| extract.is_given) {
        wrong(format!("forgets {:?}, which `setup` gives to all users, once", given.name));
    }
    (statuses.to_vec(), values)
}

/// What HTTP/2 says of a call is not the scenario's.
fn check_grpc(file: &OperationFile, wrong: &mut dyn FnMut(String)) {
    let others = [
        ("path", file.path.is_some()),
        ("method", file.method != "GET"),
        ("form", file.form.is_some()),
        ("multipart", file.multipart.is_some()),
        ("hidden", file.hidden.is_some()),
        ("events", file.events.is_some()),
        ("status", file.status.is_some()),
        ("forget", file.forget.is_some()),
        ("follow_redirects", file.follow_redirects),
    ];
    for (name, _) in others.iter().filter(|(_, is_set)| *is_set) {
        wrong(format!("`{name}` does not belong to `grpc`, which has a `body` and `headers`: leave it out"));
    }
    for own in file
        .headers
        .keys()
        .filter(|name| ["content-type", "te"].iter().any(|own| name.eq_ignore_ascii_case(own)))
    {
        wrong(format!("header {own:?} is written by the generator; leave it out"));
    }
    let encoding = header(&file.headers, GRPC_ENCODING);
    if let Some(other) = encoding.filter(|encoding| !["gzip", "identity"].contains(&encoding.as_str())) {
        wrong(format!("header {GRPC_ENCODING:?}: messages are compressed by gzip, not by {other:?}"));
    }
}

fn check_statuses(statuses: &[u16], wrong: &mut dyn FnMut(String)) {
    if let Some(status) = statuses.iter().find(|status| !(200..=599).contains(*status)) {
        wrong(format!("status {status} is not from 200 to 599"));
    }
}

fn check_request_line(file: &OperationFile, wrong: &mut dyn FnMut(String)) {
    if file.method.is_empty() || !file.method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        wrong(format!("method {:?} must be in capitals, such as GET or POST", file.method));
    }
    match &file.path {
        None if file.grpc.is_none() => wrong("`path` is missing, such as path = \"/\"".to_owned()),
        Some(path)
            if !(path.starts_with('/') || template::begins_placeholder(path))
                || path.bytes().any(|byte| byte <= b' ' || byte >= 0x7f || byte == b'#') =>
        {
            wrong(format!(
                "path {path:?} must start with / and hold neither spaces, # nor characters beyond ASCII; encode them with %"
            ));
        }
        _ => (),
    }
    if 1 < [file.form.is_some(), file.body.is_some(), file.multipart.is_some()]
        .into_iter()
        .filter(|is| *is)
        .count()
    {
        wrong("`form`, `multipart` and `body` exclude each other".to_owned());
    }
    if file.multipart.is_some() && file.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        wrong("the Content-Type of `multipart` says what is between the parts; leave it out".to_owned());
    }
    check_statuses(listed(file.status.as_ref()), wrong);
    if file.events == Some(0) {
        wrong("events 0: leave it out for an answer that ends by itself".to_owned());
    }
    if !(1..=3_600_000).contains(&file.timeout_ms) {
        wrong(format!("timeout_ms {} must be 1 to 3600000", file.timeout_ms));
    }
}

fn check_headers(headers: &BTreeMap<String, String>, wrong: &mut dyn FnMut(String)) {
    for (at, (header, value)) in headers.iter().enumerate() {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if header.is_empty() || !header.bytes().all(token) || value.bytes().any(|byte| byte < b' ') {
            wrong(format!("header {header:?} is not one line of a valid name and value"));
        }
        if OWN_HEADERS.iter().any(|own| header.eq_ignore_ascii_case(own)) {
            wrong(format!("header {header:?} is written by the generator; leave it out"));
        }
        if headers.keys().take(at).any(|before| before.eq_ignore_ascii_case(header)) {
            wrong(format!("header {header:?} is there twice, in capitals and small letters; leave one out"));
        }
    }
}
