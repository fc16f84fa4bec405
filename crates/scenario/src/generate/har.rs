//! A journey from an HTTP archive (HAR 1.2): the requests of a browser, in order, with the time between them. Only the fields that are
//! needed are read.

use super::draft::{Draft, DraftExtract, DraftOperation, name_of};
use super::{Generated, Url, literal, literal_path, query_parts, suggest, url};
use crate::ScenarioError;
use crate::compile_operation::{COOKIE, OWN_HEADERS};
use crate::extract::Answered;
use assay_text::redact;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Most requests that are taken over.
const ENTRIES_MAX: usize = 1_000;
/// Longest think time that is taken over, ms.
const THINK_MS_MAX: f64 = 600_000.0;
/// Headers that the browser writes of itself, or that hold for its connection alone.
const BROWSER_HEADERS: [&str; 16] = [
    "host",
    "connection",
    "expect",
    "if-none-match",
    "if-modified-since",
    "referer",
    "upgrade-insecure-requests",
    "priority",
    "pragma",
    "cache-control",
    "dnt",
    "te",
    "keep-alive",
    "proxy-connection",
    "user-agent",
    "content-type",
];
/// Ends of paths, and beginnings of content types, of what a browser caches.
const STATIC_ENDS: [&str; 17] = [
    ".js", ".mjs", ".css", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".avif", ".woff",
    ".woff2", ".ttf", ".map", ".mp4", ".wasm",
];
const STATIC_TYPES: [&str; 6] =
    ["image/", "font/", "text/css", "text/javascript", "application/javascript", "video/"];

/// What of an archive becomes part of the scenario.
#[derive(Debug, Clone, Default)]
pub struct HarOptions {
    /// Host, with its port where that is not the usual one, whose requests are taken; without one that of the first request.
    pub host: Option<String>,
    /// Also scripts, styles, images and fonts.
    pub with_static: bool,
}

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    #[serde(default)]
    time: f64,
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    params: Vec<Param>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    name: String,
    #[serde(default)]
    value: String,
    file_name: Option<String>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: i64,
    #[serde(default)]
    headers: Vec<Pair>,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    #[serde(default)]
    mime_type: String,
    text: Option<String>,
    encoding: Option<String>,
}

/// Makes a scenario of an archive. `named` is the file's name, for messages.
///
/// # Errors
/// It is not an archive, or no request of it is taken.
pub fn from_har(text: &str, named: &str, options: &HarOptions) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("HTTP archive {named}: {what}"));
    let har: Har = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| wrong(error.to_string()))?;
    let entries = har.log.entries;
    let first = entries.iter().find_map(|entry| url(&entry.request.url));
    let host = options.host.as_deref().or(first.as_ref().map(|url| url.host));
    let host = host.ok_or_else(|| wrong("it holds no request with http:// or https://".to_owned()))?;
    let is_of_host =
        |entry: &&Entry| url(&entry.request.url).is_some_and(|url| url.host.eq_ignore_ascii_case(host));
    let of_host: Vec<&Entry> = entries.iter().filter(is_of_host).collect();
    if of_host.is_empty() {
        let mut hosts: Vec<&str> =
            entries.iter().filter_map(|entry| url(&entry.request.url)).map(|url| url.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let hint = assay_text::near::hint(host, hosts);
        return Err(wrong(format!("it holds no request to {host:?}{hint}")));
    }
    let taken: Vec<&Entry> = of_host
        .iter()
        .copied()
        .filter(|entry| options.with_static || !is_static(entry))
        .take(ENTRIES_MAX)
        .collect();
    if taken.is_empty() {
        return Err(wrong(
            "all its requests are for scripts, styles, images or fonts; take them with --with-static"
                .to_owned(),
        ));
    }
    let mut journey = Journey { draft: Draft::default(), answers: Vec::new(), sent: Vec::new() };
    journey.draft.name = format!("from {named}");
    journey.draft.is_journey = true;
    let skipped = [entries.len() - of_host.len(), of_host.len() - taken.len()];
    let [other, fixed] = skipped;
    let notes = &mut journey.draft.notes;
    notes.push(format!("Made from an HTTP archive: {} of {} requests.", taken.len(), entries.len()));
    notes.extend((other > 0).then(|| format!("{other} requests to other hosts were left out.")));
    notes.extend(
        (fixed > 0).then(|| format!("{fixed} requests for scripts, styles, images or fonts were left out.")),
    );
    notes.push(
        "Cookies are those that the server sets during the load. Recorded ones are not sent.".to_owned(),
    );
    for (at, entry) in taken.iter().enumerate() {
        journey.add(entry, taken.get(at + 1).copied());
    }
    let base_url = url(&taken[0].request.url).map(|url| url.base.to_owned());
    Ok(Generated { text: journey.draft.text(), base_url, trace: None })
}

fn is_static(entry: &Entry) -> bool {
    let path = url(&entry.request.url).map_or("", |url| url.path).to_ascii_lowercase();
    let mime = entry.response.content.as_ref().map_or("", |content| content.mime_type.as_str());
    entry.request.method == "GET"
        && (STATIC_ENDS.iter().any(|end| path.ends_with(end))
            || STATIC_TYPES.iter().any(|kind| mime.starts_with(kind)))
}

