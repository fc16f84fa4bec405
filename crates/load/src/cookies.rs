//! The cookies of one session: names and values that the server sets and gets back.
//!
//! Honoured: `Max-Age` of zero or less and an `Expires` in 1970, both of which delete, as servers use them to end a
//! session. Not supported, since one scenario talks to one server: `Domain`, `Path`, `Secure`, `SameSite`, and
//! times after which a cookie would expire during a run.

/// Most cookies of a session; further ones are dropped.
const COOKIES_MAX: usize = 50;
/// Longest name with value, bytes (RFC 6265 section 6.1 asks for at least 4096); longer ones are dropped.
const COOKIE_BYTES_MAX: usize = 4096;

/// Cookies by name, in the order of their first setting.
#[derive(Debug, Clone, Default)]
pub(crate) struct CookieJar {
    cookies: Vec<(Box<[u8]>, Vec<u8>)>,
}

impl CookieJar {
    /// Takes in the value of one `Set-Cookie` header.
    pub fn set(&mut self, header: &[u8]) {
        let mut pieces = header.split(|byte| *byte == b';');
        let Some((name, value)) = pieces.next().and_then(name_and_value) else { return };
        if name.is_empty()
            || name.len() + value.len() > COOKIE_BYTES_MAX
            || has_control(name)
            || has_control(value)
        {
            return;
        }
        let known = self.cookies.iter().position(|(known, _)| **known == *name);
        match (known, deletes(pieces)) {
            (Some(at), true) => {
                self.cookies.remove(at);
            }
            (None, true) => (),
            (Some(at), false) => {
                let kept = &mut self.cookies[at].1;
                kept.clear();
                kept.extend_from_slice(value);
            }
            (None, false) if self.cookies.len() < COOKIES_MAX => {
                self.cookies.push((name.into(), value.to_vec()));
            }
            (None, false) => (),
        }
    }

    /// Appends the `Cookie` header line, if there is any cookie.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        for (position, (name, value)) in self.cookies.iter().enumerate() {
            out.extend_from_slice(if position == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
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

fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_control)
}

fn name_and_value(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = piece.iter().position(|byte| *byte == b'=')?;
    Some((piece[..equals].trim_ascii(), piece[equals + 1..].trim_ascii()))
}

/// Whether the attributes delete the cookie. `Max-Age` goes before `Expires` (RFC 6265 section 5.3).
fn deletes<'a>(attributes: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut expired = false;
    for (name, value) in attributes.filter_map(name_and_value) {
        if name.eq_ignore_ascii_case(b"max-age") {
            return value.starts_with(b"-")
                || (!value.is_empty() && value.iter().all(|digit| *digit == b'0'));
        }
        // Servers write the epoch: Tomcat and Liberty "Thu, 01-Jan-1970 00:00:10 GMT", others with spaces.
        expired |= name.eq_ignore_ascii_case(b"expires") && value.windows(4).any(|year| year == b"1970");
    }
    expired
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
