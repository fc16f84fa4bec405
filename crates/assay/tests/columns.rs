//! What commands write to a terminal of 80 columns: no line is longer, on standard output or standard error.
//!
//! Paths, addresses and commands in quotes are the user's own and stay whole, so that they can be copied: a word with a slash takes no
//! columns here, and a line that is one word behind its indent may be as long as that word.

use assay_testkit::{CountingServer, testdata};
use std::fs;
use std::process::{Command, Stdio};

const COLUMNS: usize = 80;

/// Columns of a line, without what is the user's own.
fn columns(line: &str) -> usize {
    let words: Vec<&str> = line.split(' ').collect();
    let is_alone = words.iter().filter(|word| !word.is_empty()).count() == 1;
    let of_word = |word: &&str| if is_alone || word.contains('/') { 0 } else { word.chars().count() };
    words.iter().map(of_word).sum::<usize>() + words.len().saturating_sub(1)
}

/// The lines of a command that are too long.
fn too_long(words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words)
        .env("COLUMNS", COLUMNS.to_string())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("assay starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!said.is_empty(), "{words:?} says nothing");
    let long = said.lines().filter(|line| COLUMNS < columns(line));
    long.map(|line| format!("assay {}: {}: {line}", words.join(" "), columns(line))).collect()
}

fn check(commands: &[&[&str]]) {
    let long: Vec<String> = commands.iter().flat_map(|words| too_long(words)).collect();
    assert!(long.is_empty(), "{} lines of more than {COLUMNS} columns\n{}", long.len(), long.join("\n"));
}

#[test]
fn a_longer_line_is_one_and_a_path_is_none() {
    assert_eq!(columns("a bb  c"), 7);
    assert_eq!(columns(&format!("reads /{}", "x".repeat(200))), 6);
    assert_eq!(columns(&format!("  {}", "x".repeat(200))), 2);
    assert!(COLUMNS < columns(&"word ".repeat(20)));
}

#[test]
fn studies_and_their_plans_fit() {
    check(&[
        &["studies"],
        &["run", "check", "--plan"],
        &["run", "compressed-references", "--quick", "--plan", "--fail-if", "cpu_ms_per_request > +3 %"],
        &["run", "compressed-references", "--plan"],
        &["run", "own-server", "--plan"],
        &["run", "no-such-study"],
        &["run", "check", "--fail-if", "cpu > 3"],
    ]);
}

#[test]
fn reports_of_stored_results_fit() {
    let of = |name: &str| testdata(name).display().to_string();
    let (run, log, other) = (of("formats/run"), of("gclog/17-g1.log"), of("gclog/25-parallel.log"));
    let (snapshot, before) = (of("formats/host-snapshot-1.json"), of("formats/memory-5.json"));
    check(&[
        &["report", &run, "--format", "table"],
        &["compare", &run, &run],
        &["gc", &log],
        &["gc", &other],
        &["gc", &log, "--fail-if", "pause_max_ms > 1", "--fail-if", "metaspace_bytes > +3"],
        &["gc", "diff", &log, &other],
        &["gc", "diff", &log, &log, "--fail-if", "pause_max_ms > +3%"],
        &["gc", "no-such.log"],
        &["gc", &before],
        &["host", &snapshot],
        &["host", "diff", &snapshot, &snapshot],
        &["memory", "diff", &before, &before],
    ]);
}

/// Lines of an answer that was not asked to be whole.
const LINES_SHORT: usize = 40;

#[test]
fn answers_of_every_kind_of_stored_result_have_at_most_forty_lines_unless_all_is_asked_for() {
    let entries = ["formats", "gallery"].map(|folder| fs::read_dir(testdata(folder)).expect("a folder"));
    let (mut shown, mut cut) = (0, 0);
    for path in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
        let report = |more: &[&str]| {
            let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"));
            assay
                .arg("report")
                .arg(&path)
                .args(["--format", "table"])
                .args(more)
                .env("COLUMNS", COLUMNS.to_string());
            assay.output().expect("assay starts")
        };
        let short = report(&[]);
        if !short.status.success() {
            // No result: a snapshot, a record of something else.
            continue;
        }
        let lines = |output: &[u8]| String::from_utf8_lossy(output).lines().count();
        let number = lines(&short.stdout);
        assert!((1..=LINES_SHORT).contains(&number), "{}: {number} lines", path.display());
        (shown, cut) = (shown + 1, cut + usize::from(number < lines(&report(&["--all"]).stdout)));
    }
    assert!(20 <= shown && 10 <= cut, "{shown} results, of which {cut} have more");
}

#[test]
fn what_is_read_from_the_machine_fits() {
    let pid = std::process::id().to_string();
    check(&[
        &["memory"],
        &["memory", &pid],
        &["memory", &pid, "--watch", "200ms", "--for", "300ms"],
        &["memory", "advise", &pid],
        &["time", &pid, "--for", "300ms"],
        &["host"],
        &["host", "--all"],
        &["heap", "modes"],
        &["heap", "predict", "no-such.hprof"],
        &["heap", "predict", "--pid", &pid],
        &["flags", "-XX:+UseConcMarkSweepGC -Xmx4g"],
        &["flags", &pid],
    ]);
}

#[test]
fn loads_fit() {
    let server = CountingServer::start();
    check(&[
        &["load", &server.url, "--rate", "100", "--duration", "6s"],
        &["load", "localhost:8080", "--rate", "5"],
        &["load", "http://127.0.0.1:1/", "--rate", "5"],
        &["load", "--rate", "5"],
        &["capacity", "http://127.0.0.1:1/", "--at-least", "500"],
        &["capacity", &server.url, "--budget", "10s", "--no-warm-up"],
    ]);
}
