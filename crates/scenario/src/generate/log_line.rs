//! One line of an access log: the common and the combined form, what servers add to them, and JSON.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A request, as a line says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Since 1970, ns.
    pub time_ns: i128,
    /// The time says no part of its second.
    pub is_whole_second: bool,
    pub method: String,
    /// Path with query.
    pub target: String,
    pub status: Option<u16>,
}

/// Reads a line; absent where it is not understood.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let line = line.trim();
    if line.starts_with('{') { of_json(line) } else { of_text(line) }
}

/// `host identity user [time] "request" status ...`; before it there may be more, such as the name of the server.
fn of_text(line: &str) -> Option<Entry> {
    let (_, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let (_, rest) = rest.split_once('"')?;
    let (request, rest) = rest.split_once('"')?;
    let (method, target) = request_of(request)?;
    let status = rest.split_whitespace().next().and_then(|word| word.parse().ok());
    let (time_ns, is_whole_second) = time_of(time)?;
    Some(Entry { time_ns, is_whole_second, method, target, status })
}

/// `METHOD target HTTP/1.1`
fn request_of(request: &str) -> Option<(String, String)> {
    let mut words = request.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let is_method =
        !method.is_empty() && method.len() <= 16 && method.bytes().all(|byte| byte.is_ascii_uppercase());
    // A proxy logs whole URLs.
    let target = match target.split_once("://") {
        Some((scheme, rest)) if scheme.len() <= 5 => rest.find('/').map_or("/", |slash| &rest[slash..]),
        _ => target,
    };
    (is_method && target.starts_with('/')).then(|| (method.to_owned(), target.to_owned()))
}

fn of_json(line: &str) -> Option<Entry> {
    let object: Map<String, Value> = serde_json::from_str(line).ok()?;
    let text = |keys: &[&str]| {
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
    };
    let whole = text(&["request", "requestLine"]).and_then(|request| request_of(&request));
    let (method, target) = whole.or_else(|| {
        let method = text(&["method", "request_method", "requestMethod", "verb", "http_method"])?;
        let target = text(&["request_uri", "uri", "path", "url", "requestUri", "requestUrl", "target"])?;
        request_of(&format!("{} {target} -", method.to_ascii_uppercase()))
    })?;
    let times = ["time", "timestamp", "@timestamp", "time_local", "time_iso8601", "msec", "ts", "date"];
    let (time_ns, is_whole_second) = time_of(&text(&times)?)?;
    let status =
        text(&["status", "status_code", "statusCode", "code", "response"]).and_then(|text| text.parse().ok());
    Some(Entry { time_ns, is_whole_second, method, target, status })
}

/// Nanoseconds since 1970, and whether parts of a second were left out: in the form of Apache and NGINX, of ISO 8601, or a number of
/// seconds or milliseconds.
fn time_of(text: &str) -> Option<(i128, bool)> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // From 1973 on in milliseconds, until 5138 in seconds.
        let s = if number >= 1e11 { number / 1e3 } else { number };
        return (0.0..1e11).contains(&s).then(|| ((s * 1e9) as i128, s.fract() == 0.0));
    }
    let timestamp = match text.contains('/') {
        true => jiff::fmt::strtime::parse("%d/%b/%Y:%H:%M:%S%.f %z", text).ok()?.to_timestamp().ok()?,
        false => text.parse::<Timestamp>().ok()?,
    };
    Some((timestamp.as_nanosecond(), !text.contains('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2000-10-10 13:55:36 -0700
    const AT_NS: i128 = 971_211_336_000_000_000;

    #[test]
    fn the_forms_of_the_usual_servers_say_the_same() {
        for line in [
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.0" 200 2326"#,
            r#"::1 - - [10/Oct/2000:20:55:36 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "http://h/" "Mozilla/5.0 (X11; [x])" 0.123 0.122"#,
            r#"shop.example:443 10.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET http://shop.example/a?b=1 HTTP/1.1" 200 -"#,
            r#"{"time_iso8601":"2000-10-10T13:55:36-07:00","request":"GET /a?b=1 HTTP/1.1","status":"200","request_time":0.1}"#,
            r#"{"ts":971211336,"request":{"method":"GET","uri":"/a?b=1","host":"h"},"status":200}"#,
            r#"{"@timestamp":"2000-10-10T20:55:36Z","method":"get","path":"/a?b=1","status_code":200}"#,
        ] {
            let want = Entry {
                time_ns: AT_NS,
                is_whole_second: true,
                method: "GET".into(),
                target: "/a?b=1".into(),
                status: Some(200),
            };
            assert_eq!(entry(line), Some(want), "{line}");
        }
        let parts = entry(r#"{"msec":971211336.25,"request":"GET / HTTP/1.1"}"#).expect("good");
        assert_eq!((parts.time_ns - AT_NS, parts.is_whole_second, parts.status), (250_000_000, false, None));
        let ms = entry(r#"{"time":971211336250,"request":"GET / HTTP/1.1"}"#).expect("good");
        assert_eq!(ms.time_ns - AT_NS, 250_000_000);
    }

    #[test]
    fn what_is_no_request_is_none() {
        for line in [
            "",
            "hello",
            r#"h - - [10/Oct/2000:13:55:36 -0700] "-" 400 0"#,
            r#"h - - [10/Oct/2000:13:55:36 -0700] "\x16\x03\x01" 400 0"#,
            r#"h - - [10/Foo/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1"#,
            r#"h - - [10/Oct/2000:13:55:36 -0700] "CONNECT h:443 HTTP/1.0" 200 1"#,
            r#"{"time":"now","request":"GET / HTTP/1.1"}"#,
            r#"{"time":1e300,"request":"GET / HTTP/1.1"}"#,
        ] {
            assert_eq!(entry(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_a_request_or_none(line in ".{0,120}", time in "[0-9/:A-Za-z. +-]{0,30}") {
            let _ = entry(&line);
            let _ = entry(&format!("h - - [{time}] \"GET / HTTP/1.0\" 200 1"));
        }
    }
}
