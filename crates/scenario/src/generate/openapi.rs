//! A draft from an OpenAPI 3 description, in JSON or YAML: an operation for each of its own, with its examples, or what its schemas allow.
//!
//! A description says nothing about users: how often an operation is called, and what is called before. The draft calls all alike.

use super::Generated;
use super::imported::{Body, Import, Request, Split, variable_in};
use crate::ScenarioError;
use serde_json::{Map, Value};

/// How deep schemas and references are followed.
const DEPTH_MAX: usize = 12;
/// Properties of an object that an example is made with.
const PROPERTIES_MAX: usize = 100;
/// Parts of one example: schemas that name themselves grow without end.
const PARTS_MAX: usize = 2_000;
const METHODS: [&str; 6] = ["get", "put", "post", "delete", "head", "patch"];

/// Makes a scenario of a description. `named` is the file's name, for messages.
///
/// # Errors
/// It is not a description of OpenAPI 3, or has no operation.
pub fn from_openapi(text: &str, named: &str) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("OpenAPI description {named}: {what}"));
    let text = text.trim_start_matches('\u{feff}');
    let root: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?,
        false => serde_saphyr::from_str(text).map_err(|error| wrong(first_line(&error.to_string())))?,
    };
    if root.get("swagger").is_some() {
        return Err(wrong("it is of Swagger 2.0; convert it to OpenAPI 3 (swagger2openapi does)".to_owned()));
    }
    let version = root.get("openapi").map(scalar).unwrap_or_default();
    if !version.starts_with('3') {
        return Err(wrong("it has no `openapi: 3.x`".to_owned()));
    }
    let mut import = Import::new(split, |_| None, |_| None);
    import.draft.name = format!("from {named}");
    let described = Description { root: &root };
    let base = described.base_url(&mut import);
    let paths = root.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        let Some(item) = described.followed(item).as_object() else { continue };
        for method in METHODS {
            let Some(operation) = item.get(method).and_then(Value::as_object) else { continue };
            described.operation(&base, path, method, item, operation, &mut import);
        }
    }
    if import.draft.operations.is_empty() {
        return Err(wrong("it has no operation".to_owned()));
    }
    let count = import.draft.operations.len();
    let notes = &mut import.draft.notes;
    notes.push(format!(
        "Made from an OpenAPI description: {count} operations, all with the same weight. It \
        does not describe sessions."
    ));
    notes.push(
        "Examples come from the description, or are values that its schemas allow. Put your server's \
        values into [values]."
            .to_owned(),
    );
    let changing =
        import.draft.operations.iter().filter(|one| !matches!(one.method.as_str(), "GET" | "HEAD"));
    let changing = changing.count();
    if changing > 0 {
        import
            .draft
            .notes
            .push(format!("{changing} operations are neither GET nor HEAD, and may change data."));
    }
    Ok(import.finish(false))
}

/// The marks around a parameter here: no brace, which examples may have.
const OPEN: &str = "\u{e000}";
const CLOSE: &str = "\u{e001}";

fn split(text: &str) -> Option<Split<'_>> {
    variable_in(text, OPEN, CLOSE)
}

fn variable(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // A list in a query or a path is written with commas.
        Value::Array(all) => all.iter().map(scalar).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn string<'a>(of: &'a Map<String, Value>, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_true(of: &Map<String, Value>, key: &str) -> bool {
    of.get(key).and_then(Value::as_bool) == Some(true)
}

struct Description<'a> {
    root: &'a Value,
}

impl<'a> Description<'a> {
    /// What a reference within the description leads to.
    fn followed(&self, value: &'a Value) -> &'a Value {
        let mut value = value;
        for _ in 0..DEPTH_MAX {
            let pointer = value.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
            match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                Some(found) => value = found,
                None => return value,
            }
        }
        value
    }

