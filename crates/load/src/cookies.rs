//! The cookies of one session: names and values that the server sets and gets back.
//!
//! Honoured: `Max-Age` of zero or less and an `Expires` long past, both of which delete, as servers use them to end a
//! session. Not supported, since one scenario talks to one server: `Domain`, `Path`, `Secure`, `SameSite`, and
//! times after which a cookie would expire during a run.

use cookie::Cookie;

/// Most cookies of a session; further ones are dropped.
const COOKIES_MAX: usize = 50;
/// Longest name with value, bytes (RFC 6265 section 6.1 asks for at least 4096); longer ones are dropped.
const COOKIE_BYTES_MAX: usize = 4096;

/// An `Expires` before this time (the year 2000, seconds since 1970) deletes. Servers write the epoch, or ten seconds later;
/// no clock is asked, so that a run does not depend on the day.
const EXPIRED_BEFORE_S: i64 = 946_684_800;

/// Cookies by name, in the order of their first setting.
#[derive(Debug, Clone, Default)]
pub(crate) struct CookieJar {
    cookies: Vec<(Box<str>, String)>,
}

impl CookieJar {
    /// Takes in the value of one `Set-Cookie` header.
    pub fn set(&mut self, header: &[u8]) {
        let Ok(cookie) =
            std::str::from_utf8(header).map_err(drop).and_then(|text| Cookie::parse(text).map_err(drop))
        else {
            return;
        };
        let (name, value) = cookie.name_value();
        if COOKIE_BYTES_MAX < name.len() + value.len() || has_control(name) || has_control(value) {
            return;
        }
        let known = self.cookies.iter().position(|(known, _)| **known == *name);
        match (known, deletes(&cookie)) {
            (Some(at), true) => {
                self.cookies.remove(at);
            }
            (None, true) => (),
            (Some(at), false) => value.clone_into(&mut self.cookies[at].1),
            (None, false) if self.cookies.len() < COOKIES_MAX => {
                self.cookies.push((name.into(), value.to_owned()));
            }
            (None, false) => (),
        }
    }

    /// Appends the `Cookie` header line, if there is any cookie.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        for (position, (name, value)) in self.cookies.iter().enumerate() {
            out.extend_from_slice(if position == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(value.as_bytes());
        }
        if !self.cookies.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// A new session has none.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }
}

fn has_control(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_control())
}

/// Whether the attributes delete the cookie. `Max-Age` goes before `Expires` (RFC 6265 section 5.3).
fn deletes(cookie: &Cookie<'_>) -> bool {
    match cookie.max_age() {
        Some(age) => age.is_zero(),
        None => cookie.expires_datetime().is_some_and(|at| at.unix_timestamp() < EXPIRED_BEFORE_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(set: &[&str], want: &str) {
        let mut jar = CookieJar::default();
        for header in set {
            jar.set(header.as_bytes());
        }
        let mut out = Vec::new();
        jar.write_header(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), want);
    }

    #[test]
    fn names_and_values_come_back_without_attributes() {
        check(
            &["JSESSIONID=0001:xyz; Path=/; HttpOnly", "theme=dark"],
            "Cookie: JSESSIONID=0001:xyz; theme=dark\r\n",
        );
    }

    #[test]
    fn a_cookie_set_again_has_its_new_value() {
        check(&["a=1", "b=2", "a=3"], "Cookie: a=3; b=2\r\n");
    }

    #[test]
    fn max_age_zero_and_an_expiry_in_1970_delete() {
        check(&["a=1", "a=; Max-Age=0"], "");
        check(&["a=1", "a=; Max-Age=-1"], "");
        check(&["a=1", "a=\"\"; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"], "");
        check(&["a=1", "a=; Expires=Thu, 01-Jan-1970 00:00:10 GMT"], "");
        check(&["a=1; Expires=Wed, 21 Oct 2071 07:28:00 GMT"], "Cookie: a=1\r\n");
        check(&["a=1; Max-Age=100"], "Cookie: a=1\r\n");
        check(&["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], "Cookie: a=1\r\n");
    }

    #[test]
    fn nonsense_sets_nothing() {
        check(&["", ";", "=x", "novalue", "b\rad=1", "evil=a\nHost: b"], "");
    }

    #[test]
    fn a_server_cannot_fill_memory_with_cookies() {
        let many: Vec<String> = (0..1000).map(|n| format!("c{n}=v")).collect();
        let mut jar = CookieJar::default();
        many.iter().for_each(|cookie| jar.set(cookie.as_bytes()));
        jar.set(&[b"big=".as_slice(), &vec![b'x'; 10_000]].concat());
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_set_at_most_one_clean_cookie(header in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut jar = CookieJar::default();
            jar.set(&header);
            let mut out = Vec::new();
            jar.write_header(&mut out);
            let lines = out.iter().filter(|byte| **byte == b'\n').count();
            prop_assert!(lines <= 1 && jar.cookies.len() <= 1);
        }
    }
}
