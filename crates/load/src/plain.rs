//! The scenario of a plain URL.

use crate::LoadError;
use crate::url::BaseUrl;
use assay_model::schema;
use assay_scenario::Scenario;
use assay_text::redact;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fmt::Write as _;
use std::time::Duration;

/// Headers that hold secrets, whatever a list of names says.
const SECRET_HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// A request to a URL for which there is no scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainRequest {
    /// In capitals; absent: GET, or POST where there is a body.
    pub method: Option<String>,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// As it is sent.
    pub body: Option<String>,
    /// From getting a connection to the whole answer; absent: ten seconds.
    pub timeout: Option<Duration>,
    /// Redirects on the same server are followed.
    pub follow_redirects: bool,
}

impl PlainRequest {
    /// The value of an `Authorization` header for a user and password, `user:password` (RFC 7617).
    pub fn basic(user: &str) -> String {
        format!("Basic {}", BASE64_STANDARD.encode(user))
    }
}

/// How values of secret headers stand in the text of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretsStand {
    /// Beside it: the text can be stored.
    Beside,
    /// In it.
    Within,
}

/// The scenario of a plain URL: one GET. Returns the base URL with it.
///
/// # Errors
/// The URL is not one that the generator can load.
pub fn for_url(url: &str) -> Result<(String, Scenario), LoadError> {
    for_request(url, &PlainRequest::default())
}

/// The scenario of one request. What is secret in its headers is not in the scenario's text.
///
/// # Errors
/// The URL is not one that the generator can load, or the request cannot be sent to it.
pub fn for_request(url: &str, request: &PlainRequest) -> Result<(String, Scenario), LoadError> {
    let (base, text, secrets) = written(url, request, SecretsStand::Beside)?;
    Ok((base, Scenario::with_secrets(&text, url, secrets)?))
}

/// The text of the same scenario with its secrets in it, to be read again, and stored nowhere. Returns the base URL with it.
///
/// # Errors
/// As of [`for_request`].
pub fn scenario_text_of(url: &str, request: &PlainRequest) -> Result<(String, String), LoadError> {
    written(url, request, SecretsStand::Within).map(|(base, text, _)| (base, text))
}

/// Base URL, text, and names and values of secrets.
type Written = (String, String, Vec<(String, String)>);

fn written(url: &str, request: &PlainRequest, stand: SecretsStand) -> Result<Written, LoadError> {
    let (base, path) = BaseUrl::split(url)?;
    if BaseUrl::parse(&base)?.scheme.is_chat() {
        if *request != PlainRequest::default() {
            let (value, fix) =
                (url.to_owned(), "leave headers, body and other options of a request out".into());
            return Err(LoadError::Setting { name: "request to a chat", value, fix });
        }
        let text = format!("schema = \"{}\"\nname = \"chat\"\n\n[chat]\n", schema::SCENARIO_FILE);
        return Ok((base, text, Vec::new()));
    }
    // A brace may not stand in a URL, and would begin the name of a value here.
    let path = path.replace('{', "%7B").replace('}', "%7D");
    let method = request.method.as_deref().unwrap_or(if request.body.is_some() { "POST" } else { "GET" });
    let quoted = |text: &str| toml::Value::String(text.to_owned());
    // Braces that enclose a name would be taken for that of a value: such texts are values themselves.
    let (mut values, mut secrets) = (String::new(), Vec::new());
    let mut literal = |text: &str, kind: &str| {
        if !text.contains('{') {
            return quoted(text);
        }
        let name = format!("text-{}", values.lines().count() + 1);
        let _ = writeln!(values, "{name} = {{ kind = \"{kind}\", values = [{}] }}", quoted(text));
        quoted(&format!("{{{name}}}"))
    };
    let headers: Vec<String> = request
        .headers
        .iter()
        .map(|(name, value)| {
            let is_cookie = name.eq_ignore_ascii_case("cookie");
            if stand == SecretsStand::Beside && is_secret(name) && is_hideable(value) {
                let mut hide = |value: &str| {
                    let variable = format!("HEADER_{}", secrets.len() + 1);
                    secrets.push((variable.clone(), value.to_owned()));
                    format!("${{env:{variable}}}")
                };
                let has_names = is_cookie && !value.contains('{');
                let text = if has_names { cookies_without_values(value, &mut hide) } else { hide(value) };
                return format!("{} = {}", quoted(name), quoted(&text));
            }
            // Cookies are filled in at the start of a session.
            let kind = if is_cookie { "session-list" } else { "list" };
            format!("{} = {}", quoted(name), literal(value, kind))
        })
        .collect();
    let mut operation = format!(
        "name = {}\nmethod = {}\npath = {}\n",
        quoted(&format!("{method} {path}")),
        quoted(method),
        quoted(&path)
    );
    if !headers.is_empty() {
        let _ = writeln!(operation, "headers = {{ {} }}", headers.join(", "));
    }
    if let Some(body) = &request.body {
        let _ = writeln!(operation, "body = {}", literal(body, "list"));
    }
    if let Some(timeout) = request.timeout {
        let _ = writeln!(operation, "timeout_ms = {}", timeout.as_millis());
    }
    if request.follow_redirects {
        operation += "follow_redirects = true\n";
    }
    let values = if values.is_empty() { values } else { format!("[values]\n{values}\n") };
    let text = format!(
        "schema = \"{}\"\nname = {}\n\n{values}[[operation]]\n{operation}",
        schema::SCENARIO_FILE,
        quoted(&path)
    );
    Ok((base, text, secrets))
}

