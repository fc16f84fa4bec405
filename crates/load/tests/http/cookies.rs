//! Cookies of servers with several contexts, and cookies that are not sent back.

use super::server::{Request, closed, generator, ok, run_until, serve, status};
use assay_load::Measured;

/// Two contexts set `JSESSIONID`, each for its own path.
fn two_contexts(request: &Request) -> super::server::Reply {
    let path = request.line.split(' ').nth(1).unwrap_or_default();
    let context = path.split('/').nth(1).unwrap_or_default();
    let cookies = request.headers.get("cookie").map_or("", String::as_str);
    match path.ends_with("/login") {
        true => {
            status(200, &format!("Set-Cookie: JSESSIONID={context}-1234; Path=/{context}; HttpOnly\r\n"), "")
        }
        false if cookies == format!("JSESSIONID={context}-1234") => ok(""),
        false => status(401, "", cookies),
    }
}

#[test]
fn sessions_of_two_contexts_on_one_server_do_not_disturb_each_other() {
    const SCENARIO: &str = r#"
        [session]
        start = ["login shop", "login admin"]
        [[operation]]
        name = "login shop"
        weight = 0
        path = "/shop/login"
        [[operation]]
        name = "login admin"
        weight = 0
        path = "/admin/login"
        [[operation]]
        name = "shop"
        path = "/shop/cart"
        [[operation]]
        name = "admin"
        path = "/admin/stats?page=/shop/"
    "#;
    let mut generator = generator(&serve(two_contexts), SCENARIO, 2);
    let are_there = |measured: &Measured| measured.operations[2..].iter().all(|one| 0 < one.requests);
    let measured = run_until(&mut generator, &closed(2), 100, are_there);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
}

#[test]
fn a_cookie_that_is_not_sent_back_is_named_once_with_its_reason() {
    const SCENARIO: &str = "[[operation]]\nname = \"a\"\npath = \"/\"";
    let set = "Set-Cookie: id=1; Secure\r\nSet-Cookie: far=1; Domain=example.com\r\nSet-Cookie: near=1\r\n";
    let url = serve(move |request| match request.headers.get("cookie").map_or("", String::as_str) {
        "" | "near=1" => status(200, set, ""),
        other => status(400, "", other),
    });
    let measured =
        run_until(&mut generator(&url, SCENARIO, 1), &closed(1), 50, |measured| 1 < measured.requests);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let said: Vec<&str> = measured.problems.iter().map(|problem| problem.text.as_str()).collect();
    let times = measured.requests;
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with(&format!("cookie \"id\", set {times} times, is Secure")), "{said:?}");
    assert!(said[1].starts_with(&format!("cookie \"far\", set {times} times, has a Domain")), "{said:?}");
}
