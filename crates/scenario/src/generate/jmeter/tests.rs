//! Plans, right and wrong; what is made is compiled, and holds none of the secrets that stood there.

use super::*;
use crate::Scenario;
use proptest::prelude::*;

fn plan(elements: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0"><hashTree>
<TestPlan testname="Shop"><elementProp name="TestPlan.user_defined_variables" elementType="Arguments">
  <collectionProp name="Arguments.arguments"><elementProp name="host" elementType="Argument">
    <stringProp name="Argument.name">host</stringProp><stringProp name="Argument.value">shop.example</stringProp></elementProp></collectionProp>
</elementProp></TestPlan>
<hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn argument(name: &str, value: &str) -> String {
    format!(
        r#"<elementProp name="{name}" elementType="HTTPArgument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
    )
}

fn sampler(name: &str, method: &str, path: &str, arguments: &str, more: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testname="{name}"><elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">{method}</stringProp>{more}</HTTPSamplerProxy>"#
    )
}

fn shop() -> String {
    let headers = r#"<HeaderManager><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header">
        <stringProp name="Header.name">X-Api-Key</stringProp><stringProp name="Header.value">k3yk3yk3yk3y</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;
    let defaults = r#"<ConfigTestElement testname="Defaults"><stringProp name="HTTPSampler.domain">${host}</stringProp>
        <stringProp name="HTTPSampler.port">8443</stringProp><stringProp name="HTTPSampler.protocol">https</stringProp></ConfigTestElement><hashTree/>"#;
    let rows = r#"<CSVDataSet testname="Users"><stringProp name="filename">data/users.csv</stringProp><stringProp name="variableNames">user,pin</stringProp>
        <stringProp name="delimiter">,</stringProp><boolProp name="recycle">true</boolProp></CSVDataSet><hashTree/>"#;
    let extractors = r#"<hashTree><HtmlExtractor><stringProp name="HtmlExtractor.refname">csrf</stringProp><stringProp name="HtmlExtractor.expr">input[name=_csrf]</stringProp>
        <stringProp name="HtmlExtractor.attribute">value</stringProp></HtmlExtractor><hashTree/>
        <UniformRandomTimer><stringProp name="ConstantTimer.delay">300</stringProp><stringProp name="RandomTimer.range">400</stringProp></UniformRandomTimer><hashTree/>
        <ResponseAssertion><collectionProp name="Asserion.test_strings"><stringProp name="1">Sign in</stringProp></collectionProp>
        <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/></hashTree>"#;
    let json = r#"<hashTree><JSONPostProcessor><stringProp name="JSONPostProcessor.referenceNames">order</stringProp>
        <stringProp name="JSONPostProcessor.jsonPathExprs">$.orders[0].id</stringProp></JSONPostProcessor><hashTree/>
        <RegexExtractor><stringProp name="RegexExtractor.refname">next</stringProp><stringProp name="RegexExtractor.regex">href="(/o/\d+)"</stringProp>
        <stringProp name="RegexExtractor.template">$1$</stringProp></RegexExtractor><hashTree/>
        <JSR223PostProcessor testname="script"/><hashTree/></hashTree>"#;
    let login =
        argument("_csrf", "${csrf}") + &argument("user", "${user}") + &argument("password", "hunter2hunter2");
    let raw = argument(
        "",
        r#"{&quot;order&quot;:&quot;${order}&quot;,&quot;n&quot;:&quot;${__Random(1,9)}&quot;}"#,
    );
    let group = [
        sampler("Form", "GET", "/login", "", ""),
        extractors.to_owned(),
        sampler("Log in", "POST", "/login", &login, ""),
        "<hashTree/>".to_owned(),
        r#"<IfController testname="if"/><hashTree>"#.to_owned(),
        sampler("Orders", "GET", "/orders", &argument("state", "open"), ""),
        json.to_owned(),
        "</hashTree>".to_owned(),
        sampler(
            "Pay",
            "POST",
            "${next}/pay",
            &raw,
            r#"<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>"#,
        ),
        "<hashTree/>".to_owned(),
        r#"<JDBCSampler testname="rows"/><hashTree/><HTTPSamplerProxy enabled="false"/><hashTree/>"#
            .to_owned(),
    ]
    .concat();
    let threads = r#"<ThreadGroup testname="Buyers"><stringProp name="ThreadGroup.num_threads">${__P(users,25)}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">10</stringProp></ThreadGroup>"#;
    plan(&format!(
        "{headers}{defaults}{rows}{threads}<hashTree>{group}</hashTree><ResultCollector/><hashTree/>"
    ))
}