/// A list of cookies in which something else stands for their values, so that these alone are kept out of texts.
fn cookies_without_values(cookies: &str, hide: &mut dyn FnMut(&str) -> String) -> String {
    let each = cookies.split(';').map(str::trim).map(|cookie| match cookie.split_once('=') {
        Some((name, value)) if is_hideable(value) => format!("{name}={}", hide(value)),
        _ => cookie.to_owned(),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Whether what stands behind a header's name is not to be shown.
fn is_secret(name: &str) -> bool {
    let shown = redact::value(name, "shown");
    SECRET_HEADERS.iter().any(|secret| name.eq_ignore_ascii_case(secret)) || shown != "shown"
}

/// Whether it is long enough to be kept out of texts.
fn is_hideable(value: &str) -> bool {
    value.len() >= Scenario::SECRET_BYTES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(request: &PlainRequest) -> Scenario {
        for_request("http://h/a?b={c}", request).expect("a good request").1
    }

    #[test]
    fn a_plain_url_is_one_get() {
        let (base, scenario) = for_url("http://h:81/a").expect("a good URL");
        assert_eq!((base.as_str(), scenario.operations.len()), ("http://h:81", 1));
        assert_eq!(scenario.operations[0].name, "GET /a");
    }

    #[test]
    fn braces_of_bodies_and_headers_are_themselves() {
        let headers = vec![("X-Query".to_owned(), "{me}".to_owned())];
        let body = Some("{me} and {\"a\": \"\\\"\"}\n".to_owned());
        let scenario = of(&PlainRequest { headers, body, ..PlainRequest::default() });
        assert_eq!(scenario.operations[0].method, "POST");
        assert!(
            scenario.text().contains("{text-1}") && scenario.text().contains("{text-2}"),
            "{}",
            scenario.text()
        );
    }

    #[test]
    fn values_of_cookies_are_beside_the_text_which_has_their_names() {
        for (cookies, hidden, shown) in [
            ("a=1; session=t0ken=0f=me", "t0ken=0f=me", "a=1; session=${env:HEADER_1}"),
            ("session={me}", "{me}", "${env:HEADER_1}"),
            ("a={b}", "a={b}", "${env:HEADER_1}"),
        ] {
            let headers = vec![("cookie".to_owned(), cookies.to_owned())];
            let request = PlainRequest { headers, ..PlainRequest::default() };
            let scenario = of(&request);
            assert!(
                scenario.text().contains(shown) && !scenario.text().contains(hidden),
                "{}",
                scenario.text()
            );
            assert_eq!(scenario.cookies.len(), 1);
            let (_, text) = scenario_text_of("http://h/", &request).expect("a good request");
            assert!(Scenario::look(&text, "h").is_ok(), "{text}");
        }
    }

    #[test]
    fn secrets_are_beside_the_text_and_in_that_which_is_read_again() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("authorization", "Bearer abc{d}"),
            header("X-Api-Key", "k3y-0f-m1ne"),
            header("Accept", "text/html"),
        ];
        let request = PlainRequest { headers, ..PlainRequest::default() };
        let scenario = of(&request);
        for secret in ["abc", "k3y-0f-m1ne"] {
            assert!(!scenario.text().contains(secret), "{}", scenario.text());
            assert!(!scenario.secrets().redacted("it said Bearer abc{d} k3y-0f-m1ne").contains(secret));
        }
        assert!(scenario.text().contains("text/html"));
        let (_, text) = scenario_text_of("http://h/", &request).expect("a good request");
        assert!(text.contains("Bearer abc") && text.contains("k3y-0f-m1ne"));
        assert!(Scenario::look(&text, "h").is_ok());
        let shown = redact::text(&text);
        assert!(!shown.contains("k3y-0f-m1ne"), "{shown}");
    }
}
