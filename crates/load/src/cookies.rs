//! The cookies of one session, after RFC 6265: names and values that the server sets, and gets back where they belong.
//!
//! The crate `cookie` reads what a server sets; which request a cookie belongs to is decided here, since a user has one or two cookies and
//! each of its requests asks. `cookie_store` 0.22 keeps three maps in each other and wants a parsed URL for each request, which allocates.
//! One server is under load, so a cookie of another domain is not kept at all. `SameSite` says nothing: all requests are of one site.

use crate::url::BaseUrl;
use cookie::Cookie;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most cookies of a session; further ones are dropped.
const COOKIES_MAX: usize = 50;
/// Longest name with value, bytes (RFC 6265 section 6.1 asks for at least 4096); longer ones are dropped.
const COOKIE_BYTES_MAX: usize = 4096;
/// Longest `Path`, bytes; a cookie with a longer one is dropped.
const PATH_BYTES_MAX: usize = 1024;
/// The expiry of a cookie that lasts as long as its session.
const NEVER_S: i64 = i64::MAX;

/// Why a cookie is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It cannot be read, or is too long, or one too many.
    #[error("is not a cookie of at most 4 KiB, or is one of more than 50")]
    Unfit,
    /// Its `Domain` does not hold the server under load (section 5.3, step 6).
    #[error("has a Domain that is not the server under load")]
    Domain,
    /// RFC 6265bis, section 5.7, steps 8 and 12 to 14.
    #[error(
        "is Secure, and the server is loaded over http://, so it is not sent back; load it over https://, or have the server set it \
         without Secure"
    )]
    Secure,
    /// `__Host-` and `__Secure-` (RFC 6265bis, section 4.1.3).
    #[error("has a prefix, __Host- or __Secure-, that promises what its attributes do not keep")]
    Prefix,
}

/// Where a request goes, as far as cookies depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    is_secure: bool,
    /// The name by which the request asks for the server.
    host: &'a str,
    path: &'a [u8],
}

impl<'a> Destination<'a> {
    /// A path with query of the server under load.
    pub fn new(base: &'a BaseUrl, target: &'a [u8]) -> Destination<'a> {
        let end = memchr::memchr(b'?', target).unwrap_or(target.len());
        Destination { is_secure: base.scheme.is_secure(), host: &base.host, path: &target[..end] }
    }

    /// The same, where the request asks for the server by another authority than the URL under load.
    pub fn named(self, authority: &'a str) -> Destination<'a> {
        let host = match authority.rfind(':') {
            Some(colon) if !authority.ends_with(']') => &authority[..colon],
            _ => authority,
        };
        Destination { host: host.trim_matches(['[', ']']), ..self }
    }

    /// The path of a cookie that names none: section 5.1.4.
    fn default_path(&self) -> &'a [u8] {
        match memchr::memrchr(b'/', self.path) {
            None | Some(0) => b"/",
            Some(slash) => &self.path[..slash],
        }
    }

    /// Section 5.1.4.
    fn is_within(&self, path: &[u8]) -> bool {
        let Some(rest) = self.path.strip_prefix(path) else { return false };
        rest.is_empty() || path.ends_with(b"/") || rest.starts_with(b"/")
    }

    /// Whether a host belongs to a domain: section 5.1.3. An address is no part of one.
    fn is_of(&self, domain: &str) -> bool {
        let host = self.host.as_bytes();
        let Some(at) = host.len().checked_sub(domain.len()) else { return false };
        host[at..].eq_ignore_ascii_case(domain.as_bytes())
            && (at == 0 || host[at - 1] == b'.' && self.host.parse::<std::net::IpAddr>().is_err())
    }
}

#[derive(Debug, Clone)]
struct Stored {
    name: Box<str>,
    value: String,
    /// As it was said; none where that is the host itself.
    domain: Option<Box<str>>,
    path: Box<[u8]>,
    /// Seconds since 1970.
    expires_s: i64,
}

