//! What can be typed about the request to a plain URL. The words are curl's, which hey and oha share.

use assay_load::PlainRequest;
use assay_text::duration;
use clap::Args;
use std::time::Duration;

/// Longest body from a file, bytes.
const BODY_BYTES_MAX: u64 = 8 << 20;

/// The request to a URL without a scenario.
#[derive(Debug, Args)]
pub struct RequestArguments {
    /// Header of the request. Repeatable. The values of Authorization, X-Api-Key and the like are never stored or printed
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", conflicts_with = "scenario", value_parser = parse_header)]
    header: Vec<(String, String)>,
    /// Cookie that each user has from the start. The server may replace it. Repeatable. The value is never stored or printed
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "scenario", value_parser = parse_cookie)]
    cookie: Vec<String>,
    /// Method of the request [default: GET, or POST with a body]
    #[arg(
        id = "request-method",
        short = 'X',
        long = "request",
        value_name = "METHOD",
        conflicts_with = "scenario"
    )]
    method: Option<String>,
    /// Body of the request as a form (application/x-www-form-urlencoded unless -H overrides it), or @FILE
    #[arg(short = 'd', long = "data", value_name = "BODY", conflicts_with_all = ["scenario", "json_body"], allow_hyphen_values = true)]
    data: Option<String>,
    /// Body of the request as JSON (application/json), or @FILE
    #[arg(long, value_name = "BODY", conflicts_with = "scenario", allow_hyphen_values = true)]
    json_body: Option<String>,
    /// Basic authentication. Never stored or printed
    #[arg(long, value_name = "USER:PASSWORD", conflicts_with = "scenario", value_parser = parse_user)]
    user: Option<String>,
    /// Time limit of a request. In a scenario each operation has its own [default: 10s]
    #[arg(long, value_name = "DURATION", conflicts_with = "scenario", value_parser = duration::parse_positive)]
    timeout: Option<Duration>,
    /// Follow redirects on the same server, up to ten. In a scenario each operation has its own setting
    #[arg(long, conflicts_with = "scenario")]
    follow_redirects: bool,
}

impl RequestArguments {
    /// Whether nothing was typed: a plain GET.
    pub fn is_plain(&self) -> bool {
        let RequestArguments { header, cookie, method, data, json_body, user, timeout, follow_redirects } =
            self;
        header.is_empty()
            && cookie.is_empty()
            && [method, data, json_body, user].iter().all(|typed| typed.is_none())
            && timeout.is_none()
            && !follow_redirects
    }

    /// A body that looks like a duration, as wrk and k6 have it behind -d.
    pub fn duration_as_body(&self) -> Option<&str> {
        self.data.as_deref().filter(|data| duration::parse_positive(data).is_ok())
    }

    /// The request.
    ///
    /// # Errors
    /// A file of a body cannot be read.
    pub fn request(&self) -> Result<PlainRequest, String> {
        let (body, content_type) = match (&self.data, &self.json_body) {
            (Some(form), _) => (Some(body(form)?), "application/x-www-form-urlencoded"),
            (None, Some(json)) => (Some(body(json)?), "application/json"),
            (None, None) => (None, ""),
        };
        let mut headers = self.header.clone();
        let mut unless_there = |name: &str, value: String| {
            if !headers.iter().any(|(there, _)| there.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value));
            }
        };
        if body.is_some() {
            unless_there("Content-Type", content_type.to_owned());
        }
        if self.json_body.is_some() {
            unless_there("Accept", "application/json".to_owned());
        }
        if let Some(user) = &self.user {
            unless_there("Authorization", PlainRequest::basic(user));
        }
        add_cookies(&self.cookie, &mut headers);
        Ok(PlainRequest {
            method: self.method.clone(),
            headers,
            body,
            timeout: self.timeout,
            follow_redirects: self.follow_redirects,
        })
    }
}

/// Adds cookies to those of a header that was typed.
fn add_cookies(cookies: &[String], headers: &mut Vec<(String, String)>) {
    let typed = headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    match typed {
        _ if cookies.is_empty() => (),
        Some((_, value)) => *value = format!("{value}; {}", cookies.join("; ")),
        None => headers.push(("Cookie".to_owned(), cookies.join("; "))),
    }
}

