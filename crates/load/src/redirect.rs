//! Following a redirect: where it leads, and the request that follows, made from the one that it answers.

use crate::cookies::CookieJar;

/// Most redirects of one request.
pub(crate) const REDIRECTS_MAX: u8 = 10;

/// Whether an answer with this status may lead elsewhere.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The path with query that a `Location` leads to from another one; absent where it is none, or of another server than the one under
/// load.
fn target(location: &str, from: &str, authority: &str) -> Option<String> {
    if location.bytes().any(|byte| byte <= b' ' || byte >= 0x7f) {
        return None;
    }
    let location = location.split('#').next().unwrap_or_default();
    let scheme = location.split_once("://").map(|(scheme, _)| scheme);
    let rest = match scheme.filter(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        Some(scheme) if scheme.eq_ignore_ascii_case("http") => &location["http:".len()..],
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
    let bare = |authority: &str| authority.strip_suffix(":80").unwrap_or(authority).to_ascii_lowercase();
    let slash = if path.starts_with('/') { "" } else { "/" };
    (bare(host) == bare(authority)).then(|| format!("{slash}{path}"))
}

/// The request that follows one which was answered with this status and `Location`: the same, but for its target and the cookies.
/// After 303, and a POST after 301 and 302, it is a GET without a body (RFC 9110 section 15.4). Absent where it leads nowhere that is
/// under load.
pub(crate) fn followed(
    request: &[u8],
    (status, location): (u16, &[u8]),
    authority: &str,
    cookies: &CookieJar,
) -> Option<Vec<u8>> {
    let end = memchr::memmem::find(request, b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&request[..end]).ok()?, &request[end + 4..]);
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, from) = (words.next()?, words.next()?);
    let target = target(std::str::from_utf8(location).ok()?, from, authority)?;
    let keeps_body = match (status, method) {
        (_, "HEAD") | (307 | 308, _) => true,
        (303, _) | (_, "POST") => false,
        _ => true,
    };
    let mut next = format!("{} {target} HTTP/1.1\r\n", if keeps_body { method } else { "GET" }).into_bytes();
    for line in lines {
        let name = line.split(':').next().unwrap_or_default();
        let is_any = |names: &[&str]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
        if !is_any(&["cookie"]) && (keeps_body || !is_any(&["content-length", "content-type"])) {
            next.extend_from_slice(line.as_bytes());
            next.extend_from_slice(b"\r\n");
        }
    }
    cookies.write_header(&mut next);
    next.extend_from_slice(b"\r\n");
    next.extend_from_slice(if keeps_body { body } else { b"" });
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_leads_to_a_path_of_the_server_or_nowhere() {
        let to = |location: &str| target(location, "/app/list?page=1", "h:8080");
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
            ("https://h:8080/", None),
            ("/a b", None),
            ("/x\r\nEvil: 1", None),
        ] {
            assert_eq!(to(location).as_deref(), want, "{location:?}");
        }
        assert_eq!(target("http://h/", "/", "h:80").as_deref(), Some("/"));
    }

    #[test]
    fn the_next_request_keeps_all_but_what_the_redirect_changes() {
        let mut cookies = CookieJar::default();
        cookies.set(b"id=2");
        let post = b"POST /a HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Type: t\r\nCookie: id=1\r\nContent-Length: 2\r\n\r\nhi";
        let next = |status| {
            let next = followed(post, (status, b"/b"), "h", &cookies).expect("it leads somewhere");
            String::from_utf8(next).expect("text")
        };
        assert_eq!(next(303), "GET /b HTTP/1.1\r\nHost: h\r\nX: 1\r\nCookie: id=2\r\n\r\n");
        assert_eq!(next(302), next(303));
        assert_eq!(
            next(307),
            "POST /b HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Type: t\r\nContent-Length: 2\r\nCookie: id=2\r\n\r\nhi"
        );
        assert!(followed(post, (302, b"http://other/"), "h", &cookies).is_none());
    }
}
