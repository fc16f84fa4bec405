//! Descriptions, right and wrong, in JSON and YAML.

use super::*;
use crate::Scenario;
use proptest::prelude::*;

const SHOP: &str = r##"
openapi: 3.0.3
info: { title: Shop, version: "1" }
servers:
  - url: https://{stage}.example/v1
    variables: { stage: { default: shop } }
security: [ { token: [] } ]
paths:
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: integer, example: 17 } }
    get:
      operationId: getPet
      parameters:
        - { name: view, in: query, required: true, schema: { type: string, enum: [full, short] } }
        - { name: page, in: query, schema: { type: integer } }
        - $ref: '#/components/parameters/Language'
      responses: { '200': { description: ok } }
    delete:
      deprecated: true
      responses: { '204': { description: gone } }
  /pets:
    post:
      operationId: addPet
      requestBody:
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Pet' }
      responses: { '201': { description: made } }
  /login:
    post:
      security: []
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, properties: { user: { type: string, example: ann }, password: { type: string, example: hunter2hunter2 } } }
      responses: { '302': { description: moved } }
  /pictures:
    put:
      requestBody: { content: { image/png: {} } }
components:
  parameters:
    Language: { name: Accept-Language, in: header, required: true, schema: { type: string, default: en } }
  securitySchemes:
    token: { type: http, scheme: bearer }
  schemas:
    Pet:
      allOf:
        - { $ref: '#/components/schemas/New' }
        - type: object
          properties:
            id: { type: integer, readOnly: true }
            parent: { $ref: '#/components/schemas/Pet' }
            tags: { type: array, items: { type: string } }
            born: { type: string, format: date }
    New: { type: object, properties: { name: { type: string, example: "Rex {big}" }, weight_kg: { type: number } } }
"##;

fn made(text: &str) -> Generated {
    from_openapi(text, "shop.yaml").expect("a good description")
}

#[test]
fn a_draft_has_every_operation_with_its_examples() {
    let Generated { text, base_url, .. } = made(SHOP);
    assert_eq!(base_url.as_deref(), Some("https://shop.example"));
    assert!(!text.contains("hunter2"), "{text}");
    for part in [
        "name = \"getPet\"\nweight = 1",
        "path = \"/v1/pets/{petid}?view={view}\"",
        "petid = { kind = \"list\", values = [\"17\"] }",
        "view = { kind = \"list\", values = [\"full\"] }",
        "Accept-Language = \"en\"",
        "Authorization = \"Bearer ${env:BEARER_TOKEN}\"",
        "method = \"POST\"\npath = \"/v1/pets\"",
        "\"born\":\"2026-01-31\"",
        "\"name\":\"Rex { big}\"",
        "\"tags\":[\"text\"]",
        "\"weight_kg\":1.5",
        "form = { password = \"${env:PASSWORD}\", user = \"ann\" }",
        "status = [302]",
        "# 3 operations are neither GET nor HEAD, and may change data.",
        "# Not taken over: operations that are deprecated.",
        "# Not taken over: the query parameter page, which is not required.",
        "# Not taken over: a body of image/png.",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("\"parent\""), "a pet within a pet: {text}");
    assert!(!text.contains("[session]") && !text.contains("\"id\""), "{text}");
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn json_says_the_same_as_yaml() {
    let json: Value = serde_saphyr::from_str(SHOP).expect("good YAML");
    let [json, yaml] = [json.to_string().as_str(), SHOP].map(|text| made(text).text);
    assert_eq!(json, yaml);
}

#[test]
fn what_is_no_description_is_named() {
    let error = |text: &str| from_openapi(text, "x.yaml").expect_err(text).to_string();
    assert!(error("swagger: '2.0'").contains("convert it to OpenAPI 3"));
    assert!(error("a: 1").contains("OpenAPI description x.yaml: it has no `openapi: 3.x`"));
    assert!(error("openapi: 3.1.0").contains("it has no operation"));
    assert!(error("{\"openapi\": ").contains("EOF"));
}

/// A text of 2 KiB that would be some gigabytes where each name stands for what it names.
#[test]
fn names_that_stand_for_ever_more_are_refused() {
    let mut text = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let of = format!("*a{}", n - 1);
        text += &format!("a{n}: &a{n} [{}]\n", [of.as_str(); 10].join(", "));
    }
    assert!(from_openapi(&text, "x.yaml").is_err());
}

proptest! {
    #[test]
    fn any_description_makes_a_scenario_that_can_be_read(
        path in "/[a-zA-Z0-9/{}%?&=#\"' \u{e9}$:.-]{0,30}",
        text in ".{0,40}",
        kind in "(string|integer|object|array|x)",
    ) {
        let schema = serde_json::json!({ "type": kind, "properties": { "a": { "$ref": "#/s" }, text.clone(): { "example": text } }, "items": { "$ref": "#/s" } });
        let root = serde_json::json!({ "openapi": "3.1.0", "servers": [{ "url": text }], "s": schema, "paths": { path: { "post": {
            "operationId": text, "parameters": [{ "name": text, "in": "path", "example": text }, { "name": text, "in": "header", "required": true, "example": text }],
            "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/s" } } } } } } } });
        if let Ok(made) = from_openapi(&root.to_string(), "any.json") {
            let read = Scenario::look(&made.text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{}", read.expect_err("wrong"), made.text);
        }
    }

    #[test]
    fn a_description_cut_anywhere_is_no_panic(cut in 0..SHOP.len()) {
        if let Some(text) = SHOP.get(..cut) {
            let _ = from_openapi(text, "cut.yaml");
        }
    }
}