/// The body and the head of an answer, as far as values can be taken from them.
struct Recorded {
    body: String,
    head: Vec<u8>,
}

struct Journey {
    draft: Draft,
    /// By operation.
    answers: Vec<Recorded>,
    /// Texts of all requests so far: a value that was sent before it was answered is the user's.
    sent: Vec<String>,
}

impl Journey {
    fn add(&mut self, entry: &Entry, next: Option<&Entry>) {
        let Some(url) = url(&entry.request.url) else { return };
        let request = &entry.request;
        let mut operation = DraftOperation {
            weight: 0.0,
            method: request.method.to_ascii_uppercase(),
            ..DraftOperation::default()
        };
        operation.weight = if next.is_none() { 1.0 } else { 0.0 };
        operation.path = self.path(&url, &mut operation);
        self.headers(request, &mut operation);
        self.body(request, &mut operation);
        let status = u16::try_from(entry.response.status).ok().filter(|status| (200..=599).contains(status));
        operation.statuses = status.filter(|status| !matches!(status, 200..=299 | 304)).into_iter().collect();
        operation.think_ms = next.and_then(|next| think_ms(entry, next));
        operation.name = self.draft.unique(&format!(
            "{} {}",
            operation.method,
            operation.path.split('?').next().unwrap_or_default()
        ));
        self.draft.operations.push(operation);
        self.sent.push(sent(request));
        self.answers.push(recorded(&entry.response));
    }

    /// What is sent in the place of a value: what an earlier answer gave, a variable of the environment for a secret, or itself.
    fn replaced(&mut self, name: &str, value: &str, operation: &mut DraftOperation) -> Option<String> {
        if let Some(extract) = self.given(name, value) {
            if !operation.requires.contains(&extract) {
                operation.requires.push(extract);
            }
            return Some(format!("{{{}}}", self.draft.extracts[extract].name));
        }
        let is_secret =
            redact::is_secret_name(name) || redact::word(value) != value || redact::text(value) != value;
        (is_secret && !value.is_empty()).then(|| self.variable(name, value))
    }

    fn variable(&mut self, name: &str, value: &str) -> String {
        self.draft.variable(name, value, "its recorded value looks like a secret")
    }

    /// The extract that gives a value, if an answer before held it and no request before that did.
    fn given(&mut self, name: &str, value: &str) -> Option<usize> {
        if !suggest::may_be_given(value) {
            return None;
        }
        for (from, answer) in self.answers.iter().enumerate() {
            if self.sent[..=from].iter().any(|sent| sent.contains(value)) {
                return None;
            }
            let answered = Answered { body: answer.body.as_bytes(), head: &answer.head };
            if let Some(place) = suggest::place(&answered, value) {
                let known =
                    self.draft.extracts.iter().position(|one| {
                        one.from == from && format!("{:?}", one.place) == format!("{place:?}")
                    });
                return Some(known.unwrap_or_else(|| {
                    let name = self.free_name(name);
                    self.draft.extracts.push(DraftExtract { name, from, place });
                    self.draft.extracts.len() - 1
                }));
            }
        }
        None
    }

    fn free_name(&self, wanted: &str) -> String {
        let wanted = name_of(wanted, false);
        let is_free = |name: &String| !self.draft.extracts.iter().any(|one| one.name == *name);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
    }

    fn path(&mut self, url: &Url, operation: &mut DraftOperation) -> String {
        let mut path = String::new();
        for segment in url.path.split('/').skip(1) {
            path.push('/');
            match self.replaced("id", segment, operation) {
                Some(replaced) => path.push_str(&replaced),
                None => path.push_str(&literal_path(segment)),
            }
        }
        for (number, (key, value)) in query_parts(url.query).enumerate() {
            path.push(if number == 0 { '?' } else { '&' });
            path.push_str(&literal_path(key));
            path.push('=');
            match self.replaced(key, value, operation) {
                Some(replaced) => path.push_str(&replaced),
                None => path.push_str(&literal_path(value)),
            }
        }
        path
    }

