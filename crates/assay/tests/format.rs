//! `--format`, `--html`, `--junit` and `--summary` as they are typed: the same in every command.

use assay_testkit::{checkout, testdata};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn assay(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(words).env("COLUMNS", "100").output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command prints, and its exit code.
#[track_caller]
fn printed(words: &[&str]) -> (String, Option<i32>) {
    let output = assay(words);
    assert!(!output.stdout.is_empty(), "{words:?}: {}", text(&output.stderr));
    (text(&output.stdout), output.status.code())
}

fn stored(name: &str) -> String {
    testdata(&format!("formats/{name}")).display().to_string()
}

/// Commands on stored results, and how the heading of each CSV begins.
fn commands(host: &str) -> Vec<(Vec<String>, &'static str)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (time, log) = (stored("time-4.json"), testdata("gclog/17-g1.log").display().to_string());
    let (memory, run) = (stored("memory-5.json"), stored("run"));
    vec![
        (words("memory"), "pid,resident_bytes,"),
        (words(&format!("memory diff {memory} {memory}")), "path,before_bytes,"),
        (words(&format!("time diff {time} {time}")), "part,name,unit,"),
        (words(&format!("why {log}")), "reader,rule,severity,"),
        (words(&format!("gc {log}")), "table,name,metric,unit,value,"),
        (words(&format!("gc diff {log} {log}")), "metric,unit,before,after,"),
        (words(&format!("host {host}")), "rule,verdict,"),
        (words(&format!("host diff {host} {host}")), "about,name,before,after"),
        (words(&format!("compare {run} {run}")), "variant,metric,unit,"),
        (words("flags -Xmx4g --for 21"), "option,release,"),
        (words(&format!("report {run}")), "study,variant,"),
        (words("studies"), "kind,name,workload,"),
    ]
}

#[test]
fn every_command_prints_the_four_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = folder.path().join("host.json").display().to_string();
    fs::copy(testdata("formats/host-snapshot-1.json"), &host).expect("copied");
    for (words, heading) in commands(&host) {
        let with = |form: &str| {
            let all: Vec<&str> = words.iter().map(String::as_str).chain(["--format", form]).collect();
            printed(&all)
        };
        let ((csv, code), (markdown, _), (json, _)) = (with("csv"), with("md"), with("json"));
        assert_eq!(code, Some(0), "{words:?}");
        assert!(csv.starts_with(heading), "{words:?}: {csv}");
        assert!(markdown.starts_with("# "), "{words:?}: {markdown}");
        serde_json::from_str::<serde_json::Value>(&json).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let short: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
        // The list of running JVMs changes between two commands.
        if words != ["memory"] {
            assert_eq!(printed(&short).0, json, "{words:?}");
            assert_eq!(with("table").0, printed(&[&short[..words.len()], table_of(&words)].concat()).0);
        }
    }
}

#[test]
fn lines_of_json_are_the_rows_of_the_csv_and_name_their_log() {
    let logs = ["17-g1.log", "17-serial.log"].map(|name| testdata("gclog").join(name).display().to_string());
    let (lines, code) = printed(&["gc", &logs[0], &logs[1], "--format", "ndjson"]);
    assert_eq!(code, Some(0), "{lines}");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object on a line")).collect();
    let mut all = 0;
    for log in &logs {
        let (csv, _) = printed(&["gc", log, "--csv"]);
        let of_log: Vec<&serde_json::Value> =
            lines.iter().filter(|line| line["log"] == log.as_str()).collect();
        assert_eq!(of_log.len(), csv.lines().count() - 1, "{log}");
        all += of_log.len();
        for (line, row) in of_log.iter().zip(csv.lines().skip(1)) {
            let begin = ["table", "name", "metric", "unit"].map(|key| line[key].as_str().expect("a word"));
            assert!(row.starts_with(&begin.join(",")), "{row}: {line}");
            assert!(
                line["value"].is_number() && (line["low"].is_number() || line["low"].is_null()),
                "{line}"
            );
        }
    }
    assert_eq!(lines.len(), all);
    let (lines, code) = printed(&["studies", "--format", "ndjson"]);
    let (csv, _) = printed(&["studies", "--format", "csv"]);
    assert_eq!((code, lines.lines().count()), (Some(0), csv.lines().count() - 1), "every result has them");
}

/// Stored results that `report` reads: one of each format.
const RESULTS: [&str; 23] = [
    "ab-1.json",
    "bisect-1.json",
    "judge-1.json",
    "fit-1.json",
    "why-1.json",
    "memory-5.json",
    "memory-record-4.ndjson",
    "memory-change-3.json",
    "memory-advice-4.json",
    "memory-tool-report-1.json",
    "time-4.json",
    "time-change-1.json",
    "gc-5.json",
    "gc-comparison-2.json",
    "load-3.json",
    "capacity-4.json",
    "run-comparison-1.json",
    "host-check-3.json",
    "host-comparison-2.json",
    "flags-2.json",
    "heap-prediction-3.json",
    "heap-layout-2.json",
    "heap-modes-4.json",
];

