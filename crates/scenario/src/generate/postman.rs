//! A journey from a Postman collection (format 2.1): its requests in order, its variables, and what its tests keep of answers.

use super::Generated;
use super::imported::{Body, Import, Request, Split, pointer, variable_in};
use crate::ScenarioError;
use crate::extract::ValueLocation;
use regex::Regex;
use serde_json::{Map, Value};

/// How deep folders may lie in each other.
const FOLDERS_MAX: usize = 32;
/// Lines of a script that are looked at.
const LINES_MAX: usize = 2_000;

/// Makes a scenario of a collection. `named` is the file's name, for messages.
///
/// # Errors
/// It is not a collection, or holds no request that can be taken.
pub fn from_postman(text: &str, named: &str) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("Postman collection {named}: {what}"));
    let collection: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| wrong(error.to_string()))?;
    // The Postman API wraps a collection.
    let collection = collection.get("collection").unwrap_or(&collection);
    let items = collection.get("item").and_then(Value::as_array);
    let items = items.ok_or_else(|| wrong("it has no `item`, the list of its requests".to_owned()))?;
    let schema = string(collection.pointer("/info/schema"));
    if !schema.is_empty() && !schema.contains("/v2.") {
        return Err(wrong(format!("{schema:?} is not supported: export it as collection v2.1")));
    }
    let mut import = Import::new(split, dynamic, |_| None);
    import.draft.name = format!("from {named}");
    for variable in list(collection.get("variable")) {
        let key = string(variable.get("key").or(variable.get("id")));
        // A value that is a secret by its type has no value here.
        if variable.get("type").and_then(Value::as_str) != Some("secret") && !key.is_empty() {
            import.known.insert(key.to_owned(), scalar(variable.get("value")));
        }
    }
    script(collection, "prerequest", &mut import, false);
    folder(items, collection.get("auth"), 0, &mut import);
    if import.draft.operations.is_empty() {
        return Err(wrong("it holds no request that can be taken".to_owned()));
    }
    let count = import.draft.operations.len();
    import.draft.notes.push(format!("Made from a Postman collection: {count} requests, in its order."));
    import.draft.notes.push(
        "Values of its environments are not in a collection: see [values] and the variables below."
            .to_owned(),
    );
    Ok(import.finish(true))
}

fn split(text: &str) -> Option<Split<'_>> {
    variable_in(text, "{{", "}}")
}

/// Postman's own variables.
fn dynamic(name: &str) -> Option<String> {
    let kind = match name {
        "$guid" | "$randomUUID" => r#"{ kind = "uuid" }"#,
        "$timestamp" => r#"{ kind = "unix-ms" }"#,
        "$randomInt" => r#"{ kind = "range", from = 0, to = 1000 }"#,
        _ => return None,
    };
    Some(kind.to_owned())
}