    fn headers(&mut self, request: &Request, operation: &mut DraftOperation) {
        for Pair { name, value } in &request.headers {
            let lower = name.to_ascii_lowercase();
            let is_own = lower == COOKIE
                || OWN_HEADERS.contains(&lower.as_str())
                || BROWSER_HEADERS.contains(&lower.as_str())
                || lower.starts_with(':')
                || lower.starts_with("sec-");
            if is_own || !lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
                continue;
            }
            // Before anything looks at it: what is left may look like a placeholder.
            let value: String = value.chars().filter(|c| !c.is_control()).collect();
            // The word before a token says what kind it is.
            let (scheme, rest) = match value.split_once(' ') {
                Some((scheme, rest)) if lower.ends_with("authorization") => {
                    (literal(&format!("{scheme} ")), rest)
                }
                _ => (String::new(), value.as_str()),
            };
            let text = match self.replaced(&lower, rest, operation) {
                Some(replaced) => format!("{scheme}{replaced}"),
                None if lower.ends_with("authorization") => {
                    format!("{scheme}{}", self.variable(&lower, rest))
                }
                None => literal(&value),
            };
            // One of each, however a browser writes their names.
            if !operation.headers.keys().any(|known| known.eq_ignore_ascii_case(name)) {
                operation.headers.insert(name.clone(), text);
            }
        }
    }

    fn body(&mut self, request: &Request, operation: &mut DraftOperation) {
        let Some(data) = &request.post_data else { return };
        let mime = data.mime_type.split(';').next().unwrap_or_default().trim();
        if mime == "application/x-www-form-urlencoded" {
            let params: Vec<(String, String)> = match data.params.is_empty() {
                false => data.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect(),
                true => query_parts(&data.text)
                    .map(|(key, value)| (super::decoded(key), super::decoded(value)))
                    .collect(),
            };
            let mut form = BTreeMap::new();
            for (key, value) in params {
                let text = self.replaced(&key, &value, operation).unwrap_or_else(|| literal(&value));
                if form.insert(key.clone(), text).is_some() {
                    operation.notes.push(format!("The form had {key:?} more than once. The last is kept."));
                }
            }
            operation.form = Some(form);
            return;
        }
        if mime.starts_with("multipart/") {
            return self.parts(data, operation);
        }
        if !mime.is_empty() {
            operation.headers.insert("Content-Type".to_owned(), literal(&data.mime_type));
        }
        operation.body = Some(match serde_json::from_str::<serde_json::Value>(&data.text) {
            Ok(mut json) => {
                self.json("value", &mut json, operation);
                json.to_string()
            }
            Err(_) => match redact::text(&data.text) {
                text if text == data.text => literal(&data.text),
                _ => self.variable("body", &data.text),
            },
        });
    }

    /// A form with files, whose bytes an archive does not hold.
    fn parts(&mut self, data: &PostData, operation: &mut DraftOperation) {
        let mut parts = BTreeMap::new();
        for Param { name, value, file_name } in &data.params {
            match file_name {
                Some(file) => operation.notes.push(format!(
                    "A file was sent, which is not recorded: put it here, and {} = {{ file = {file:?} }} into `multipart`.",
                    toml::Value::String(name.clone())
                )),
                None => {
                    let text = self.replaced(name, value, operation).unwrap_or_else(|| literal(value));
                    parts.insert(name.clone(), text);
                }
            }
        }
        if data.params.is_empty() {
            operation.notes.push(
                "A form of several parts was sent, which are not recorded: write `multipart`.".to_owned(),
            );
        }
        operation.multipart = Some(parts);
    }

    /// Replaces texts and numbers within JSON.
    fn json(&mut self, name: &str, json: &mut serde_json::Value, operation: &mut DraftOperation) {
        use serde_json::Value;
        match json {
            Value::String(text) => {
                let replaced = self.replaced(name, text, operation).unwrap_or_else(|| literal(text));
                *text = replaced;
            }
            Value::Array(all) => all.iter_mut().for_each(|one| self.json(name, one, operation)),
            Value::Object(all) => {
                let mut whole = serde_json::Map::new();
                for (key, mut one) in std::mem::take(all) {
                    self.json(&key, &mut one, operation);
                    whole.insert(literal(&key), one);
                }
                *all = whole;
            }
            Value::Number(number) if redact::is_secret_name(name) => {
                let text = number.to_string();
                *json = Value::String(self.replaced(name, &text, operation).unwrap_or(text));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }
}

/// All that a request sends.
fn sent(request: &Request) -> String {
    let mut text = super::decoded(&request.url);
    request.headers.iter().for_each(|pair| text.push_str(&pair.value));
    if let Some(data) = &request.post_data {
        text.push_str(&data.text);
        text.push_str(&super::decoded(&data.text));
        data.params.iter().for_each(|param| text.push_str(&param.value));
    }
    text
}

fn recorded(response: &Response) -> Recorded {
    let text = response
        .content
        .as_ref()
        .filter(|content| content.encoding.is_none())
        .and_then(|content| content.text.clone());
    let mut head = Vec::new();
    for Pair { name, value } in
        response.headers.iter().filter(|pair| !pair.name.eq_ignore_ascii_case("set-cookie"))
    {
        head.extend(format!("{name}: {value}").bytes().filter(|byte| *byte != b'\n'));
        head.push(b'\n');
    }
    Recorded { body: text.unwrap_or_default(), head }
}

/// From the end of an answer to the next request.
fn think_ms(entry: &Entry, next: &Entry) -> Option<u64> {
    let ms = |text: &str| text.parse::<jiff::Timestamp>().ok().map(|time| time.as_nanosecond() as f64 / 1e6);
    let (begun, next) = (ms(&entry.started_date_time)?, ms(&next.started_date_time)?);
    let think = next - begun - if entry.time.is_finite() { entry.time.max(0.0) } else { 0.0 };
    (think >= 1.0).then(|| think.min(THINK_MS_MAX) as u64)
}

#[cfg(test)]
#[path = "har_tests.rs"]
mod tests;
