//! `assay time` as it is typed: exit codes, messages, what a pipe gets.

use assay_model::{TimeReport, schema};
use assay_testkit::{find_java, find_tool, skip, start_java};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn assay(arguments: &[&str]) -> Output {
    Command::new(ASSAY).arg("time").args(arguments).env("COLUMNS", "100").output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that is no JVM; ended when dropped.
struct Other(Child);

impl Other {
    fn start(program: &str, argument: &str) -> Other {
        Other(Command::new(program).arg(argument).stdout(Stdio::null()).spawn().expect("it starts"))
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_does_not_exist_is_wrong_use_with_a_way_on() {
    // Above the kernel's largest pid_max.
    for arguments in [&["4194305"][..], &["4194305", "--watch"], &["4194305", "--json"]] {
        let output = assay(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = text(&output.stderr);
        assert!(told.contains("no process with PID 4194305") && told.contains("assay memory"), "{told}");
        assert!(output.stdout.is_empty());
    }
    let output = assay(&["1", "--html", "/no/such/folder/page.html", "--for", "10ms"]);
    assert_eq!(output.status.code(), Some(2), "a page without a place is known before the first look");
}

#[test]
fn a_process_that_is_no_jvm_is_accounted_for_with_unknown_roles() {
    let yes = Other::start("yes", "assay");
    let output = assay(&[&yes.pid(), "--for", "1s", "--json", "--requests-per-second", "10"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: TimeReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(report.schema, schema::TIME);
    assert_eq!(report.groups.iter().map(|group| &*group.name).collect::<Vec<_>>(), ["yes"]);
    let sum = report.threads_cpu_ns.cast_signed() + report.difference_ns;
    assert_eq!(sum.cast_unsigned(), report.process.cpu_ns, "the tree adds up to the total");
    let requests = report.requests.expect("as was given");
    assert!((requests - report.duration_ns as f64 / 1e8).abs() < 1e-6, "10 a second: {requests}");
    // `yes` writes: without the right to sample the report says what would give it.
    let left_out = report.left_out.iter().any(|row| row.figure == "what the kernel did");
    match &report.samples {
        Some(samples) => assert!(!samples.roles.is_empty() && samples.coverage.is_some(), "{samples:?}"),
        None => assert!(left_out),
    }
    let without = assay(&[&yes.pid(), "--for", "300ms", "--json", "--no-samples"]);
    let without: TimeReport = serde_json::from_slice(&without.stdout).expect("the stored form");
    let why = without.left_out.iter().find(|row| row.figure == "where in the code").expect("said");
    assert!(without.samples.is_none() && why.enable.contains("--no-samples"), "{why:?}");
    let shown = text(&assay(&[&yes.pid(), "--for", "300ms", "--requests", "3", "--all"]).stdout);
    for part in
        ["not a JVM that could be read", "per request", "the kernel's total for the process", "Not available"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_process_that_ends_meanwhile_is_shown_as_far_as_it_was_seen() {
    let sleep = Other::start("sleep", "1");
    let output = assay(&[&sleep.pid(), "--for", "1h"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("the process ended"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the kernel's total for the process"));
}

#[test]
fn a_pipe_gets_a_line_for_each_interval_until_ctrl_c() {
    let yes = Other::start("yes", "assay");
    let pid = yes.pid();
    let arguments = ["time", &pid, "--watch=200ms"];
    let mut command = Command::new(ASSAY);
    let mut watch =
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("assay starts");
    let mut out = BufReader::new(watch.stdout.take().expect("piped"));
    let mut shown = String::new();
    for _ in 0..3 {
        assert!(0 < out.read_line(&mut shown).expect("text"), "it ended: {shown}");
    }
    kill_process(Pid::from_child(&watch), Signal::INT).expect("our child takes signals");
    out.read_to_string(&mut shown).expect("text");
    let output = watch.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.lines().all(|line| line.contains(" CPUs ") && line.contains("kernel ")), "{shown}");
    assert!(!shown.contains('\x1b'));
    let output = assay(&[&pid, "--watch=200ms", "--for", "500ms", "--json"]);
    let lines = text(&output.stdout);
    let reports: Vec<TimeReport> =
        lines.lines().map(|line| serde_json::from_str(line).expect("the stored form")).collect();
    assert!(2 <= reports.len(), "{lines}");
    for pair in reports.windows(2) {
        assert_eq!(
            pair[0].monotonic_ns + pair[0].duration_ns,
            pair[1].monotonic_ns,
            "no time between two intervals"
        );
    }
}

#[test]
fn a_jvm_has_roles_and_a_page() {
    let Some(java) = find_java(17, 64).filter(|_| find_tool("javac").is_some()) else { skip!("no JDK 17") };
    let jvm = start_java(&java, &["-Xmx128m"], &[], "Working");
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("time.html");
    let output = assay(&[&jvm.pid().to_string(), "--for", "2s", "--html", &page.display().to_string()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(page).expect("a page");
    for part in ["reads-zeros", "pool-1-thread-*", "garbage collector", "C2 compiler", "JVM 17"] {
        assert!(page.contains(part), "{part}");
    }
}
