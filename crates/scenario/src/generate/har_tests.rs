//! Archives, right and wrong; what is made is compiled, and holds none of the secrets that were recorded.

use super::*;
use crate::Scenario;
use proptest::prelude::*;
use serde_json::{Value, json};

const PASSWORD: &str = "hunter2hunter2";
const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig";
const COOKIE: &str = "SESSION=c00k1ec00k1e";

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn entry(at: &str, method: &str, url: &str, more: Value, answer: Value) -> Value {
    let mut request = json!({ "method": method, "url": url, "headers": [
        { "name": "Host", "value": "shop.example" }, { "name": "Cookie", "value": COOKIE },
        { "name": ":path", "value": "/x" }, { "name": "sec-fetch-mode", "value": "cors" }, { "name": "Accept", "value": "text/html" } ] });
    if let (Some(request), Some(more)) = (request.as_object_mut(), more.as_object()) {
        for (key, value) in more {
            match (key.as_str(), value.as_array()) {
                ("headers", Some(more)) => {
                    let headers = request.get_mut("headers").and_then(Value::as_array_mut);
                    headers.into_iter().for_each(|headers| headers.extend(more.clone()));
                }
                _ => drop(request.insert(key.clone(), value.clone())),
            }
        }
    }
    let mut response =
        json!({ "status": 200, "headers": [{ "name": "Set-Cookie", "value": COOKIE }], "content": {} });
    if let (Some(response), Some(answer)) = (response.as_object_mut(), answer.as_object()) {
        response.extend(answer.clone());
    }
    json!({ "startedDateTime": format!("2026-01-01T10:00:{at}Z"), "time": 100, "request": request, "response": response })
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn archive(entries: Vec<Value>) -> String {
    json!({ "log": { "version": "1.2", "creator": {}, "entries": entries } }).to_string()
}

fn shop() -> String {
    let form = "<form><input type=hidden name=csrf value=T0ken9876></form>";
    archive(vec![
        entry(
            "00.000",
            "GET",
            "https://shop.example/login?from=%2F",
            json!({}),
            json!({ "content": { "mimeType": "text/html", "text": form } }),
        ),
        entry("00.200", "GET", "https://shop.example/app.js", json!({}), json!({})),
        entry("00.300", "GET", "https://ads.example/pixel", json!({}), json!({})),
        entry(
            "02.100",
            "POST",
            "https://shop.example/login",
            json!({ "postData": { "mimeType": "application/x-www-form-urlencoded", "text": format!("csrf=T0ken9876&user=ann&password={PASSWORD}") } }),
            json!({ "status": 302 }),
        ),
        entry(
            "02.300",
            "GET",
            "https://shop.example/api/cart",
            json!({ "headers": [{ "name": "Authorization", "value": format!("Bearer {TOKEN}") }] }),
            json!({ "content": { "mimeType": "application/json", "text": "{\"cart\":{\"id\":\"C-102938\"}}" } }),
        ),
        entry(
            "03.000",
            "PUT",
            "https://shop.example/api/cart/C-102938?api_key=k3yk3yk3y",
            json!({ "postData": { "mimeType": "application/json", "text": "{\"item\":7,\"note\":\"{x}\",\"cart\":\"C-102938\"}" } }),
            json!({}),
        ),
    ])
}

fn made(text: &str, options: &HarOptions) -> Generated {
    from_har(text, "shop.har", options).expect("a good archive")
}

#[test]
fn a_journey_is_made_without_secrets_and_takes_what_answers_gave() {
    let Generated { text, base_url, trace } = made(&shop(), &HarOptions::default());
    assert_eq!((base_url.as_deref(), trace), (Some("https://shop.example"), None));
    for secret in [PASSWORD, TOKEN, "c00k1e", "k3yk3yk3y", "T0ken9876", "C-102938"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    for part in [
        "start = [\"GET /login\", \"POST /login\", \"GET /api/cart\"]",
        "restart_after = [\"PUT /api/cart/{id}\"]",
        "csrf = { operation = \"GET /login\", field = \"csrf\" }",
        "form = { csrf = \"{csrf}\", password = \"${env:PASSWORD}\", user = \"ann\" }",
        "Authorization = \"Bearer ${env:AUTHORIZATION}\"",
        "{ operation = \"GET /api/cart\", json = \"/cart/id\" }",
        "/api/cart/{id}?api_key=${env:API_KEY}",
        "status = [302]",
        "think_ms = 2000",
        "# 1 requests to other hosts were left out.",
        "# Set PASSWORD in the environment",
    ] {
        let found =
            text.contains(part) || part.starts_with("restart_after") && text.contains("restart_after");
        assert!(found, "no {part} in\n{text}");
    }
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn headers_are_taken_once_with_a_long_token_that_an_answer_gave_and_parts_of_a_form() {
    let token = format!("{TOKEN}{}", "a1B2".repeat(200));
    let headers = json!([
        { "name": "accept", "value": "application/json" }, { "name": "Accept-Encoding", "value": "gzip, br" },
        { "name": "Connection", "value": "keep-alive" }, { "name": "Authorization", "value": format!("Bearer {token}") },
    ]);
    let params = json!([{ "name": "title", "value": "a report" }, { "name": "file", "fileName": "a.pdf" }]);
    let text = archive(vec![
        entry(
            "00.000",
            "GET",
            "https://shop.example/token",
            json!({}),
            json!({ "content": { "mimeType": "application/json", "text": format!("{{\"token\":\"{token}\"}}") } }),
        ),
        entry(
            "01.000",
            "POST",
            "https://shop.example/documents",
            json!({ "headers": headers, "postData": { "mimeType": "multipart/form-data; boundary=x", "params": params } }),
            json!({}),
        ),
    ]);
    let text = made(&text, &HarOptions::default()).text;
    for part in [
        "authorization = { operation = \"GET /token\", json = \"/token\" }",
        "headers = { Accept = \"text/html\", Accept-Encoding = \"gzip, br\", Authorization = \"Bearer {authorization}\" }",
        "multipart = { title = \"a report\" }",
        "# A file was sent, which is not recorded: put it here, and \"file\" = { file = \"a.pdf\" } into `multipart`.",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn hosts_and_static_resources_are_taken_as_asked() {
    let with_static = made(&shop(), &HarOptions { with_static: true, ..HarOptions::default() });
    assert!(with_static.text.contains("/app.js"));
    let ads = made(&shop(), &HarOptions { host: Some("ads.example".into()), with_static: false });
    assert!(ads.text.contains("/pixel") && !ads.text.contains("/login"), "{}", ads.text);
    Scenario::look(&ads.text, "made.toml").expect("one request is a journey, too");
    let error =
        from_har(&shop(), "shop.har", &HarOptions { host: Some("shop.exmaple".into()), with_static: false });
    let error = error.expect_err("no such host").to_string();
    assert!(error.contains("no request to \"shop.exmaple\"; did you mean `shop.example`?"), "{error}");
}

#[test]
fn what_is_no_archive_is_told() {
    let error = |text: &str| from_har(text, "x.har", &HarOptions::default()).expect_err(text).to_string();
    assert!(error("{}").contains("HTTP archive x.har: missing field `log`"), "{}", error("{}"));
    assert!(error("<html>").starts_with("HTTP archive x.har: expected value"));
    assert!(error(&archive(Vec::new())).contains("holds no request"));
    let only_static = archive(vec![entry("00.000", "GET", "http://h/a.css", json!({}), json!({}))]);
    assert!(error(&only_static).contains("--with-static"));
}

proptest! {
    #[test]
    fn any_recorded_texts_make_a_scenario_that_can_be_read(
        path in "[a-zA-Z0-9/{}%?&=#\"' \u{e9}$:.-]{0,40}",
        body in ".{0,60}",
        form in "[a-z{}=&%+$:\"]{0,40}",
        name in "[A-Za-z0-9-]{1,12}",
        value in ".{0,40}",
        deep in 0..200_usize,
    ) {
        let json_body = format!("{}{}{}", "[".repeat(deep), serde_json::to_string(&body).expect("text"), "]".repeat(deep));
        let entries = [("text/plain", &body), ("application/x-www-form-urlencoded", &form), ("application/json", &json_body)];
        let entries = entries.map(|(mime, text)| {
            let more = json!({ "headers": [{ "name": name, "value": value }], "postData": { "mimeType": mime, "text": text } });
            entry("00.000", "POST", &format!("http://h/{path}"), more, json!({ "content": { "text": text } }))
        });
        if let Ok(made) = from_har(&archive(entries.to_vec()), "any.har", &HarOptions::default()) {
            let read = Scenario::look(&made.text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{}", read.expect_err("wrong"), made.text);
        }
    }

    #[test]
    fn an_archive_with_bytes_missing_is_an_error_and_no_panic(cut in 0..2_000_usize) {
        let text = shop();
        if let Some(text) = text.get(..cut.min(text.len() - 1)) {
            prop_assert!(from_har(text, "cut.har", &HarOptions::default()).is_err());
        }
    }
}

#[test]
fn a_key_of_json_that_looks_like_a_value_is_itself() {
    let data = json!({ "postData": { "mimeType": "application/json", "text": "{\"{a}\":{\"{b}\":1}}" } });
    let text = made(
        &archive(vec![entry("00.000", "POST", "https://shop.example/x", data, json!({}))]),
        &HarOptions::default(),
    )
    .text;
    Scenario::look(&text, "made.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(text.contains("{ a}") && text.contains("{ b}"), "{text}");
}

#[test]
fn two_secrets_never_share_a_name_and_one_has_the_same_each_time() {
    let with = |at: &str, value: &str| {
        let header = json!({ "headers": [{ "name": "Authorization", "value": value }] });
        entry(at, "GET", "https://shop.example/x", header, json!({}))
    };
    let bearer = format!("Bearer {TOKEN}");
    let entries = vec![
        with("00.000", "Basic YWxpOm9wZW4tc2VzYW1l"),
        with("01.000", &bearer),
        with("02.000", "Basic YWxpOm9wZW4tc2VzYW1l"),
    ];
    let text = made(&archive(entries), &HarOptions::default()).text;
    assert_eq!(text.matches("Basic ${env:AUTHORIZATION}").count(), 2, "{text}");
    assert_eq!(text.matches("Bearer ${env:AUTHORIZATION_2}").count(), 1, "{text}");
    assert!(text.contains("# Set AUTHORIZATION_2 in the environment"), "{text}");
}

#[test]
fn a_short_number_is_the_servers_where_its_answer_calls_it_an_id() {
    let answered = |body: &str| {
        let answer = json!({ "content": { "mimeType": "application/json", "text": body } });
        let entries = vec![
            entry("00.000", "POST", "https://shop.example/builds", json!({}), answer),
            entry("01.000", "GET", "https://shop.example/builds/13739?size=512", json!({}), json!({})),
        ];
        made(&archive(entries), &HarOptions::default()).text
    };
    for body in [r#"{"data":{"size":512,"id":"13739"}}"#, r#"[{"buildId":13739}]"#, r#"{"build_id":13739}"#] {
        let text = answered(body);
        assert!(text.contains(r#"path = "/builds/{id}?size=512""#), "{body}: {text}");
    }
    let text = answered(r#"{"number":13739,"paid":13739}"#);
    assert!(text.contains(r#"path = "/builds/13739?size=512""#), "{text}");
}
