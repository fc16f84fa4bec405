//! Requests as other tools describe them, with variables in their texts, on their way into a draft.

use super::draft::{Draft, DraftExtract, DraftOperation, name_of};
use super::{Generated, literal, literal_path, url};
use crate::compile_operation::{COOKIE, OWN_HEADERS};
use crate::extract::ValueLocation;
use assay_text::redact;
use std::collections::{BTreeMap, BTreeSet};

/// Most requests that are taken over.
pub(super) const REQUESTS_MAX: usize = 1_000;
/// Headers of the connection of the tool that recorded a request, and of its server.
const OF_TOOL: [&str; 4] = ["accept-encoding", "connection", "expect", "host"];
/// Kinds of what is not understood that are listed.
const LOSSES_MAX: usize = 100;
/// How often a variable may stand within the value of another.
const NESTED_MAX: usize = 8;
/// Longest text that a variable stands for.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// What stands before the first variable of a text, its name, and what follows.
pub(super) type Split<'a> = (&'a str, &'a str, &'a str);

/// The first variable of a text, which stands between `open` and the `close` that belongs to it.
pub(super) fn variable_in<'a>(text: &'a str, open: &str, close: &str) -> Option<Split<'a>> {
    let (before, behind) = text.split_once(open)?;
    let (mut from, mut depth) = (0, 0);
    loop {
        let end = from + behind[from..].find(close)?;
        depth += behind[from..end].matches(open).count();
        if depth == 0 {
            return Some((before, behind[..end].trim(), &behind[end + close.len()..]));
        }
        (from, depth) = (end + close.len(), depth - 1);
    }
}

/// What a request sends.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub name: String,
    pub method: String,
    /// With variables.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

/// A body, with variables.
#[derive(Debug, Default)]
pub(super) enum Body {
    #[default]
    None,
    Form(Vec<(String, String)>),
    /// With the type that no header gives.
    Text(String, Option<&'static str>),
}

/// What is being imported.
pub(super) struct Import {
    pub draft: Draft,
    /// Variables whose value is known.
    pub known: BTreeMap<String, String>,
    /// Variables that are columns of a file.
    pub columns: BTreeSet<String>,
    /// Variables that answers give: numbers among the draft's extracts.
    given: BTreeMap<String, usize>,
    /// How its texts are taken apart.
    split: fn(&str) -> Option<Split<'_>>,
    /// A variable that needs no value: the rest of its line in `[values]`.
    dynamic: fn(&str) -> Option<String>,
    /// The value that a variable's own text says it has where nothing sets it.
    default_of: fn(&str) -> Option<&str>,
    base_url: Option<String>,
    losses: BTreeMap<String, u32>,
}

impl Import {
    pub fn new(
        split: fn(&str) -> Option<Split<'_>>,
        dynamic: fn(&str) -> Option<String>,
        default_of: fn(&str) -> Option<&str>,
    ) -> Import {
        Import {
            draft: Draft::default(),
            known: BTreeMap::new(),
            columns: BTreeSet::new(),
            given: BTreeMap::new(),
            split,
            dynamic,
            default_of,
            base_url: None,
            losses: BTreeMap::new(),
        }
    }

    /// Something that is not taken over, which the draft says.
    pub fn lose(&mut self, what: impl Into<String>) {
        let mut what: String = redact::text(&what.into()).chars().take(200).collect();
        if !self.losses.contains_key(&what) && self.losses.len() >= LOSSES_MAX {
            "more that is not listed".clone_into(&mut what);
        }
        *self.losses.entry(what).or_default() += 1;
    }