#[test]
fn a_stored_result_becomes_every_form_again() {
    for name in RESULTS {
        let path = stored(name);
        let with = |form: &str| {
            let (text, code) = printed(&["report", &path, "--format", form, "--out", "-"]);
            assert_eq!(code, Some(0), "{name} as {form}");
            text
        };
        let csv = with("csv");
        let heading = csv.lines().next().unwrap_or_default();
        assert!(heading.contains(',') && !heading.contains(' ') && csv.lines().count() > 1, "{name}: {csv}");
        assert!(with("md").starts_with("# "), "{name}: {}", with("md"));
        assert!(with("html").starts_with("<!DOCTYPE html>"), "{name}");
        assert!(!with("table").contains("NaN"), "{name}");
        let json: serde_json::Value = serde_json::from_str(&with("json")).expect("JSON");
        assert!(json["schema"].as_str().is_some_and(|schema| schema.starts_with("assay.")), "{name}");
    }
}

#[test]
fn the_page_of_a_stored_result_lies_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kafka.json");
    fs::copy(testdata("formats/memory-5.json"), &path).expect("copied");
    let (said, code) = printed(&["report", path.to_str().expect("a name")]);
    let page = path.with_extension("html");
    assert_eq!((said.trim(), code), (page.to_str().expect("a name"), Some(0)));
    assert!(fs::read_to_string(&page).expect("a page").starts_with("<!DOCTYPE html>"));
}

#[test]
fn stored_files_that_are_not_results_are_refused_with_what_they_are() {
    for (name, part) in [
        ("host-snapshot-1.json", "it is a snapshot of a machine assay host "),
        ("plan-1.json", "is not a result with a report"),
        ("memory-jvms-1.json", "is not a result with a report"),
        ("study-1.toml", "a study: assay run "),
    ] {
        let output = assay(&["report", &stored(name)]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        // Where the lines break depends on how long the file's path is.
        let words = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(part), "{name}: {words}");
    }
}

/// What makes `report` print what others print by themselves.
fn table_of(words: &[String]) -> &'static [&'static str] {
    if words.first().is_some_and(|first| first == "report") { &["--format", "table"] } else { &[] }
}

#[test]
fn a_form_that_makes_no_sense_is_refused_with_what_there_is() {
    for (line, part) in [
        ("memory 1 --watch --format csv", "--watch has the forms table and json"),
        ("memory 1 --trim --format md", "--trim has the forms table and json"),
        ("time 1 --watch --format md", "--watch has the forms table and json"),
        ("memory 1 --record f --format json", "cannot be used with"),
        ("gc gc.log --csv --format md", "cannot be used with"),
        ("gc gc.log --json --format md", "cannot be used with"),
        ("gc gc.log --format yaml", "[possible values: table, json, csv, md, ndjson]"),
        ("run own-server --plan --format csv", "--plan has the forms table and json"),
        ("load --from-har a.har --html p.html", "cannot be used with"),
    ] {
        let output = assay(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(part), "{line}: {}", text(&output.stderr));
    }
}

/// Runs a command with a page, and gives the page.
#[track_caller]
fn page(folder: &Path, words: &[&str]) -> String {
    let path = folder.join("page.html");
    let output = assay(&[words, &["--html", path.to_str().expect("a name")]].concat());
    assert!(output.stdout.is_empty(), "a page alone was asked for");
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&output.stderr)))
}

#[test]
fn pages_are_written_of_machines_and_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = stored("host-snapshot-1.json");
    assert!(page(folder.path(), &["host", &host]).contains("<h1><bdi>Check of a machine"));
    assert!(page(folder.path(), &["host", "diff", &host, &host]).contains("No difference in machine"));
    assert!(page(folder.path(), &["flags", "-Xmx4g", "--for", "21"]).contains("JVM options by release"));
}

