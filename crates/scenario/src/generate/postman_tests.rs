//! Collections, right and wrong; what is made is compiled, and holds none of the secrets that stood there.

use super::*;
use crate::Scenario;
use proptest::prelude::*;
use serde_json::json;

const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig";

fn shop() -> Value {
    json!({
        "info": { "name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
        "auth": { "type": "bearer", "bearer": [{ "key": "token", "value": "{{session}}" }] },
        "variable": [
            { "key": "baseUrl", "value": "https://shop.example/api" },
            { "key": "petId", "value": 17 },
            { "key": "apiSecret", "value": "s3cr3ts3cr3t" },
            { "key": "hidden", "value": "h1dd3nh1dd3n", "type": "secret" }
        ],
        "item": [
            { "name": "Log in", "request": {
                "method": "POST", "url": { "raw": "{{baseUrl}}/login" }, "auth": { "type": "noauth" },
                "body": { "mode": "raw", "raw": "{\"user\":\"ann\",\"password\":\"hunter2hunter2\"}", "options": { "raw": { "language": "json" } } } },
              "event": [{ "listen": "test", "script": { "exec": [
                "const answer = pm.response.json();",
                "pm.collectionVariables.set(\"session\", answer.data.tokens[0].value);",
                "pm.test('ok', function () {", "  pm.response.to.have.status(201);", "});",
                "postman.setNextRequest('abcdefgh12345678');" ] } }] },
            { "name": "Pets", "item": [
                { "name": "One pet", "request": { "method": "GET",
                    "url": { "raw": "{{baseUrl}}/pets/:petId?view={{view}}&key={{apiSecret}}", "variable": [{ "key": "petId", "value": "{{petId}}" }] },
                    "header": [{ "key": "X-Request", "value": "{{$guid}}" }, { "key": "X-Off", "value": "1", "disabled": true }] } },
                { "name": "Elsewhere", "request": "https://ads.example/pixel" },
                { "name": "Buy", "request": { "method": "POST", "url": "{{baseUrl}}/orders",
                    "header": [{ "key": "X-Trace", "value": format!("Bearer {TOKEN}") }],
                    "body": { "mode": "urlencoded", "urlencoded": [{ "key": "pet", "value": "{{petId}}" }, { "key": "note", "value": "{a} b" }] } } },
                { "name": "Picture", "request": { "method": "POST", "url": "{{baseUrl}}/pictures", "body": { "mode": "formdata", "formdata": [] } } }
            ] }
        ]
    })
}

fn made(collection: &Value) -> Generated {
    from_postman(&collection.to_string(), "shop.json").expect("a good collection")
}

#[test]
fn a_journey_is_made_with_values_tokens_and_without_secrets() {
    let Generated { text, base_url, .. } = made(&shop());
    assert_eq!(base_url.as_deref(), Some("https://shop.example"));
    for secret in ["hunter2", TOKEN, "s3cr3t", "h1dd3n", "abcdefgh12345678"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    for part in [
        "start = [\"Log in\", \"One pet\", \"Buy\"]",
        "restart_after = [\"Picture\"]",
        "path = \"/api/login\"",
        "body = '{\"password\":\"${env:PASSWORD}\",\"user\":\"ann\"}'",
        "status = [201]",
        "session = { operation = \"Log in\", json = \"/data/tokens/0/value\" }",
        "Authorization = \"Bearer {session}\"",
        "petid = { kind = \"list\", values = [\"17\"] }",
        "path = \"/api/pets/{petid}?view=${env:VIEW}&key=${env:APISECRET}\"",
        "guid = { kind = \"uuid\" }",
        "X-Request = \"{guid}\"",
        "form = { note = \"{ a} b\", pet = \"{petid}\" }",
        "requires = [\"session\"]",
        "# Not taken over: requests to other hosts than the first.",
        "# Not taken over: a body of mode formdata.",
        "# Not taken over: a line of a script, \"postman.setNextRequest\" ....",
        "# Set VIEW in the environment: the variable \"view\" has no value here.",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("X-Off"));
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn what_is_no_collection_is_named() {
    let error = |text: &str| from_postman(text, "x.json").expect_err(text).to_string();
    assert!(error("{}").contains("Postman collection x.json: it has no `item`"), "{}", error("{}"));
    assert!(error("{\"item\":[]}").contains("holds no request"));
    let old = json!({ "info": { "schema": "https://x/collection/v1.0.0/" }, "item": [] }).to_string();
    assert!(error(&old).contains("v2.1"));
}

proptest! {
    #[test]
    fn any_texts_make_a_scenario_that_can_be_read(
        url in "[a-zA-Z0-9/{}%?&=#\"' \u{e9}$:.-]{0,40}",
        text in ".{0,60}",
        name in ".{0,20}",
        value in "[a-z{}$\"\\\\]{0,20}",
        line in "(pm\\.environment\\.set\\(\"[a-z]{0,3}\", pm\\.response\\.json\\(\\)[a-z.\\[\\]0-9]{0,9}\\);)?",
    ) {
        let collection = json!({ "variable": [{ "key": name, "value": value }, { "key": "a", "value": "{{a}}" }], "item": [
            { "name": name, "request": { "method": name, "url": format!("http://h/{url}"), "header": [{ "key": name, "value": text }] },
              "event": [{ "listen": "test", "script": { "exec": [line, text] } }] },
            { "name": text, "request": { "url": url, "body": { "mode": "raw", "raw": text } } },
            { "request": { "url": format!("{{{{a}}}}/{text}"), "body": { "mode": "urlencoded", "urlencoded": [{ "key": text, "value": value }] } } },
        ] });
        if let Ok(made) = from_postman(&collection.to_string(), "any.json") {
            let read = Scenario::look(&made.text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{}", read.expect_err("wrong"), made.text);
        }
    }

    #[test]
    fn a_collection_with_bytes_missing_is_an_error_and_no_panic(cut in 0..3_000_usize) {
        let text = shop().to_string();
        if let Some(text) = text.get(..cut.min(text.len() - 1)) {
            prop_assert!(from_postman(text, "cut.json").is_err());
        }
    }
}