    /// Adds an operation, unless it goes to another host.
    pub fn add(&mut self, request: Request) -> bool {
        if self.draft.operations.len() >= REQUESTS_MAX {
            self.lose(format!("requests beyond the first {REQUESTS_MAX}"));
            return false;
        }
        let mut operation = DraftOperation { weight: 1.0, ..DraftOperation::default() };
        let method = request.method.trim().to_ascii_uppercase();
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        operation.method = if is_method { method } else { "GET".to_owned() };
        let Some(path) = self.path(&request.url, &mut operation) else { return false };
        operation.path = path;
        for (name, value) in &request.headers {
            self.header(name, value, &mut operation);
        }
        self.body(request.body, &mut operation);
        let of_path =
            format!("{} {}", operation.method, operation.path.split('?').next().unwrap_or_default());
        let wanted: String =
            redact::text(request.name.trim()).chars().filter(|c| !c.is_control()).take(80).collect();
        operation.name = self.draft.unique(if wanted.is_empty() { &of_path } else { &wanted });
        self.draft.operations.push(operation);
        true
    }

    /// The operation that was added last.
    pub fn last(&mut self) -> Option<&mut DraftOperation> {
        self.draft.operations.last_mut()
    }

    /// A variable that the answer to the last operation gives from now on.
    pub fn give(&mut self, variable: &str, place: ValueLocation) {
        let Some(from) = self.draft.operations.len().checked_sub(1) else { return };
        let name = self.free_name(variable);
        self.draft.extracts.push(DraftExtract { name, from, place });
        self.given.insert(variable.to_owned(), self.draft.extracts.len() - 1);
    }

    /// A name that no value, column or extract has.
    fn free_name(&self, wanted: &str) -> String {
        let wanted = name_of(wanted, false);
        let is_free = |name: &String| {
            !self.draft.extracts.iter().any(|one| one.name == *name)
                && !self.draft.values.contains_key(name)
                && !self.draft.drawn.contains_key(name)
                && !self.columns.contains(name)
        };
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
    }

    /// The value of a variable, where it is known and not too long.
    pub fn value_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let known = self.known.get(name).map(String::as_str);
        known.or_else(|| (self.default_of)(name)).filter(|value| value.len() <= TEXT_BYTES_MAX)
    }

    /// A text that begins with no variable whose value is known: that stands there instead.
    fn begun(&self, text: &str) -> String {
        let mut text = text.trim().to_owned();
        for _ in 0..NESTED_MAX {
            let Some(("", name, rest)) = (self.split)(&text) else { break };
            let Some(value) = self.value_of(name) else { break };
            text = format!("{value}{rest}");
        }
        text
    }

    /// A text with the values of all its variables; absent where one has none.
    fn expanded(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for _ in 0..NESTED_MAX {
            let Some((before, name, rest)) = (self.split)(&text) else { return Some(text) };
            text = format!("{before}{}{rest}", self.value_of(name)?);
        }
        None
    }

    fn path(&mut self, raw: &str, operation: &mut DraftOperation) -> Option<String> {
        let begun = self.begun(raw);
        let target = match begun.split_once("://") {
            Some((scheme, rest)) if matches!(scheme, "http" | "https") => {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                let base = format!("{scheme}://{}", &rest[..end]);
                // A plan may leave the host to whoever runs it.
                if 0 < end && !self.is_base(&base) {
                    self.lose("requests to other hosts than the first");
                    return None;
                }
                rest[end..].to_owned()
            }
            Some((scheme, _)) if !scheme.contains(['/', '?', '{']) => {
                self.lose(format!("requests by {scheme}"));
                return None;
            }
            // A host that is not known, or none.
            _ => begun.find('/').map_or_else(String::new, |at| begun[at..].to_owned()),
        };
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut out = String::new();
        for segment in path.split('/').skip(1) {
            out.push('/');
            out.push_str(&self.text("id", segment, literal_path, operation));
        }
        if out.is_empty() {
            out.push('/');
        }
        for (number, part) in query.split('&').filter(|part| !part.is_empty()).enumerate() {
            out.push(if number == 0 { '?' } else { '&' });
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            out.push_str(&self.text("query", key, literal_path, operation));
            out.push('=');
            out.push_str(&self.text(key, value, literal_path, operation));
        }
        Some(out)
    }