#[test]
fn a_journey_is_made_of_the_samplers_with_what_applies_to_them() {
    let Generated { text, base_url, .. } = from_jmeter(&shop(), "shop.jmx").expect("a good plan");
    assert_eq!(base_url.as_deref(), Some("https://shop.example:8443"));
    for secret in ["hunter2", "k3yk3y"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    for part in [
        "start = [\"Form\", \"Log in\", \"Orders\"]",
        "restart_after = [\"Pay\"]",
        "csrf = { operation = \"Form\", field = \"_csrf\" }",
        "order = { operation = \"Orders\", json = \"/orders/0/id\" }",
        "next = { operation = \"Orders\", regex =",
        "form = { _csrf = \"{csrf}\", password = \"${env:PASSWORD}\", user = \"{user}\" }",
        "X-Api-Key = \"${env:X_API_KEY}\"",
        "[[data]]\nfile = \"users.csv\"\nper = \"session\"",
        "Its first line must be: user,pin",
        "path = \"/orders?state=open\"",
        "kind = \"range\", from = 1, to = 9",
        "think_ms = 500",
        "contains = \"Sign in\"",
        "had 25 threads within 10 s: --users 25",
        "# Not taken over: IfController",
        "# Not taken over: JSR223PostProcessor",
        "# Not taken over: JDBCSampler \"rows\".",
        "# Not taken over: elements that are disabled.",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn what_is_no_plan_is_named() {
    let error = |text: &str| from_jmeter(text, "x.jmx").expect_err(text).to_string();
    assert!(error("<html/>").contains("JMeter plan x.jmx: it begins with <html>"));
    assert!(error(&plan("")).contains("holds no HTTP sampler"));
    assert!(error("{}").starts_with("JMeter plan x.jmx: "));
    let entities = "<!DOCTYPE x [<!ENTITY a \"b\">]><jmeterTestPlan>&a;</jmeterTestPlan>";
    assert!(error(entities).starts_with("JMeter plan x.jmx: "), "{}", error(entities));
}

fn escaped(text: &str) -> String {
    let clean: String =
        text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    clean.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

proptest! {
    #[test]
    fn any_texts_make_a_scenario_that_can_be_read(
        path in "[a-zA-Z0-9/{}%?&=#' \u{e9}$:.-]{0,40}",
        text in ".{0,40}",
        name in "[A-Za-z$ {}_(),-]{0,20}",
        regex in "[a-z(). *]{0,8}",
    ) {
        let [path, text, name, regex] = [path, text, name, regex].map(|text| escaped(&text));
        let extractor = format!(
            r#"<hashTree><RegexExtractor><stringProp name="RegexExtractor.refname">{name}</stringProp><stringProp name="RegexExtractor.regex">{regex}</stringProp></RegexExtractor><hashTree/></hashTree>"#
        );
        let rows = format!(r#"<CSVDataSet><stringProp name="filename">{name}.csv</stringProp><stringProp name="variableNames">{name}</stringProp></CSVDataSet><hashTree/>"#);
        let of_host = r#"<stringProp name="HTTPSampler.domain">h</stringProp>"#;
        let all = [
            rows,
            sampler(&name, &name, &path, &argument(&name, &text), of_host),
            extractor,
            sampler(&text, "POST", &format!("${{{name}}}"), &argument(&text, &format!("${{{name}}}")), of_host),
        ];
        if let Ok(made) = from_jmeter(&plan(&all.concat()), "any.jmx") {
            let read = Scenario::look(&made.text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{}", read.expect_err("wrong"), made.text);
        }
    }

    #[test]
    fn a_plan_with_bytes_missing_is_an_error_and_no_panic(cut in 0..6_000_usize) {
        let text = shop();
        if let Some(text) = text.get(..cut.min(text.len() - 3)) {
            prop_assert!(from_jmeter(text, "cut.jmx").is_err());
        }
    }
}