    /// The first server, with the defaults of its variables.
    fn base_url(&self, import: &mut Import) -> String {
        let servers = self.root.get("servers").and_then(Value::as_array);
        let Some(server) = servers.and_then(|all| all.first()).and_then(Value::as_object) else {
            return String::new();
        };
        if servers.is_some_and(|all| all.len() > 1) {
            import.lose("servers behind the first");
        }
        let mut url = string(server, "url").trim_end_matches('/').to_owned();
        for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
            url =
                url.replace(&format!("{{{name}}}"), &variable.get("default").map(scalar).unwrap_or_default());
        }
        url
    }

    fn operation(
        &self,
        base: &str,
        path: &str,
        method: &str,
        item: &'a Map<String, Value>,
        operation: &'a Map<String, Value>,
        import: &mut Import,
    ) {
        if is_true(operation, "deprecated") {
            import.lose("operations that are deprecated");
            return;
        }
        let mut request = Request { method: method.to_owned(), ..Request::default() };
        request.name = string(operation, "operationId").to_owned();
        let mut query = Vec::new();
        // Those of the operation come first: a name that is there already is theirs.
        let of = |from: &'a Map<String, Value>| {
            from.get("parameters").and_then(Value::as_array).into_iter().flatten()
        };
        let mut known: Vec<(&str, &str)> = Vec::new();
        let mut values = Vec::new();
        for parameter in of(operation).chain(of(item)) {
            let Some(parameter) = self.followed(parameter).as_object() else { continue };
            let (name, place) = (string(parameter, "name"), string(parameter, "in"));
            if known.contains(&(name, place)) {
                continue;
            }
            known.push((name, place));
            let value = scalar(&self.example_of(parameter));
            match (place, is_true(parameter, "required")) {
                ("path", _) => values.push((name.to_owned(), value)),
                ("query", true) => {
                    query.push(format!("{name}={}", variable(name)));
                    values.push((name.to_owned(), value));
                }
                ("header", true) => request.headers.push((name.to_owned(), value)),
                ("query" | "header", false) => {
                    import.lose(format!("the {place} parameter {name}, which is not required"));
                }
                ("cookie", _) => import.lose(format!("the cookie {name}")),
                _ => (),
            }
        }
        // The same name may stand for something else in another operation.
        import.known = values.into_iter().collect();
        self.authorize(operation, &mut request, &mut query, import);
        let body = operation.get("requestBody").map(|body| self.followed(body));
        request.body = body.map_or(Body::None, |body| self.body(body, &mut request.headers, import));
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        request.url = format!("{base}{}{query}", path.replace('{', OPEN).replace('}', CLOSE));
        if import.add(request) {
            let answers = operation.get("responses").and_then(Value::as_object);
            let codes: Vec<u16> =
                answers.into_iter().flatten().filter_map(|(code, _)| code.parse().ok()).collect();
            let is_plain = codes.is_empty() || codes.iter().any(|code| (200..300).contains(code));
            let moved = codes.iter().copied().filter(|code| (300..400).contains(code) && !is_plain);
            if let Some(last) = import.last() {
                last.statuses = moved.collect();
            }
        }
    }

    fn authorize(
        &self,
        operation: &Map<String, Value>,
        request: &mut Request,
        query: &mut Vec<String>,
        import: &mut Import,
    ) {
        let needs = operation.get("security").or_else(|| self.root.get("security")).and_then(Value::as_array);
        // One of several is enough; an empty one says that none is needed.
        let Some(needed) = needs.and_then(|needs| needs.first()).and_then(Value::as_object) else { return };
        for name in needed.keys() {
            let scheme = self.root.pointer("/components/securitySchemes").and_then(|all| all.get(name));
            let Some(scheme) = scheme.map(|scheme| self.followed(scheme)).and_then(Value::as_object) else {
                continue;
            };
            let header = |text: &str| ("Authorization".to_owned(), text.to_owned());
            match (
                string(scheme, "type"),
                string(scheme, "scheme").to_ascii_lowercase().as_str(),
                string(scheme, "in"),
            ) {
                ("http", "basic", _) => request
                    .headers
                    .push(header(&format!("Basic {}", variable("basic user-password in base64")))),
                ("http", "bearer", _) | ("oauth2" | "openIdConnect", ..) => {
                    request.headers.push(header(&format!("Bearer {}", variable("bearer token"))));
                }
                ("apiKey", _, "header") => {
                    request.headers.push((string(scheme, "name").to_owned(), variable(name)));
                }
                ("apiKey", _, "query") => {
                    query.push(format!("{}={}", string(scheme, "name"), variable(name)));
                }
                (kind, ..) => import.lose(format!("authorization by {kind}")),
            }
        }
    }

    fn body(&self, body: &'a Value, headers: &mut Vec<(String, String)>, import: &mut Import) -> Body {
        let Some(content) = body.get("content").and_then(Value::as_object) else { return Body::None };
        let is_json =
            |kind: &str| kind.starts_with("application/json") || kind.ends_with("+json") || kind == "*/*";
        if let Some((kind, media)) =
            content.iter().find(|(kind, _)| is_json(kind)).and_then(|(k, m)| Some((k, m.as_object()?)))
        {
            let kind = if kind == "*/*" { "application/json" } else { kind.as_str() };
            headers.push(("Content-Type".to_owned(), kind.to_owned()));
            return Body::Text(self.example_of(media).to_string(), None);
        }
        let form = content.get("application/x-www-form-urlencoded").and_then(Value::as_object);
        if let Some(media) = form {
            let fields = self.example_of(media);
            let fields = fields.as_object().into_iter().flatten();
            return Body::Form(fields.map(|(key, value)| (key.clone(), scalar(value))).collect());
        }
        if let Some((kind, media)) = content
            .iter()
            .find(|(kind, _)| kind.starts_with("text/"))
            .and_then(|(k, m)| Some((k, m.as_object()?)))
        {
            headers.push(("Content-Type".to_owned(), kind.clone()));
            return Body::Text(scalar(&self.example_of(media)), None);
        }
        for kind in content.keys() {
            import.lose(format!("a body of {kind}"));
        }
        Body::None
    }

    /// The example of a parameter or a body, or one that its schema allows.
    fn example_of(&self, of: &'a Map<String, Value>) -> Value {
        if let Some(example) = of.get("example") {
            return example.clone();
        }
        let examples = of.get("examples").and_then(Value::as_object);
        let first = examples.and_then(|all| all.values().next()).map(|one| self.followed(one));
        if let Some(value) = first.and_then(|one| one.get("value")) {
            return value.clone();
        }
        let in_content = of.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
        if let Some(media) = in_content.and_then(Value::as_object) {
            return media.get("schema").map_or(Value::Null, |schema| self.sample(schema, &[], &mut 0));
        }
        of.get("schema").map_or(Value::Null, |schema| self.sample(schema, &[], &mut 0))
    }

    /// What a schema allows; `within` has those that it is a part of, so that one that names itself ends.
    fn sample(&self, schema: &'a Value, within: &[&'a Value], parts: &mut usize) -> Value {
        *parts += 1;
        let followed = self.followed(schema);
        let is_within_itself = within.iter().any(|one| std::ptr::eq(*one, followed));
        let Some(schema) = followed.as_object().filter(|_| !is_within_itself) else { return Value::Null };
        if within.len() == DEPTH_MAX || PARTS_MAX < *parts {
            return Value::Null;
        }
        let within = &[within, &[followed]].concat();
        let listed = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|all| all.first());
        let given = schema.get("example").or_else(|| listed("examples")).or_else(|| schema.get("default"));
        if let Some(given) = given.or_else(|| schema.get("const")).or_else(|| listed("enum")) {
            return given.clone();
        }
        if let Some(one) = listed("oneOf").or_else(|| listed("anyOf")) {
            return self.sample(one, within, parts);
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            let mut whole = self.object(schema, within, parts);
            for one in all.iter().take(PROPERTIES_MAX) {
                match self.sample(one, within, parts) {
                    Value::Object(more) => whole.extend(more),
                    other if all.len() == 1 => return other,
                    _ => (),
                }
            }
            return Value::Object(whole);
        }
        let kinds = schema.get("type").and_then(Value::as_array);
        let is_some = |kind: &&Value| kind.as_str() != Some("null");
        let kind = kinds.and_then(|kinds| kinds.iter().find(is_some)).or(schema.get("type"));
        match kind.and_then(Value::as_str).unwrap_or_default() {
            "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
            "number" => schema.get("minimum").cloned().unwrap_or_else(|| 1.5.into()),
            "boolean" => true.into(),
            "array" => {
                let item = schema.get("items").map(|items| self.sample(items, within, parts));
                Value::Array(item.into_iter().filter(|item| !item.is_null()).collect())
            }
            "string" => text_of(schema).into(),
            _ if schema.contains_key("properties") || string(schema, "type") == "object" => {
                Value::Object(self.object(schema, within, parts))
            }
            _ => Value::Null,
        }
    }

    fn object(
        &self,
        schema: &'a Map<String, Value>,
        within: &[&'a Value],
        parts: &mut usize,
    ) -> Map<String, Value> {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let is_sent = |property: &Value| property.get("readOnly").and_then(Value::as_bool) != Some(true);
        let mut found = Map::new();
        for (name, property) in properties.take(PROPERTIES_MAX).filter(|(_, property)| is_sent(property)) {
            let value = self.sample(property, within, parts);
            if !value.is_null() {
                found.insert(name.clone(), value);
            }
        }
        found
    }
}

/// A text of a format.
fn text_of(schema: &Map<String, Value>) -> String {
    let text = match string(schema, "format") {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "uuid" => "00000000-0000-4000-8000-000000000001",
        "email" => "user@example.com",
        "uri" => "https://example.com/",
        "ipv4" => "192.0.2.1",
        "byte" => "dGV4dA==",
        _ => "text",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1_000) as usize;
    format!("{text}{}", "x".repeat(least.saturating_sub(text.len())))
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;