    /// Whether a request goes to the address of the first that names one; that of a variable is not known.
    fn is_base(&mut self, base: &str) -> bool {
        let Some(base) = self.expanded(base) else { return true };
        match &self.base_url {
            Some(first) => first.eq_ignore_ascii_case(&base),
            None => {
                self.base_url = url(&base).map(|url| url.base.to_owned());
                self.base_url.is_some()
            }
        }
    }

    fn header(&mut self, name: &str, value: &str, operation: &mut DraftOperation) {
        let lower = name.to_ascii_lowercase();
        let is_known = OWN_HEADERS.contains(&lower.as_str()) || OF_TOOL.contains(&lower.as_str());
        if lower == COOKIE {
            return self.lose("recorded cookies: those that the server sets are sent");
        }
        if is_known || !is_token(&lower) || lower.starts_with("postman-") {
            return;
        }
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        let (scheme, rest) = match value.split_once(' ') {
            Some((scheme, rest)) if lower.ends_with("authorization") && is_token(scheme) => {
                (format!("{scheme} "), rest)
            }
            _ => (String::new(), value.as_str()),
        };
        let text = self.text(&lower, rest, literal, operation);
        operation.headers.insert(name.to_owned(), format!("{scheme}{text}"));
    }

    fn body(&mut self, body: Body, operation: &mut DraftOperation) {
        match body {
            Body::None => (),
            Body::Form(fields) => {
                let mut form = BTreeMap::new();
                for (key, value) in fields {
                    let text = self.text(&key, &value, literal, operation);
                    if form.insert(key.clone(), text).is_some() {
                        operation
                            .notes
                            .push(format!("The form had {key:?} more than once. The last is kept."));
                    }
                }
                operation.form = Some(form);
            }
            Body::Text(text, kind) => {
                let has_type = operation.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
                if let Some(kind) = kind.filter(|_| !has_type) {
                    operation.headers.insert("Content-Type".to_owned(), kind.to_owned());
                }
                operation.body = Some(match serde_json::from_str::<serde_json::Value>(&text) {
                    Ok(mut json) => {
                        self.json("value", &mut json, operation);
                        json.to_string()
                    }
                    Err(_) => self.text("body", &text, literal, operation),
                });
            }
        }
    }

