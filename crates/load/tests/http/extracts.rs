//! Values from answers: those that are not found, long ones, paths, tokens that expire; and answers that must hold what was sent.

use super::server::{Reply, Request, closed, errors, generator, ok, run_until, serve, status};
use assay_load::{ErrorKind, Measured};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What a run says of an extract.
fn said<'m>(measured: &'m Measured, extract: &str) -> Vec<&'m str> {
    let of = |problem: &&assay_model::Problem| problem.about == format!("extract {extract}");
    measured.problems.iter().filter(of).map(|problem| problem.text.as_str()).collect()
}

/// Of one user, at least so many requests.
fn run_of(url: &str, scenario: &str, requests: u64) -> Measured {
    run_until(&mut generator(url, scenario, 1), &closed(1), 50, |measured| requests <= measured.requests)
}

/// Why no user can begin a session.
fn why_none_begins(url: &str, scenario: &str) -> String {
    let load = Duration::from_millis(50);
    let measured =
        generator(url, scenario, 1).run(&closed(1), load, &AtomicBool::new(false), None, &mut |_| ());
    measured.expect_err("no session begins").to_string()
}

fn requests(measured: &Measured) -> Vec<u64> {
    measured.operations.iter().map(|operation| operation.requests).collect()
}

const TOKEN: &str = r#"
    [session]
    start = ["login"]
    [extract]
    token = { operation = "login", json = "/access_token" }
    [[operation]]
    name = "login"
    weight = 0
    path = "/login"
    [[operation]]
    name = "use"
    path = "/use"
    headers = { Authorization = "Bearer {token}" }
    requires = "token"
    otherwise = "login"
"#;

/// A server that gives a token of so many bytes and wants it back.
fn with_token(bytes: usize) -> impl Fn(&Request) -> Reply {
    let token = "a1B2".repeat(bytes / 4);
    move |request: &Request| {
        if request.line.starts_with("GET /login") {
            return ok(&format!("{{\"access_token\":\"{token}\",\"expires_in\":300}}"));
        }
        let is_right =
            request.headers.get("authorization").is_some_and(|sent| *sent == format!("Bearer {token}"));
        status(if is_right { 200 } else { 401 }, "", "")
    }
}

#[test]
fn a_token_of_several_kib_is_sent_back() {
    for bytes in [1_500, 16 << 10] {
        let measured = run_of(&serve(with_token(bytes)), TOKEN, 5);
        assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
        let [logins, uses] = requests(&measured)[..] else { panic!("two operations") };
        assert!(logins <= 1 && 0 < uses, "{logins} {uses}");
    }
}

#[test]
fn an_answer_with_a_longer_value_than_is_kept_is_wrong_and_names_it() {
    let text = why_none_begins(&serve(with_token(20_000)), TOKEN);
    assert!(
        text.contains("login answered 200; the value \"token\" in it has 20000 bytes, more than are kept"),
        "{text}"
    );
}

/// The page of Spring Security 6: its form has neither an id nor a name.
const LOGIN_PAGE: &str = r#"<html><body><div class="content"><form class="login-form" method="post" action="/login">
    <input type="text" id="username" name="username"><input type="password" name="password">
    <input name="_csrf" type="hidden" value="secret-1" /></form></div></body></html>"#;

fn login_form(form: &str) -> String {
    r#"
        [session]
        start = ["form"]
        [extract]
        csrf = { operation = "form", form = FORM, field = "_csrf" }
        [[operation]]
        name = "form"
        weight = 0
        path = "/login"
        [[operation]]
        name = "login"
        method = "POST"
        path = "/login"
        form = { _csrf = "{csrf}" }
        requires = "csrf"
        otherwise = "form"
    "#
    .replace("FORM", form)
}

#[test]
fn a_value_that_is_not_found_is_counted_with_what_would_have_found_it() {
    let url = serve(|request| match request.line.starts_with("POST") {
        true => status(if request.body == "_csrf=secret-1" { 200 } else { 403 }, "", ""),
        false => ok(LOGIN_PAGE),
    });
    let measured = run_of(&url, &login_form("\"login\""), 5);
    let forms = measured.requests;
    assert_eq!((measured.errors(), requests(&measured)), (0, vec![forms, 0]));
    let want = format!(
        "it was not in {forms} of {forms} right answers; the first: its forms can be named by form = 1, action \"/login\", \
         with the fields username, password, _csrf"
    );
    assert_eq!(said(&measured, "csrf"), [want]);
    for right in ["1", "\"/login\""] {
        let measured = run_of(&url, &login_form(right), 5);
        assert_eq!((measured.errors(), said(&measured, "csrf").len()), (0, 0), "{:?}", measured.problems);
        assert!(requests(&measured)[0] <= 1 && 1 < measured.requests);
    }
}