fn body(typed: &str) -> Result<String, String> {
    let Some(path) = typed.strip_prefix('@') else { return Ok(typed.to_owned()) };
    let named = |error: &dyn std::fmt::Display| {
        format!("body {path}: {error}; give a file of text, or the body itself")
    };
    let length = fs_err::metadata(path).map_err(|error| named(&error))?.len();
    if length > BODY_BYTES_MAX {
        return Err(named(&format!("{length} bytes, at most {BODY_BYTES_MAX} can be sent")));
    }
    fs_err::read_to_string(path).map_err(|error| named(&error))
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like `Accept: text/html`")?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match !name.is_empty() && name.chars().all(is_token) && !value.contains(char::is_control) {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err("a name of letters, digits and dashes, a colon, and a value on one line".to_owned()),
    }
}

fn parse_cookie(text: &str) -> Result<String, String> {
    let is_one = |(name, value): (&str, &str)| {
        !name.trim().is_empty() && !value.contains(';') && !text.contains(char::is_control)
    };
    match text.split_once('=').is_some_and(is_one) {
        true => Ok(text.to_owned()),
        false => Err("write it like `theme=dark`; each cookie has an option of its own".to_owned()),
    }
}

fn parse_user(text: &str) -> Result<String, String> {
    text.contains(':').then(|| text.to_owned()).ok_or_else(|| "write it like user:password".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        request: RequestArguments,
        #[arg(long)]
        scenario: Option<String>,
    }

    fn typed(words: &[&str]) -> Result<PlainRequest, String> {
        let words = std::iter::once("assay").chain(words.iter().copied());
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        line.request.request()
    }

    fn header<'r>(request: &'r PlainRequest, name: &str) -> Vec<&'r str> {
        let named = request.headers.iter().filter(|(of, _)| of.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn a_body_has_the_type_that_its_option_says_unless_a_header_does() {
        let form = typed(&["-d", "a=1&b=2"]).expect("right");
        assert_eq!(form.body.as_deref(), Some("a=1&b=2"));
        assert_eq!(header(&form, "content-type"), ["application/x-www-form-urlencoded"]);
        let json = typed(&["--json-body", "{\"a\":1}", "-X", "PUT"]).expect("right");
        assert_eq!([header(&json, "content-type"), header(&json, "accept")], [["application/json"]; 2]);
        assert_eq!(json.method.as_deref(), Some("PUT"));
        let xml = typed(&["-d", "<a/>", "-H", "content-type: text/xml"]).expect("right");
        assert_eq!(header(&xml, "content-type"), ["text/xml"]);
        assert!(typed(&["-d", "a", "--json-body", "{}"]).is_err());
        assert!(typed(&["-d", "@/no/such/file"]).is_err_and(|error| error.contains("/no/such/file")));
    }

    #[test]
    fn a_user_is_sent_as_basic_authentication() {
        let request = typed(&["--user", "Aladdin:open sesame"]).expect("right");
        assert_eq!(header(&request, "authorization"), ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="], "RFC 7617");
        assert!(typed(&["--user", "Aladdin"]).is_err());
    }

    #[test]
    fn cookies_are_one_header_with_those_that_were_typed_as_one() {
        let request = typed(&["--cookie", "a=1", "--cookie", "b=2=3"]).expect("right");
        assert_eq!(header(&request, "cookie"), ["a=1; b=2=3"]);
        let request = typed(&["-H", "cookie: c=0", "--cookie", "a=1"]).expect("right");
        assert_eq!(header(&request, "cookie"), ["c=0; a=1"]);
        for bad in ["a", "=1", "a=1; b=2", "a=1\n"] {
            assert!(typed(&["--cookie", bad]).is_err(), "{bad}");
        }
        assert!(typed(&["--cookie", "a=1", "--scenario", "s.toml"]).is_err());
    }

    #[test]
    fn what_is_no_header_is_refused_and_none_goes_with_a_scenario() {
        for bad in ["Accept", ": text", "A b: c", "A: b\r\nC: d"] {
            assert!(typed(&["-H", bad]).is_err(), "{bad}");
        }
        assert!(typed(&["-H", "A: b", "--scenario", "s.toml"]).is_err());
        assert!(typed(&["-H", "A:b:c"]).is_ok_and(|request| header(&request, "a") == ["b:c"]));
    }

    #[test]
    fn a_duration_behind_d_is_recognized() {
        let of = |words: &[&str]| {
            let words = std::iter::once("assay").chain(words.iter().copied());
            let line = Line::try_parse_from(words).expect("right");
            line.request.duration_as_body().map(str::to_owned)
        };
        assert_eq!(of(&["-d", "30s"]).as_deref(), Some("30s"));
        assert_eq!(of(&["-d", "a=30s"]), None);
    }
}
