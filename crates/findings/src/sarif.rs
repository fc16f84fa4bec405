//! Findings as SARIF 2.1.0, the form of the alerts that GitHub, GitLab and editors list:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use assay_kit::text::clean;
use assay_model::Severity;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Bytes that a path of a URI does not have as they are: all but the unreserved ones of RFC 3986 and the slash.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// A rule that was applied.
pub struct Rule {
    /// Its word, which never changes: `thp-mode`.
    pub id: String,
    /// How grave it is to break it.
    pub severity: Severity,
    /// What it wants, or finds: one sentence.
    pub title: String,
    /// Why, and what to do: sentences.
    pub help: Vec<String>,
}

/// A rule that is broken.
pub struct Alert {
    /// The rule's id, which is among the rules.
    pub rule: String,
    /// How grave it is here.
    pub severity: Severity,
    /// What was found, and the step that helps.
    pub message: String,
    /// What it is about: a JVM, the machine, an option.
    pub subject: String,
    /// The file that it stands in, with the line where that is known; absent where no file was read.
    pub file: Option<(String, Option<u64>)>,
}

/// Alerts of one command.
pub struct Alerts {
    /// The version of the program.
    pub version: &'static str,
    /// What made them: `assay host`.
    pub command: &'static str,
    /// The rules that were applied, those that are kept among them.
    pub rules: Vec<Rule>,
    /// Those that are broken.
    pub alerts: Vec<Alert>,
}

/// Writes alerts.
///
/// # Errors
/// Those of the writer.
pub fn render_sarif(alerts: &Alerts, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &log(alerts))?;
    writeln!(out)
}

fn log(alerts: &Alerts) -> Value {
    // One rule may have been applied to several JVMs.
    let rules: BTreeMap<&str, &Rule> = alerts.rules.iter().map(|rule| (rule.id.as_str(), rule)).collect();
    let places: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(at, id)| (*id, at)).collect();
    let results: Vec<Value> =
        alerts.alerts.iter().map(|of| result(of, places.get(of.rule.as_str()).copied())).collect();
    let driver = json!({
        "name": "Assay",
        "version": alerts.version,
        "rules": rules.values().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
    });
    let id = format!("{}/", alerts.command);
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "automationDetails": { "id": id }, "results": results }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    let help: Vec<String> = rule.help.iter().map(|text| clean(text)).collect();
    let title = clean(&rule.title);
    let mut descriptor = json!({
        "id": rule.id,
        "shortDescription": { "text": title },
        "fullDescription": { "text": title },
        "defaultConfiguration": { "level": rule.severity.word() },
    });
    // GitHub shows the help of an alert, and nothing else of its rule.
    let help = if help.is_empty() { title } else { help.join("\n\n") };
    descriptor["help"] = json!({ "text": help });
    descriptor
}

fn result(alert: &Alert, rule: Option<usize>) -> Value {
    let mut location = Map::new();
    if let Some((file, line)) = &alert.file {
        let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
        if let Some(line) = line {
            physical["region"] = json!({ "startLine": line });
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    let subject = clean(&alert.subject);
    location.insert(
        "logicalLocations".to_owned(),
        json!([{ "fullyQualifiedName": subject, "kind": "resource" }]),
    );
    let mut result = json!({
        "ruleId": alert.rule,
        "level": alert.severity.word(),
        "message": { "text": clean(&alert.message) },
        "locations": [location],
        // The same alert of the next build, whatever the line is then.
        "partialFingerprints": { "assayAlert/v1": format!("{}:{subject}", alert.rule) },
    });
    if let Some(rule) = rule {
        result["ruleIndex"] = json!(rule);
    }
    result
}

/// A path as a URI: one below the current folder stays relative, as those who show it in a repository want it.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", utf8_percent_encode(path, IN_PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, help: &[&str]) -> Rule {
        Rule {
            id: id.to_owned(),
            severity: Severity::Warning,
            title: format!("what {id} wants"),
            help: help.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn alert(rule: &str, file: Option<(&str, Option<u64>)>) -> Alert {
        Alert {
            rule: rule.to_owned(),
            severity: Severity::Error,
            message: "4 \u{1b}[31mof 8".to_owned(),
            subject: "JVM 17".to_owned(),
            file: file.map(|(path, line)| (path.to_owned(), line)),
        }
    }

    /// Properties that the schema requires and allows of the objects that are written: it allows no others.
    const SCHEMA_OF: [(&str, &[&str], &[&str]); 10] = [
        ("", &["version", "runs"], &["$schema"]),
        ("/runs", &["tool"], &["automationDetails", "results"]),
        ("/runs/tool", &["driver"], &[]),
        ("/runs/tool/driver", &["name"], &["version", "rules"]),
        (
            "/runs/tool/driver/rules",
            &["id"],
            &["shortDescription", "fullDescription", "defaultConfiguration", "help"],
        ),
        (
            "/runs/results",
            &["message"],
            &["ruleId", "ruleIndex", "level", "locations", "partialFingerprints"],
        ),
        ("/runs/results/message", &["text"], &[]),
        ("/runs/results/locations", &[], &["physicalLocation", "logicalLocations"]),
        ("/runs/results/locations/physicalLocation", &["artifactLocation"], &["region"]),
        ("/runs/results/locations/physicalLocation/region", &["startLine"], &[]),
    ];

    fn check(value: &Value, path: &str) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| check(item, path)),
            Value::Object(of) => {
                if let Some((_, required, allowed)) = SCHEMA_OF.iter().find(|(known, ..)| *known == path) {
                    assert!(required.iter().all(|key| of.contains_key(*key)), "{path}: {value}");
                    let is_known = |key: &String| required.iter().chain(*allowed).any(|known| known == key);
                    assert!(of.keys().all(is_known), "{path}: {value}");
                }
                of.iter().for_each(|(key, value)| check(value, &format!("{path}/{key}")));
            }
            _ => {}
        }
        if path.ends_with("/level") {
            assert!(
                ["none", "note", "warning", "error"].iter().any(|level| value == level),
                "{path}: {value}"
            );
        }
    }

    #[test]
    fn what_is_written_has_what_the_schema_requires_and_nothing_else() {
        let alerts = Alerts {
            version: "1.2.3",
            command: "assay flags",
            rules: vec![rule("b", &["why", "do this"]), rule("a", &[]), rule("b", &["why", "do this"])],
            alerts: vec![
                alert("b", Some(("conf/jvm options", Some(7)))),
                alert("a", None),
                alert("b", Some(("/etc/x", None))),
            ],
        };
        let mut bytes = Vec::new();
        render_sarif(&alerts, &mut bytes).expect("in memory");
        let log: Value = serde_json::from_slice(&bytes).expect("JSON");
        check(&log, "");
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), 2, "each once");
        assert_eq!(rules[1]["help"]["text"], "why\n\ndo this");
        for result in run["results"].as_array().expect("results") {
            let index = result["ruleIndex"].as_u64().expect("an index") as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert_eq!(result["level"], "error", "as it is here, and not as the rule has it");
        }
        let physical = |at: usize| &run["results"][at]["locations"][0]["physicalLocation"];
        assert_eq!(physical(0)["artifactLocation"]["uri"], "conf/jvm%20options");
        assert_eq!(physical(0)["region"]["startLine"], 7);
        assert_eq!(physical(2), &json!({ "artifactLocation": { "uri": "file:///etc/x" } }));
        assert_eq!(run["results"][1]["locations"][0].get("physicalLocation"), None);
        assert!(!String::from_utf8_lossy(&bytes).contains("\\u001b"), "no control characters");
    }
}