/// The cookies of a session, in the order in which they are sent: those of longer paths first, and of one length by their first setting
/// (section 5.4, step 2).
#[derive(Debug, Clone, Default)]
pub(crate) struct CookieJar {
    cookies: Vec<Stored>,
}

impl CookieJar {
    /// Takes in the value of one `Set-Cookie` header of an answer: section 5.3.
    ///
    /// # Errors
    /// The name of a cookie that is not kept, and why.
    pub fn set<'h>(&mut self, header: &'h [u8], from: Destination) -> Result<(), (&'h str, Refusal)> {
        let text = std::str::from_utf8(header).map_err(|_| ("", Refusal::Unfit))?;
        let name = text.split(['=', ';']).next().unwrap_or_default().trim();
        self.keep(text, from, unix_s()).map_err(|refusal| (name, refusal))
    }

    fn keep(&mut self, text: &str, from: Destination, now_s: i64) -> Result<(), Refusal> {
        let cookie = Cookie::parse(text).map_err(|_| Refusal::Unfit)?;
        let (name, value) = cookie.name_value();
        if COOKIE_BYTES_MAX < name.len() + value.len() || has_control(name) || has_control(value) {
            return Err(Refusal::Unfit);
        }
        let domain = cookie.domain().filter(|domain| !domain.is_empty());
        if domain.is_some_and(|domain| !from.is_of(domain)) {
            return Err(Refusal::Domain);
        }
        let is_secure = cookie.secure() == Some(true);
        let path = cookie.path().filter(|path| path.starts_with('/')).map(str::as_bytes);
        let is_of_host = domain.is_none() && path == Some(b"/");
        if (name.starts_with("__Secure-") && !is_secure)
            || (name.starts_with("__Host-") && !(is_secure && is_of_host))
        {
            return Err(Refusal::Prefix);
        }
        if is_secure && !from.is_secure {
            return Err(Refusal::Secure);
        }
        let path = path.unwrap_or_else(|| from.default_path());
        let domain = domain.filter(|domain| !domain.eq_ignore_ascii_case(from.host));
        let is_it = |known: &Stored| {
            *known.name == *name && *known.path == *path && known.domain.as_deref() == domain
        };
        let known = self.cookies.iter().position(is_it);
        let expires_s = expiry_s(&cookie, now_s);
        match known {
            Some(at) if expires_s <= now_s => drop(self.cookies.remove(at)),
            Some(at) => {
                value.clone_into(&mut self.cookies[at].value);
                self.cookies[at].expires_s = expires_s;
            }
            None if expires_s <= now_s => (),
            None => {
                self.cookies.retain(|one| now_s < one.expires_s);
                if COOKIES_MAX <= self.cookies.len() || PATH_BYTES_MAX < path.len() {
                    return Err(Refusal::Unfit);
                }
                let at = self.cookies.partition_point(|before| path.len() <= before.path.len());
                let (domain, path) = (domain.map(Into::into), path.into());
                self.cookies.insert(
                    at,
                    Stored { name: name.into(), value: value.to_owned(), domain, path, expires_s },
                );
            }
        }
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Appends the `Cookie` header line of a request, if any cookie belongs to it.
    pub fn write_header(&self, to: Destination, out: &mut Vec<u8>) {
        // Nothing asks for the time where no cookie has one.
        let now_s = if self.cookies.iter().all(|one| one.expires_s == NEVER_S) { 0 } else { unix_s() };
        self.write_header_at(to, now_s, out);
    }

    fn write_header_at(&self, to: Destination, now_s: i64, out: &mut Vec<u8>) {
        let mut before: &[u8] = b"Cookie: ";
        for Stored { name, value, .. } in
            self.cookies.iter().filter(|one| now_s < one.expires_s && to.is_within(&one.path))
        {
            for part in [before, name.as_bytes(), b"=", value.as_bytes()] {
                out.extend_from_slice(part);
            }
            before = b"; ";
        }
        if before == b"; " {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// A new session has none.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }
}

fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

fn has_control(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_control())
}

/// Until when a cookie is kept. `Max-Age` goes before `Expires` (section 5.3, step 3).
fn expiry_s(cookie: &Cookie<'_>, now_s: i64) -> i64 {
    match (cookie.max_age(), cookie.expires_datetime()) {
        (Some(age), _) => now_s.saturating_add(age.whole_seconds().max(0)),
        (None, Some(at)) => at.unix_timestamp(),
        (None, None) => NEVER_S,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW_S: i64 = 1_800_000_000;

    fn base(url: &str) -> BaseUrl {
        BaseUrl::parse(url).expect("a good URL")
    }

    /// The line that is sent to a path, after each header was set by an answer to another.
    fn sent(url: &str, set: &[(&str, &str)], to: &str) -> String {
        let (base, mut jar, mut out) = (base(url), CookieJar::default(), Vec::new());
        for (from, header) in set {
            let _ = jar.keep(header, Destination::new(&base, from.as_bytes()), NOW_S);
        }
        jar.write_header_at(Destination::new(&base, to.as_bytes()), NOW_S, &mut out);
        String::from_utf8(out).expect("text").trim_end().to_owned()
    }

    #[track_caller]
    fn check(set: &[&str], want: &str) {
        let set: Vec<(&str, &str)> = set.iter().map(|header| ("/", *header)).collect();
        assert_eq!(sent("http://h", &set, "/"), want);
    }

    #[test]
    fn names_and_values_come_back_without_attributes() {
        check(
            &["JSESSIONID=0001:xyz; Path=/; HttpOnly", "theme=dark"],
            "Cookie: JSESSIONID=0001:xyz; theme=dark",
        );
        check(&["a=\"q v\"; SameSite=Lax; Partitioned", "b=3=3"], "Cookie: a=\"q v\"; b=3=3");
    }

    #[test]
    fn a_cookie_set_again_has_its_new_value_at_its_old_place() {
        check(&["a=1", "b=2", "a=3"], "Cookie: a=3; b=2");
    }

    #[test]
    fn a_cookie_lasts_as_long_as_its_attributes_say() {
        check(&["a=1", "a=; Max-Age=0"], "");
        check(&["a=1", "a=; Max-Age=-1"], "");
        check(&["a=1", "a=\"\"; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"], "");
        check(&["a=1", "a=; Expires=Thu, 01-Jan-1970 00:00:10 GMT"], "");
        check(&["a=1; Expires=Wed, 21 Oct 2071 07:28:00 GMT"], "Cookie: a=1");
        check(&["a=1; Max-Age=100"], "Cookie: a=1");
        check(&["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], "Cookie: a=1");
        let (base, mut jar) = (base("http://h"), CookieJar::default());
        let to = Destination::new(&base, b"/");
        jar.keep("short=1; Max-Age=60", to, NOW_S).expect("kept");
        jar.keep("long=1", to, NOW_S).expect("kept");
        for (later_s, want) in [(59, "Cookie: short=1; long=1\r\n"), (60, "Cookie: long=1\r\n")] {
            let mut out = Vec::new();
            jar.write_header_at(to, NOW_S + later_s, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), want);
        }
    }

    #[test]
    fn a_cookie_goes_to_the_paths_that_it_belongs_to() {
        let two = [
            ("/shop/login", "JSESSIONID=shop; Path=/shop; HttpOnly"),
            ("/admin/login", "JSESSIONID=admin; Path=/admin"),
            ("/", "all=1; Path=/"),
        ];
        for (to, want) in [
            ("/shop/cart?x=/admin", "Cookie: JSESSIONID=shop; all=1"),
            ("/admin", "Cookie: JSESSIONID=admin; all=1"),
            ("/shopping", "Cookie: all=1"),
            ("/", "Cookie: all=1"),
        ] {
            assert_eq!(sent("http://h", &two, to), want, "{to}");
        }
        // Without a path, or with one that is none: the folder of the request.
        let folder =
            [("/a/b/login?next=/c/", "x=1"), ("/a/b/login", "y=1; Path=relative"), ("/login", "z=1")];
        assert_eq!(sent("http://h", &folder, "/a/b/c"), "Cookie: x=1; y=1; z=1");
        assert_eq!(sent("http://h", &folder, "/a/bc"), "Cookie: z=1");
        // One is ended where it was set, and no other of its name.
        let ended = [("/", "a=1; Path=/x/"), ("/", "a=2; Path=/"), ("/x/", "a=; Path=/x/; Max-Age=0")];
        assert_eq!(sent("http://h", &ended[..2], "/x/y"), "Cookie: a=1; a=2");
        assert_eq!(sent("http://h", &ended, "/x/y"), "Cookie: a=2");
    }

    #[test]
    fn a_cookie_of_another_domain_is_refused() {
        let refused = |url: &str, header: &str| {
            let base = base(url);
            CookieJar::default().keep(header, Destination::new(&base, b"/"), NOW_S).err()
        };
        for (url, header, want) in [
            ("http://shop.example.com", "a=1; Domain=example.com", None),
            ("http://shop.example.com", "a=1; Domain=.Shop.Example.com", None),
            ("http://shop.example.com", "a=1; Domain=other.com", Some(Refusal::Domain)),
            ("http://shop.example.com", "a=1; Domain=p.example.com", Some(Refusal::Domain)),
            ("http://shop.example.com", "a=1; Domain=op.example.com", Some(Refusal::Domain)),
            ("http://127.0.0.1", "a=1; Domain=0.0.1", Some(Refusal::Domain)),
            ("http://127.0.0.1", "a=1; Domain=127.0.0.1", None),
            ("http://h", "a=1; Secure", Some(Refusal::Secure)),
            ("https://h", "a=1; Secure", None),
            ("https://h", "__Host-a=1; Secure; Path=/", None),
            ("https://h", "__Host-a=1; Secure", Some(Refusal::Prefix)),
            ("https://h", "__Host-a=1; Secure; Path=/; Domain=h", Some(Refusal::Prefix)),
            ("https://h", "__Secure-a=1", Some(Refusal::Prefix)),
        ] {
            assert_eq!(refused(url, header), want, "{url} {header}");
        }
    }

    #[test]
    fn the_host_of_a_cookie_is_the_one_that_the_request_names() {
        let base = base("http://127.0.0.1:8080");
        let to = Destination::new(&base, b"/");
        for (to, want) in [
            (to.named("shop.example.com:81"), Ok(())),
            (to.named("example.com"), Ok(())),
            (to.named("[::1]"), Err(Refusal::Domain)),
            (to, Err(Refusal::Domain)),
        ] {
            assert_eq!(CookieJar::default().keep("a=1; Domain=example.com", to, NOW_S), want, "{to:?}");
        }
    }

    #[test]
    fn nonsense_sets_nothing() {
        check(&["", ";", "=x", "novalue", "b\rad=1", "evil=a\nHost: b"], "");
    }

    #[test]
    fn a_server_cannot_fill_memory_with_cookies() {
        let (base, mut jar) = (base("http://h"), CookieJar::default());
        let from = Destination::new(&base, b"/");
        for n in 0..1000 {
            let _ = jar.set(format!("c{n}=v").as_bytes(), from);
        }
        let big = [b"big=".as_slice(), &vec![b'x'; 10_000]].concat();
        assert_eq!(jar.set(&big, from), Err(("big", Refusal::Unfit)));
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_set_at_most_one_clean_cookie(
            header in proptest::collection::vec(any::<u8>(), 0..300),
            target in "/[a-z/?]{0,20}",
        ) {
            let (base, mut jar, mut out) = (base("http://h"), CookieJar::default(), Vec::new());
            let to = Destination::new(&base, target.as_bytes());
            let _ = jar.set(&header, to);
            jar.write_header(to, &mut out);
            let lines = out.iter().filter(|byte| **byte == b'\n').count();
            prop_assert!(lines <= 1 && jar.cookies.len() <= 1);
        }
    }
}