fn string(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// A text, a number or a truth as text.
fn scalar(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Map<String, Value>> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// Entries that are not switched off, with their values.
fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let is_on = |one: &&Map<String, Value>| one.get("disabled").and_then(Value::as_bool) != Some(true);
    let pair = |one: &Map<String, Value>| (string(one.get("key")).to_owned(), scalar(one.get("value")));
    list(value).filter(is_on).map(pair).filter(|(key, _)| !key.is_empty()).collect()
}

fn folder(items: &[Value], auth: Option<&Value>, depth: usize, import: &mut Import) {
    if depth == FOLDERS_MAX {
        import.lose("folders that lie too deep");
        return;
    }
    for item in items {
        let own_auth = item.get("auth").filter(|auth| !auth.is_null()).or(auth);
        if let Some(inner) = item.get("item").and_then(Value::as_array) {
            script(item, "prerequest", import, false);
            folder(inner, own_auth, depth + 1, import);
            continue;
        }
        script(item, "prerequest", import, false);
        let is_added = match item.get("request") {
            Some(Value::String(url)) => import.add(Request {
                name: string(item.get("name")).to_owned(),
                url: url.clone(),
                ..Request::default()
            }),
            Some(Value::Object(request)) => {
                let request = request_of(string(item.get("name")), request, own_auth, import);
                import.add(request)
            }
            _ => false,
        };
        script(item, "test", import, is_added);
    }
}

fn request_of(
    name: &str,
    request: &Map<String, Value>,
    auth: Option<&Value>,
    import: &mut Import,
) -> Request {
    let mut url = match request.get("url") {
        Some(Value::String(url)) => url.clone(),
        Some(Value::Object(url)) => {
            for one in list(url.get("variable")) {
                let key = string(one.get("key"));
                if !key.is_empty() {
                    import.known.insert(format!(":{key}"), scalar(one.get("value")));
                }
            }
            string(url.get("raw")).to_owned()
        }
        _ => String::new(),
    };
    url = with_path_variables(&url);
    let mut headers = pairs(request.get("header"));
    let own = request.get("auth").filter(|auth| !auth.is_null());
    authorize(own.or(auth), &mut url, &mut headers, import);
    let method = string(request.get("method")).to_owned();
    Request { name: name.to_owned(), method, url, headers, body: body(request.get("body"), import) }
}

/// `/pets/:id` has a variable as `/pets/{{:id}}` has.
fn with_path_variables(url: &str) -> String {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let segment = |segment: &str| match segment.strip_prefix(':').filter(|name| !name.is_empty()) {
        Some(_) => format!("{{{{{segment}}}}}"),
        None => segment.to_owned(),
    };
    let path: Vec<String> = path.split('/').map(segment).collect();
    query.map_or_else(|| path.join("/"), |query| format!("{}?{query}", path.join("/")))
}

fn authorize(
    auth: Option<&Value>,
    url: &mut String,
    headers: &mut Vec<(String, String)>,
    import: &mut Import,
) {
    let Some(auth) = auth.and_then(Value::as_object) else { return };
    let kind = string(auth.get("type"));
    let of = |key: &str| {
        let found = list(auth.get(kind)).find(|one| string(one.get("key")) == key);
        scalar(found.and_then(|one| one.get("value")))
    };
    // A token that stands there is a secret; a variable is one that a script may set.
    let variable_or =
        |text: String, name: &str| if split(&text).is_some() { text } else { format!("{{{{{name}}}}}") };
    match kind {
        "bearer" => headers.push((
            "Authorization".to_owned(),
            format!("Bearer {}", variable_or(of("token"), "bearer token")),
        )),
        "basic" => {
            import.known.remove("basic user:password in base64");
            headers.push(("Authorization".to_owned(), "Basic {{basic user:password in base64}}".to_owned()));
        }
        "apikey" => {
            let (key, value) = (of("key"), variable_or(of("value"), "api key"));
            match of("in").as_str() {
                "query" => {
                    let joint = if url.contains('?') { '&' } else { '?' };
                    url.push_str(&format!("{joint}{key}={value}"));
                }
                _ => headers.push((key, value)),
            }
        }
        "noauth" | "" => (),
        other => import.lose(format!("authorization by {other}")),
    }
}

fn body(body: Option<&Value>, import: &mut Import) -> Body {
    let Some(body) = body.and_then(Value::as_object) else { return Body::None };
    if body.get("disabled").and_then(Value::as_bool) == Some(true) {
        return Body::None;
    }
    match string(body.get("mode")) {
        "raw" => {
            let kind = match string(body.get("options").and_then(|options| options.pointer("/raw/language")))
            {
                "json" => Some("application/json"),
                "xml" => Some("application/xml"),
                _ => None,
            };
            Body::Text(string(body.get("raw")).to_owned(), kind)
        }
        "urlencoded" => Body::Form(pairs(body.get("urlencoded"))),
        "graphql" => {
            let of = |key: &str| body.get("graphql").map_or("", |graphql| string(graphql.get(key)));
            let variables = serde_json::from_str(of("variables")).unwrap_or(Value::Object(Map::new()));
            let text = serde_json::json!({ "query": of("query"), "variables": variables }).to_string();
            Body::Text(text, Some("application/json"))
        }
        "" => Body::None,
        other => {
            import.lose(format!("a body of mode {other}"));
            Body::None
        }
    }
}

/// Takes from a script what keeps a value of the answer's JSON or of one of its headers, and what is expected of the status.
fn script(item: &Value, listen: &str, import: &mut Import, is_added: bool) {
    let events = item.get("event").and_then(Value::as_array).into_iter().flatten();
    for event in events.filter(|event| string(event.get("listen")) == listen) {
        let lines: Vec<String> = match event.pointer("/script/exec") {
            Some(Value::Array(lines)) => lines.iter().map(|line| string(Some(line)).to_owned()).collect(),
            Some(Value::String(text)) => text.lines().map(str::to_owned).collect(),
            _ => continue,
        };
        let mut aliases = Vec::new();
        for line in lines.iter().take(LINES_MAX) {
            statement(line.trim(), &mut aliases, import, is_added);
        }
    }
}

/// The parts of scripts that are understood.
struct Forms {
    alias: Regex,
    keep: Regex,
    status: Regex,
    ignored: Regex,
}

fn forms() -> Option<&'static Forms> {
    static FORMS: std::sync::OnceLock<Option<Forms>> = std::sync::OnceLock::new();
    let made = || {
        Some(Forms {
            alias: Regex::new(r"^(?:const|let|var)\s+(\w+)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))\s*;?$").ok()?,
            keep: Regex::new(
                r#"^(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable)\(\s*["']([^"']+)["']\s*,\s*(.+?)\s*\)\s*;?$"#,
            )
            .ok()?,
            status: Regex::new(r"pm\.response\.to\.have\.status\(\s*(\d{3})\s*\)").ok()?,
            ignored: Regex::new(r"^(?://.*|/?\*.*|[})\];,\s]*|pm\.test\(.*|console\..*)$").ok()?,
        })
    };
    FORMS.get_or_init(made).as_ref()
}

