//! `assay ab`: what it refuses, what it would do, and one comparison of two commands from their start to the answer.

use assay_model::AbReport;
use assay_testkit::{each_java, java_classes, skip};
use std::path::Path;
use std::process::Command;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn ab(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    ab_in(folder.path(), arguments)
}

fn ab_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(ASSAY);
    let output = command.arg("ab").args(arguments).current_dir(folder).output().expect("assay starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_mistake_is_named_with_what_to_do() {
    let good = "java -jar a.jar --port={port}";
    let refused = |arguments: &[&str], wanted: &[&str]| {
        let (code, said, told) = ab(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}{told}");
        for words in wanted {
            assert!(told.contains(words), "{arguments:?}: {words} is not in {told}");
        }
    };
    refused(
        &["--before", good, "--after", "java -jar b.jar"],
        &["--after", "{port}", "--server.port={port}"],
    );
    refused(
        &["--before", good, "--after", good, "--after-dir", "/no/such"],
        &["there is no folder /no/such"],
    );
    refused(&["--before", good, "--after", good, "--limit", "-3%"], &["is not a limit", "+3%"]);
    refused(&["--before", good, "--after", good, "--url-path", "orders"], &["is not a URL path", "/orders"]);
    refused(&["--before", good, "--after", good, "--budget", "10s"], &["too short", "--budget"]);
    refused(&["--before", good, "--after", good, "--scenario", "none.toml"], &["none.toml"]);
    refused(&["--before", good], &["--after"]);
}

#[test]
fn the_plan_says_what_would_be_run() {
    if each_java(64).is_empty() {
        skip!("no 64-bit JVM");
    }
    let (before, after) = ("java -jar old.jar {port}", "java -jar new.jar {port}");
    let (code, said, told) = ab(&["--before", before, "--after", after, "--rate", "50", "--plan"]);
    assert_eq!(code, Some(0), "{said}{told}");
    for words in ["before", "after", "50 requests/s", "ActiveProcessorCount"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

/// Two servers that know nothing of Assay, of which the second allocates twice as much for each request.
#[test]
#[ignore = "long: pairs of processes for some minutes"]
fn a_server_that_allocates_more_fails_the_gate_and_an_equal_one_does_not() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JVM") };
    let classes = java_classes("java/PlainServer.java");
    let folder = tempfile::tempdir().expect("a folder");
    let command = |work: &str| {
        format!("env WORK={work} {} -cp {} PlainServer {{port}}", java.display(), classes.display())
    };
    let options = ["--budget", "6m", "--window", "3s", "--json"];
    let of = |before: &str, after: &str| {
        let (before, after) = (command(before), command(after));
        let arguments = [&["--before", &before, "--after", &after][..], &options].concat();
        let (code, said, told) = ab_in(folder.path(), &arguments);
        let report: AbReport = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{told}"));
        (code, report, told)
    };
    let (code, report, told) = of("200000", "400000");
    assert_eq!(code, Some(1), "{report:?} {told}");
    let (code, report, told) = of("200000", "200000");
    assert!(report.is_a_a && code != Some(1), "{report:?} {told}");
}
