//! JSON, with the names that servers and proxies give to method, path, time and status: NGINX, Caddy, Traefik, Envoy, Google's load
//! balancer, ECS.

use super::entry::Entry;
use super::text::request_of;
use super::time::time_of;
use serde_json::{Map, Value};

const REQUESTS: [&str; 2] = ["request", "requestLine"];
const METHODS: [&str; 8] = [
    "method",
    "request_method",
    "requestMethod",
    "RequestMethod",
    "verb",
    "http_method",
    "http.request.method",
    ":method",
];
const TARGETS: [&str; 12] = [
    "request_uri",
    "uri",
    "path",
    "url",
    "requestUri",
    "requestUrl",
    "target",
    "RequestPath",
    "url.original",
    "url.path",
    "x-envoy-origin-path",
    ":path",
];
/// A proxy says when the request came and when the line was written; the former is meant.
const TIMES: [&str; 11] = [
    "StartUTC",
    "start_time",
    "time",
    "timestamp",
    "@timestamp",
    "time_local",
    "time_iso8601",
    "msec",
    "ts",
    "date",
    "receiveTimestamp",
];
const STATUSES: [&str; 8] = [
    "status",
    "status_code",
    "statusCode",
    "DownstreamStatus",
    "response_code",
    "code",
    "response",
    "http.response.status_code",
];

/// Reads an object.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let object: Map<String, Value> = serde_json::from_str(line).ok()?;
    // Google's load balancer keeps the request within.
    let request = object.get("httpRequest").and_then(Value::as_object).unwrap_or(&object);
    let whole = text(request, &REQUESTS).and_then(|request| request_of(&request));
    let (method, target) = whole.or_else(|| {
        let (method, target) = (text(request, &METHODS)?, text(request, &TARGETS)?);
        request_of(&format!("{} {target} -", method.to_ascii_uppercase()))
    })?;
    let (time_ns, is_whole_second) = time_of(&text(&object, &TIMES)?)?;
    let status = text(request, &STATUSES).and_then(|text| text.parse().ok());
    Some(Entry { time_ns, is_whole_second, method, target, status })
}

/// The first of these keys that is there, as text.
fn text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // Caddy keeps method and URI within.
        Value::Object(within) if *key == "request" => {
            let [method, uri] = ["method", "uri"].map(|key| within.get(key).and_then(Value::as_str));
            Some(format!("{} {} -", method?, uri?))
        }
        _ => None,
    })
}