fn statement(line: &str, aliases: &mut Vec<String>, import: &mut Import, is_added: bool) {
    let Some(forms) = forms() else { return };
    if let Some(found) = forms.alias.captures(line) {
        aliases.push(found[1].to_owned());
        return;
    }
    if let Some(status) = forms.status.captures(line).filter(|_| is_added) {
        let status: Option<u16> = status[1].parse().ok().filter(|status| (200..=599).contains(status));
        if let Some(operation) = import.last() {
            operation.statuses.extend(status.filter(|status| !operation.statuses.contains(status)));
        }
        return;
    }
    if forms.ignored.is_match(line) {
        return;
    }
    let place = forms
        .keep
        .captures(line)
        .filter(|_| is_added)
        .and_then(|found| Some((found[1].to_owned(), place(&found[2], aliases)?)));
    match place {
        Some((variable, place)) => import.give(&variable, place),
        // What follows may be a secret.
        None => {
            let begins: String = line
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || " ._".contains(*c))
                .take(60)
                .collect();
            import.lose(format!("a line of a script, {:?} ...", begins.trim_end()));
        }
    }
}

fn place(expression: &str, aliases: &[String]) -> Option<ValueLocation> {
    for header in ["pm.response.headers.get(", "postman.getResponseHeader("] {
        if let Some(name) = expression.strip_prefix(header) {
            let name = name.trim_end_matches(')').trim().trim_matches(['"', '\'']);
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            return is_name.then(|| ValueLocation::Header(name.to_ascii_lowercase()));
        }
    }
    let of_alias = || aliases.iter().find_map(|alias| expression.strip_prefix(alias.as_str()));
    let path = expression.strip_prefix("pm.response.json()").or_else(of_alias)?;
    let begins = path.starts_with(['.', '[']);
    begins.then(|| pointer(path)).flatten().map(ValueLocation::Json)
}

#[cfg(test)]
#[path = "postman_tests.rs"]
mod tests;
