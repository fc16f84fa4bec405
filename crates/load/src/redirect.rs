//! Following a redirect: where it leads, and the request that follows, made from the one that it answers.

use crate::cookies::CookieJar;
use crate::protocol::Answer;
use crate::request::{Request, RequestPart};
use crate::url::BaseUrl;

/// Most redirects of one request.
pub(crate) const REDIRECTS_MAX: u8 = 10;

/// The path with query that a `Location`, or a link, in the answer to a request leads to; absent where it is none, or of another server than
/// the one under load.
pub(crate) fn target_of(location: &str, request: &Request, base: &BaseUrl) -> Option<String> {
    let from = std::str::from_utf8(request.part(RequestPart::Target)).ok()?;
    target(location, from, base, request.authority(base))
}

/// The same; the server under load is also known as `authority`.
fn target(location: &str, from: &str, base: &BaseUrl, authority: &str) -> Option<String> {
    if location.bytes().any(|byte| byte <= b' ' || byte >= 0x7f) {
        return None;
    }
    let location = location.split('#').next().unwrap_or_default();
    let scheme = location.split_once("://").map(|(scheme, _)| scheme);
    let rest = match scheme.filter(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        Some(scheme) if scheme.eq_ignore_ascii_case(base.scheme.name()) => &location[scheme.len() + 1..],
        Some(_) => return None,
        None => location,
    };
    let Some(rest) = rest.strip_prefix("//") else {
        let path = from.split('?').next().unwrap_or_default();
        let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
        return Some(match rest.as_bytes().first() {
            None => from.to_owned(),
            Some(b'/') => rest.to_owned(),
            Some(b'?') => format!("{path}{rest}"),
            Some(_) => format!("{folder}{rest}"),
        });
    };
    let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let usual = format!(":{}", base.scheme.port());
    let bare = |authority: &str| authority.strip_suffix(&usual).unwrap_or(authority).to_ascii_lowercase();
    let slash = if path.starts_with('/') { "" } else { "/" };
    [&base.authority, authority].iter().any(|own| bare(own) == bare(host)).then(|| format!("{slash}{path}"))
}

/// Makes of a request the one that follows its answer, if that leads somewhere that is under load: the same, but for its target and the
/// cookies. After 303, and a POST after 301 and 302, it is a GET without a body (RFC 9110 section 15.4).
pub(crate) fn follow(request: &mut Request, answer: &Answer, base: &BaseUrl, cookies: &CookieJar) -> bool {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) || answer.location.is_empty() {
        return false;
    }
    let method = request.part(RequestPart::Method);
    let location = std::str::from_utf8(&answer.location).ok();
    let Some(target) = location.and_then(|to| target_of(to, request, base)) else { return false };
    let keeps_body = match (answer.status, method) {
        (_, b"HEAD") | (307 | 308, _) => true,
        (303, _) | (_, b"POST") => false,
        _ => true,
    };
    let is_kept = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        keeps_body || !name.eq_ignore_ascii_case(b"content-type")
    };
    let lines = request.part(RequestPart::Headers).split_inclusive(|byte| *byte == b'\n');
    let headers: Vec<u8> = lines.filter(is_kept).flatten().copied().collect();
    let method = if keeps_body { method.to_vec() } else { b"GET".to_vec() };
    request.change((&method, target.as_bytes(), &headers), base, cookies);
    request.has_body &= keeps_body;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(url: &str) -> BaseUrl {
        BaseUrl::parse(url).expect("a good URL")
    }

    #[test]
    fn a_location_leads_to_a_path_of_the_server_or_nowhere() {
        let target =
            |location: &str, from: &str, base: &BaseUrl| target(location, from, base, "shop.example");
        let to = |location: &str| target(location, "/app/list?page=1", &base("http://h:8080"));
        for (location, want) in [
            ("/login", Some("/login")),
            ("/login?to=http://other/", Some("/login?to=http://other/")),
            ("http://H:8080/x?y#z", Some("/x?y")),
            ("http://h:8080", Some("/")),
            ("//h:8080?q", Some("/?q")),
            ("next", Some("/app/next")),
            ("?page=2", Some("/app/list?page=2")),
            ("", Some("/app/list?page=1")),
            ("http://other/", None),
            ("http://shop.example/x", Some("/x")),
            ("https://h:8080/", None),
            ("/a b", None),
            ("/x\r\nEvil: 1", None),
        ] {
            assert_eq!(to(location).as_deref(), want, "{location:?}");
        }
        assert_eq!(target("http://h/", "/", &base("http://h:80")).as_deref(), Some("/"));
        assert_eq!(target("https://h:443/x", "/", &base("https://h")).as_deref(), Some("/x"));
        assert_eq!(target("http://h/x", "/", &base("https://h")), None);
    }

    #[test]
    fn the_next_request_keeps_all_but_what_the_redirect_changes() {
        let (base, mut cookies) = (base("http://h"), CookieJar::default());
        cookies.set(b"id=2", Request::default().destination(&base)).expect("a good cookie");
        let next = |status, to: &str| {
            let mut next = Request::default();
            for (part, text) in [
                (RequestPart::Method, "POST"),
                (RequestPart::Target, "/a"),
                (RequestPart::Headers, "X: 1\r\nContent-Type: t\r\n"),
                (RequestPart::Cookie, "Cookie: id=1\r\n"),
                (RequestPart::Body, "hi"),
            ] {
                next.write(part, |out| out.extend_from_slice(text.as_bytes()));
            }
            next.has_body = true;
            let mut answer = Answer::default();
            answer.begin(false);
            answer.status = status;
            answer.set_location(to.as_bytes());
            let leads = follow(&mut next, &answer, &base, &cookies);
            leads.then(|| {
                let text = |part| String::from_utf8_lossy(next.part(part)).into_owned();
                let [method, target, headers, cookie] =
                    [RequestPart::Method, RequestPart::Target, RequestPart::Headers, RequestPart::Cookie]
                        .map(text);
                (method, target, headers, cookie, next.has_body.then(|| text(RequestPart::Body)))
            })
        };
        let of = |method: &str, headers: &str, body: Option<&str>| {
            let [method, target, headers, cookie] =
                [method, "/b", headers, "Cookie: id=2\r\n"].map(str::to_owned);
            Some((method, target, headers, cookie, body.map(str::to_owned)))
        };
        assert_eq!(next(303, "/b"), of("GET", "X: 1\r\n", None));
        assert_eq!(next(302, "/b"), next(303, "/b"));
        assert_eq!(next(307, "/b"), of("POST", "X: 1\r\nContent-Type: t\r\n", Some("hi")));
        assert_eq!([next(302, "http://other/"), next(200, "/b"), next(302, "")], [None, None, None]);
    }
}