#[test]
fn a_value_that_is_used_up_may_lack_now_and_then_and_another_is_counted() {
    let asked = AtomicU64::new(0);
    let url = serve(move |_| {
        let has_it = asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        ok(if has_it { "id=7;" } else { "none" })
    });
    let scenario = |once: &str| {
        format!(
            "[extract]\nid = {{ operation = \"a\", after = \"id=\", before = \";\"{once} }}\n[[operation]]\nname = \"a\"\npath = \"/\""
        )
    };
    let measured = run_of(&url, &scenario(", once = true"), 6);
    assert!(2 < measured.requests && measured.problems.is_empty(), "{:?}", measured.problems);
    let measured = run_of(&url, &scenario(""), 6);
    let said = said(&measured, "id");
    assert!(
        said[0].ends_with("right answers; the first: its body of 4 bytes does not hold the text of `after`"),
        "{said:?}"
    );
}

#[test]
fn an_answer_must_hold_what_its_own_request_sent() {
    const SCENARIO: &str = r#"
        [values]
        number = { kind = "range", from = 0, to = 1000000 }
        [[operation]]
        name = "a"
        path = "/echo?number={number}"
        contains = "<{number}>"
    "#;
    let url = serve(|request| {
        let number = request.line.split(['=', ' ']).nth(2).unwrap_or_default();
        ok(&format!("<{number}>"))
    });
    let measured = run_of(&url, SCENARIO, 5);
    assert_eq!((measured.errors(), 2 < measured.requests), (0, true), "{:?}", measured.problems);
    let wrong = run_of(&serve(|_| ok("<17>")), SCENARIO, 1);
    let text = &wrong.problems[0].text;
    assert!(text.starts_with("content: a answered 200 without \"<") && text.ends_with(">\": <17>"), "{text}");
}

#[test]
fn a_request_goes_where_an_answer_said() {
    const SCENARIO: &str = r#"
        [session]
        start = ["order", "page"]
        restart_after = ["next"]
        [extract]
        created = { operation = "order", header = "Location" }
        next = { operation = "page", json = "/next" }
        [[operation]]
        name = "order"
        weight = 0
        method = "POST"
        path = "/orders"
        status = 201
        [[operation]]
        name = "page"
        weight = 0
        path = "{created}/lines?size=2"
        requires = "created"
        otherwise = "order"
        [[operation]]
        name = "next"
        path = "{next}"
        requires = "next"
        otherwise = "page"
    "#;
    let url = serve(|request| {
        let to = |path: &str| format!("Location: http://{}{path}\r\n", request.headers["host"]);
        match request.line.split(' ').take(2).collect::<Vec<_>>()[..] {
            ["POST", "/app/orders"] => status(201, &to("/app/orders/7"), ""),
            ["GET", "/app/orders/7/lines?size=2"] => ok("{\"next\":\"?size=2&after=a%20b\"}"),
            ["GET", "/app/orders/7/lines?size=2&after=a%20b"] => ok(""),
            _ => status(404, "", ""),
        }
    });
    let measured = run_of(&format!("{url}/app"), SCENARIO, 8);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    assert!(requests(&measured).iter().all(|count| 0 < *count), "{:?}", measured.operations);
    let elsewhere = serve(|_| status(201, "Location: http://other.example/orders/7\r\n", ""));
    let text = why_none_begins(&elsewhere, SCENARIO);
    assert!(text.contains("created: it is there, but leads to no path of this server"), "{text}");
}

#[test]
fn a_token_that_expires_is_renewed() {
    const SCENARIO: &str = r#"
        [extract]
        token = { operation = "login", json = "/token" }
        [[operation]]
        name = "login"
        weight = 0
        path = "/login"
        [[operation]]
        name = "use"
        path = "/use"
        headers = { Authorization = "Bearer {token}" }
        requires = "token"
        otherwise = "login"
        status = [200, 401]
        contains = "used"
        forget = { status = 401, values = ["token"] }
    "#;
    let logins = AtomicU64::new(0);
    let uses = AtomicU64::new(0);
    let url = serve(move |request| {
        if request.line.starts_with("GET /login") {
            uses.store(0, Ordering::Relaxed);
            return ok(&format!("{{\"token\":\"t{}\"}}", logins.fetch_add(1, Ordering::Relaxed) + 1));
        }
        let is_newest =
            request.headers["authorization"] == format!("Bearer t{}", logins.load(Ordering::Relaxed));
        // Valid for three requests.
        match is_newest && uses.fetch_add(1, Ordering::Relaxed) < 3 {
            true => ok("used"),
            false => status(401, "", "expired"),
        }
    });
    let measured = run_of(&url, SCENARIO, 20);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let [logins, uses] = requests(&measured)[..] else { panic!("two operations") };
    assert!(2 < logins && uses.abs_diff(4 * logins) <= 4, "a login for each four: {logins} {uses}");
    // What is not expected is an error all the same, and the token is renewed.
    let measured = run_of(&url, &SCENARIO.replace("status = [200, 401]", ""), 20);
    let [logins, _] = requests(&measured)[..] else { panic!("two operations") };
    assert!(errors(&measured, ErrorKind::Status).abs_diff(logins) <= 1, "{:?}", measured.operations);
}
