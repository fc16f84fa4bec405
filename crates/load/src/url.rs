//! The URL under load: `http://host[:port][/prefix]`, `https://...`, or that of another protocol.

use crate::LoadError;
use std::sync::Arc;

/// What a URL begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
    Ws,
    Wss,
    Chat,
    Chats,
    ChatWs,
    ChatWss,
}

impl Scheme {
    const ALL: [Scheme; 8] = [
        Scheme::Http,
        Scheme::Https,
        Scheme::Ws,
        Scheme::Wss,
        Scheme::Chat,
        Scheme::Chats,
        Scheme::ChatWs,
        Scheme::ChatWss,
    ];

    /// As it is written, without what follows it.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Chat => "chat",
            Scheme::Chats => "chats",
            Scheme::Ws => "ws",
            Scheme::Wss => "wss",
            Scheme::ChatWs => "chat+ws",
            Scheme::ChatWss => "chat+wss",
        }
    }

    /// Where a URL names none.
    pub fn port(self) -> u16 {
        match self {
            Scheme::Http | Scheme::Ws => 80,
            Scheme::Https | Scheme::Wss => 443,
            Scheme::Chat | Scheme::Chats | Scheme::ChatWs | Scheme::ChatWss => 8090,
        }
    }

    /// Whether TLS is spoken.
    pub fn is_secure(self) -> bool {
        matches!(self, Scheme::Https | Scheme::Wss | Scheme::Chats | Scheme::ChatWss)
    }

    /// Whether users say lines to each other.
    pub fn is_chat(self) -> bool {
        matches!(self, Scheme::Chat | Scheme::Chats | Scheme::ChatWs | Scheme::ChatWss)
    }

    /// Whether what is said stands in messages of WebSocket.
    pub fn is_websocket(self) -> bool {
        matches!(self, Scheme::Ws | Scheme::Wss | Scheme::ChatWs | Scheme::ChatWss)
    }
}

/// Host, port and path prefix of the server under load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    pub scheme: Scheme,
    /// As in the `Host` header.
    pub authority: Arc<str>,
    /// Name or address without brackets.
    pub host: String,
    pub port: u16,
    /// Put before every path; empty or starting with `/`, without one at its end.
    pub prefix: String,
}

impl BaseUrl {
    /// Reads a base URL.
    pub fn parse(url: &str) -> Result<BaseUrl, LoadError> {
        let (scheme, authority, path) = split(url)?;
        if path.contains(['?', '#']) {
            return Err(wrong(url, "a base URL has no query and no fragment"));
        }
        let (host, port) = host_and_port(url, scheme, authority)?;
        let prefix = path.trim_end_matches('/').to_owned();
        Ok(BaseUrl { scheme, authority: authority.into(), host, port, prefix })
    }

    /// Splits a whole URL into its base and the path with query.
    pub fn split(url: &str) -> Result<(String, String), LoadError> {
        let (scheme, authority, path) = split(url)?;
        host_and_port(url, scheme, authority)?;
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok((format!("{}://{authority}", scheme.name()), format!("{slash}{path}")))
    }
}

fn wrong(url: &str, cause: &str) -> LoadError {
    unlike(url, cause, "http://127.0.0.1:8080 or http://127.0.0.1:8080/path")
}

fn unlike(url: &str, cause: &str, example: &str) -> LoadError {
    let cause = format!("{cause}; write it like {example}");
    LoadError::Url { url: assay_text::redact::word(url).into_owned(), cause }
}

fn split(url: &str) -> Result<(Scheme, &str, &str), LoadError> {
    if url.bytes().any(|byte| byte <= b' ' || byte >= 0x7f) {
        return Err(wrong(url, "it holds a space or a character beyond ASCII; encode it with %"));
    }
    let (name, rest) = url.split_once("://").unwrap_or(("", url));
    let Some(scheme) = Scheme::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name)) else {
        // A name and a port, or a path, that only lacks its scheme.
        let lacks_scheme =
            name.is_empty() && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
        return Err(if lacks_scheme {
            unlike(url, "it has no scheme", &format!("http://{}", assay_text::redact::word(url)))
        } else {
            wrong(
                url,
                "it does not start with http://, https://, ws://, wss://, chat://, chats://, chat+ws:// or chat+wss://",
            )
        });
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Ok((scheme, authority, path))
}

fn host_and_port(url: &str, scheme: Scheme, authority: &str) -> Result<(String, u16), LoadError> {
    if authority.contains('@') {
        return Err(wrong(url, "user and password in a URL are not supported"));
    }
    let after_host = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match authority[after_host..].find(':') {
        Some(colon) => (&authority[..after_host + colon], authority[after_host + colon + 1..].parse().ok()),
        None => (authority, Some(scheme.port())),
    };
    let port = port.filter(|port| *port > 0);
    let port = port.ok_or_else(|| wrong(url, "its port is not a number from 1 to 65535"))?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() {
        return Err(wrong(url, "it names no host"));
    }
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base(url: &str) -> (String, u16, String) {
        let base = BaseUrl::parse(url).expect("a good URL");
        (base.host, base.port, base.prefix)
    }

    #[test]
    fn host_port_and_prefix_are_told_apart() {
        assert_eq!(base("http://127.0.0.1:8080"), ("127.0.0.1".into(), 8080, String::new()));
        assert_eq!(base("http://example/app/"), ("example".into(), 80, "/app".into()));
        assert_eq!(base("https://example/"), ("example".into(), 443, String::new()));
        assert_eq!(base("http://[::1]:9/"), ("::1".into(), 9, String::new()));
    }

    #[test]
    fn a_whole_url_splits_into_base_and_path_with_query() {
        let split = |url| BaseUrl::split(url).expect("a good URL");
        assert_eq!(split("http://h:1/a?b=c#d"), ("http://h:1".into(), "/a?b=c".into()));
        assert_eq!(split("http://h"), ("http://h".into(), "/".into()));
        assert_eq!(split("HTTPS://h/a"), ("https://h".into(), "/a".into()));
        assert_eq!(split("http://h?x"), ("http://h".into(), "/?x".into()));
    }

    #[test]
    fn bad_urls_say_what_is_wrong() {
        for (url, cause) in [
            ("ftp://h/", "does not start with http://, https://, ws://"),
            ("h:80", "it has no scheme; write it like http://h:80"),
            ("http://:80", "names no host"),
            ("http://h:0", "port"),
            ("http://h:http", "port"),
            ("http://u:p@h/", "password"),
            ("http://h/a b", "space"),
            ("http://h/?q", "no query"),
        ] {
            let error = BaseUrl::parse(url).expect_err(url).to_string();
            assert!(error.contains(cause), "{url}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_url_or_an_error(url in "((https?|wss?|chats?|chat[+]wss?)://)?[\\[\\]:/@a-z0-9 é?#.]{0,40}") {
            let _ = BaseUrl::parse(&url);
            let _ = BaseUrl::split(&url);
        }
    }
}