    /// Replaces texts and numbers within JSON.
    fn json(&mut self, name: &str, json: &mut serde_json::Value, operation: &mut DraftOperation) {
        use serde_json::Value;
        match json {
            Value::String(text) => *text = self.text(name, &text.clone(), literal, operation),
            Value::Array(all) => all.iter_mut().for_each(|one| self.json(name, one, operation)),
            Value::Object(all) => {
                let mut whole = serde_json::Map::new();
                for (key, mut one) in std::mem::take(all) {
                    self.json(&key, &mut one, operation);
                    whole.insert(self.text("key", &key, literal, operation), one);
                }
                *all = whole;
            }
            Value::Number(number) if redact::is_secret_name(name) => {
                *json = Value::String(self.secret(name, &number.to_string()));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }

    /// A text in a template: variables as what they are there, the rest as itself, and a secret as a variable of the environment.
    pub fn text(
        &mut self,
        name: &str,
        text: &str,
        as_itself: fn(&str) -> String,
        operation: &mut DraftOperation,
    ) -> String {
        if (self.split)(text).is_none() && !text.is_empty() && is_secret(name, text) {
            return self.secret(name, text);
        }
        self.parts(name, text, as_itself, operation, 0)
    }

    fn parts(
        &mut self,
        name: &str,
        text: &str,
        as_itself: fn(&str) -> String,
        operation: &mut DraftOperation,
        depth: usize,
    ) -> String {
        let (mut out, mut rest) = (String::new(), text);
        loop {
            let split = (self.split)(rest);
            let before = split.map_or(rest, |(before, ..)| before);
            out.push_str(&if is_secret("", before) { self.secret(name, before) } else { as_itself(before) });
            let Some((_, variable, after)) = split else { return out };
            out.push_str(&self.variable(variable, as_itself, operation, depth));
            rest = after;
        }
    }

    fn variable(
        &mut self,
        variable: &str,
        as_itself: fn(&str) -> String,
        operation: &mut DraftOperation,
        depth: usize,
    ) -> String {
        if let Some(extract) = self.given.get(variable).copied() {
            if !operation.requires.contains(&extract) {
                operation.requires.push(extract);
            }
            return format!("{{{}}}", self.draft.extracts[extract].name);
        }
        if self.columns.contains(variable) {
            return format!("{{{variable}}}");
        }
        if let Some(how) = (self.dynamic)(variable) {
            let name = match self.draft.drawn.iter().find(|(_, known)| **known == how) {
                Some((name, _)) => name.clone(),
                None => self.free_name(variable),
            };
            self.draft.drawn.insert(name.clone(), how);
            return format!("{{{name}}}");
        }
        let known = self.value_of(variable).map(str::to_owned);
        match known {
            Some(value) if is_secret(variable, &value) && !value.is_empty() => self.secret(variable, &value),
            Some(value) if (self.split)(&value).is_none() => self.fixed(variable, value),
            Some(value) if depth < NESTED_MAX => {
                self.parts(variable, &value, as_itself, operation, depth + 1)
            }
            _ => {
                let clean: String = variable.chars().take(60).collect();
                // It is of nobody's name but its own.
                let stands_for = format!("the variable {variable}");
                self.draft.variable(
                    variable,
                    &stands_for,
                    &format!("the variable {clean:?} has no value here"),
                )
            }
        }
    }

    /// A value with one text, which the draft lists where others can be added.
    fn fixed(&mut self, variable: &str, value: String) -> String {
        let wanted = name_of(variable, false);
        let is_taken = self.columns.contains(&wanted)
            || self.draft.drawn.contains_key(&wanted)
            || self.draft.extracts.iter().any(|one| one.name == wanted);
        let wanted = if is_taken { format!("{wanted}-value") } else { wanted };
        format!("{{{}}}", self.draft.value(&wanted, vec![value]))
    }

    fn secret(&mut self, name: &str, value: &str) -> String {
        self.draft.variable(name, value, "its value there looks like a secret")
    }

    /// The draft, with what was not understood at its head. A journey sends all its operations in order.
    pub fn finish(mut self, is_journey: bool) -> Generated {
        self.draft.is_journey = is_journey;
        let last = self.draft.operations.len().saturating_sub(1);
        for (at, operation) in self.draft.operations.iter_mut().enumerate() {
            operation.weight = if is_journey && at < last { 0.0 } else { 1.0 };
        }
        let times = |count: u32| if count == 1 { String::new() } else { format!(" ({count} times)") };
        let losses =
            self.losses.iter().map(|(what, count)| format!("Not taken over: {what}{}.", times(*count)));
        self.draft.notes.extend(losses);
        Generated { text: self.draft.text(), base_url: self.base_url, trace: None }
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    redact::is_secret_name(name)
        || name.ends_with("authorization")
        || redact::word(value) != value
        || redact::text(value) != value
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// A JSON pointer for a path such as `$.items[0].id`; absent for one that finds several.
pub(super) fn pointer(path: &str) -> Option<String> {
    let mut rest = path.trim().strip_prefix('$').unwrap_or(path.trim());
    let mut out = String::new();
    while !rest.is_empty() {
        let (step, behind) = if let Some(inner) = rest.strip_prefix('[') {
            let (step, behind) = inner.split_once(']')?;
            (step.trim_matches(['\'', '"']), behind)
        } else {
            let inner = rest.strip_prefix('.').unwrap_or(rest);
            inner.split_at(inner.find(['.', '[']).unwrap_or(inner.len()))
        };
        let is_one = !step.is_empty() && !step.contains(['*', '?', '(', ':', ',', '@', ' ']);
        if !is_one {
            return None;
        }
        out.push('/');
        out.push_str(&step.replace('~', "~0").replace('/', "~1"));
        rest = behind;
    }
    (!out.is_empty()).then_some(out)
}