#[test]
fn verdicts_are_written_for_a_build() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let log = testdata("gclog/17-g1.log").display().to_string();
    let judged = |words: &[&str]| {
        let (junit, summary) = (path("junit.xml"), path("summary.md"));
        let files = ["--junit", &junit, "--summary", &summary];
        let output = assay(&[words, &files[..]].concat());
        let read = |name: &str| {
            fs::read_to_string(name).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&output.stderr)))
        };
        (output.status.code(), read(&junit), read(&summary))
    };
    let (code, junit, summary) =
        judged(&["gc", &log, "--fail-if", "pause_max_ms > 0", "--fail-if", "pause_max_ms > 100000"]);
    assert_eq!(code, Some(1));
    assert!(junit.contains("tests=\"3\" failures=\"1\" errors=\"0\""), "{junit}");
    assert!(summary.contains(": fails, 1 of 2 conditions\n"), "{summary}");
    assert!(summary.contains("| passes | pause\\_max\\_ms &gt; 100000: "), "{summary}");
    assert!(summary.contains("**Pauses by kind**"), "the result stands below: {summary}");
    let (code, junit, summary) = judged(&["gc", "diff", &log, &log, "--fail-if", "pause_max_ms > +900 %"]);
    assert_ne!(code, Some(2));
    assert!(junit.contains("pause_max_ms &#62; +900"), "{junit}");
    assert!(summary.contains("# What differs between two GC logs"), "{summary}");
    let host = stored("host-snapshot-1.json");
    let (code, junit, summary) = judged(&["host", &host, "--fail-on", "note"]);
    let failures = junit.matches("<failure ").count();
    assert_eq!(code, Some(i32::from(failures != 0)), "{junit}");
    assert!(failures != 0, "something is bad on that machine: {junit}");
    assert!(summary.contains(&format!("fails, {failures} of ")), "{summary}");
    assert!(!junit.contains("<error "), "what is unknown fails no build: {junit}");
    let output = assay(&["host", &host, "--fail-on", "note", "--html", &path("host.html")]);
    let said = text(&output.stderr);
    assert_eq!(said.matches("fails: ").count(), failures, "the page alone does not say why: {said}");
}

/// Checks a log against the schema of the format's own committee.
#[track_caller]
fn assert_sarif(log: &serde_json::Value) {
    let schema = fs::read(checkout().join("testdata/sarif/sarif-schema-2.1.0.json")).expect("the schema");
    let mut schema: serde_json::Value = serde_json::from_slice(&schema).expect("JSON");
    // Its pattern for languages has a bracket too many, which is not a regular expression of JSON schemas.
    for definition in ["run", "toolComponent"] {
        schema["definitions"][definition]["properties"]["language"] = serde_json::json!({ "type": "string" });
    }
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(!validator.is_valid(&serde_json::json!({ "version": "2.1.0" })), "the schema refuses nothing");
}

/// The form itself is tested beside its writer.
#[test]
fn alerts_name_the_rule_and_where_it_is_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let alerts = |words: &[&str]| -> serde_json::Value {
        let file = path("alerts.sarif");
        let output = assay(&[words, &["--sarif", &file]].concat());
        let read = fs::read(&file).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&output.stderr)));
        let log: serde_json::Value = serde_json::from_slice(&read).expect("JSON");
        assert_sarif(&log);
        log["runs"][0].clone()
    };
    let options = path("jvm.options");
    fs::write(&options, "# heap\n-Xmx1g\n8-:-XX:+UseConcMarkSweepGC\n").expect("it is written");
    let run = alerts(&["flags", "--file", &options, "--for", "21"]);
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"option-unrecognized".into(), &"error".into()));
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.starts_with("JDK 21: -XX:+UseConc")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], format!("file://{options}"));
    assert_eq!(place["region"]["startLine"], 3);
    let run = alerts(&["host", &stored("host-snapshot-1.json")]);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert!(!results.is_empty() && results.len() < rules.len(), "{run}");
    let is_helped =
        |rule: &serde_json::Value| rule["help"]["text"].as_str().is_some_and(|text| !text.is_empty());
    assert!(rules.iter().all(is_helped), "{rules:?}");
    // A title is what the rule asks for; an alert says what is wrong.
    let titles: Vec<&str> = rules.iter().filter_map(|of| of["shortDescription"]["text"].as_str()).collect();
    let message = |of: &serde_json::Value| of["message"]["text"].as_str().unwrap_or_default().to_owned();
    let is_title = |text: &str| titles.iter().any(|title| text.starts_with(&format!("{title}: ")));
    assert_eq!(titles.len(), rules.len());
    assert!(results.iter().map(message).all(|text| !text.is_empty() && !is_title(&text)), "{results:?}");
    let subject = &results[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert!(subject == "machine" || subject.as_str().is_some_and(|of| of.starts_with("JVM ")), "{subject}");
}

#[test]
fn a_load_whose_page_alone_was_asked_for_says_why_it_is_not_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("load.html").display().to_string();
    // A server that closes each connection without an answer.
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", server.local_addr().expect("its address"));
    std::thread::spawn(move || server.incoming().for_each(drop));
    let invalid = assay(&["load", &url, "--rate", "20", "--duration", "1s", "--html", &page]);
    let said = text(&invalid.stderr);
    assert_eq!(invalid.status.code(), Some(1), "{said}");
    assert!(said.contains("NOT VALID: do not use these figures\nnote: "), "{said}");
    let page = fs::read_to_string(&page).expect("a page");
    assert!(page.contains("Not valid: do not use these figures"), "the page says so first");
}
