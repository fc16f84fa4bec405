//! `assay capacity` as it is typed: bad input, a server of known capacity, a threshold, Ctrl-C.

use assay_model::{CapacityReport, Check};
use assay_testkit::WorkerServer;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn capacity(arguments: &[&str]) -> Output {
    Command::new(ASSAY).arg("capacity").args(arguments).output().expect("assay starts")
}

#[track_caller]
fn refuses(arguments: &[&str], code: i32, told: &str) {
    let output = capacity(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains(told), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn bad_input_is_told_before_anything_is_loaded() {
    let url = "http://127.0.0.1:9/";
    refuses(&["http://no-such-host.invalid/"], 2, "cannot be resolved");
    refuses(&["ftp://127.0.0.1/"], 2, "URL");
    refuses(&[url, "--limits", "10,none"], 2, "`none` is not a response time");
    refuses(&[url, "--percentile", "100"], 2, "use 50 to 99.9");
    refuses(&[url, "--scenario", "/nowhere.toml"], 2, "cannot read scenario /nowhere.toml");
    refuses(&[url, "--limited", "buy"], 2, "without a scenario there is one operation only");
    refuses(&[url, "--limits", "a=9"], 2, "without a scenario there is one operation only");
    refuses(&[url, "--at-least", "500@7"], 2, "7 ms, which is not among --limits");
    let of_buy = [url, "--limits", "7,buy=9", "--at-least", "500@buy=7"];
    refuses(&of_buy, 2, "7 ms of buy, which is not among --limits");
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("shop.toml");
    let operation = |name| format!("[[operation]]\nname = \"{name}\"\npath = \"/\"\n");
    let text = ["buy", "sell"].map(operation).concat();
    let text = format!("schema = \"assay.scenario/1\"\nname = \"shop\"\n{text}");
    std::fs::write(&scenario, text).expect("a writable folder");
    let scenario = scenario.to_str().expect("a plain path");
    refuses(&[url, "--scenario", scenario, "--limits", "rent=9"], 2, "buy, sell");
    refuses(&[url, "--gc-log", "/nowhere/gc.log"], 2, "--gc-log");
    refuses(&[url, "--audit-url", "audit"], 2, "URL");
    refuses(&[url, "--reset-url", "reset"], 2, "URL");
    refuses(&[url, "--companion", "1"], 2, "--pid");
    // Above the kernel's largest pid_max.
    refuses(&[url, "--pid", "4194305"], 2, "4194305");
    refuses(&[url], 3, "is the server started");
}

#[test]
fn a_workload_s_mistakes_are_told_before_it_is_started() {
    refuses(&["--workload", "supermarkt"], 2, "supermarket");
    refuses(&["http://127.0.0.1:9/", "--workload", "supermarket"], 2, "cannot be used with");
    refuses(&["http://127.0.0.1:9/", "--heap", "1g"], 2, "cannot be used with");
    refuses(&[], 2, "URL");
    let of = |more: &[&str], told: &str| {
        let arguments = [&["--workload", "supermarket"], more].concat();
        refuses(&arguments, 2, told);
    };
    of(&["--option", "data=smal"], "did you mean `small`?");
    of(&["--heap", "much"], "`much` is not a size");
    of(&["--heap", "1g\"\nname = \"x"], "is not a size");
    of(&["--budget", "1s"], "too short to find anything by a search: use at least 10 s");
    of(
        &["--budget", "4m", "--method", "sweep"],
        "too short to find anything by a sweep: use at least 1500 s",
    );
}

#[test]
fn a_result_is_stored_once_and_one_that_is_not_valid_decides_no_wanted_rate() {
    let server = WorkerServer::start(2, Duration::from_millis(10));
    let folder = tempfile::tempdir().expect("a folder");
    let (pid, out) = (std::process::id().to_string(), folder.path().join("found"));
    let out = out.to_str().expect("a plain path");
    let [junit, summary] =
        ["junit.xml", "summary.md"].map(|name| folder.path().join(name).display().to_string());
    // At most 200 a second by its two workers, whatever the machine does besides.
    let fail = format!("{}/fail", server.url);
    let arguments = [
        &server.url,
        "--limits=50,200",
        "--budget=12s",
        "--no-warm-up",
        "--count-disturbed",
        "--at-least=100000@50",
        "--audit-url",
        &fail,
        "--pid",
        &pid,
        "--out",
        out,
        "--junit",
        &junit,
        "--summary",
        &summary,
        "--format",
        "json",
    ];
    let output = capacity(&arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let line = "undecided: less than 100000 requests/s under 50 ms: not measured; the result is not shown to be valid";
    assert!(said.contains(line), "{said}");
    let report: CapacityReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    let stored = std::fs::read_to_string(folder.path().join("found/capacity.json")).expect("stored");
    assert_eq!(report, serde_json::from_str(&stored).expect("the stored form"));
    assert!(!report.windows.is_empty() && report.limits.len() == 2);
    let most = report.windows.iter().map(assay_model::Window::achieved_rate_per_s).fold(0.0, f64::max);
    assert!(most < 230.0, "two workers of 10 ms answer 200 a second: {most}");
    let audit = report.checks.iter().find(|check| check.check == Check::Audit).expect("listed");
    assert!(audit.passed == Some(false) && audit.evidence.contains("answered 500"), "{audit:?}");
    assert!(report.valid == Some(false));
    let written = |path: &str| std::fs::read_to_string(path).expect("written");
    let wanted = "less than 100000 requests/s under 50 ms";
    assert!(written(&junit).contains(wanted), "{}", written(&junit));
    assert!(written(&summary).contains("**Not valid"), "{}", written(&summary));
    refuses(&[&server.url, "--out", out], 2, "is there already");
}

#[test]
fn ctrl_c_gives_what_is_known_so_far_marked_as_not_valid_and_leaves_the_server_running() {
    let server = WorkerServer::start(2, Duration::from_millis(5));
    // It stands for the server's process: whoever signals that signals this one.
    let mut theirs = Command::new("sleep").arg("600").spawn().expect("a process");
    let mut child = Command::new(ASSAY)
        .args(["capacity", &server.url, "--no-warm-up", "--json", "--pid", &theirs.id().to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("assay starts");
    let mut talk = BufReader::new(child.stderr.take().expect("piped"));
    let mut said = String::new();
    while !said.contains("/s answered") {
        assert!(0 < talk.read_line(&mut said).expect("text"), "it ended: {said}");
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
    let mut json = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut json).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let report: CapacityReport = serde_json::from_str(&json).expect("the stored form");
    assert!(report.valid == Some(false) && !report.windows.is_empty());
    assert!(report.problems.iter().any(|p| p.about == "complete"), "{:?}", report.problems);
    let state = std::fs::read_to_string(format!("/proc/{}/stat", theirs.id())).expect("it is there");
    assert!(state.contains(" S "), "asleep, neither ended nor held still: {state}");
    theirs.kill().and_then(|()| theirs.wait()).expect("ours");
}
/// Every answer is one that the scenario does not expect.
#[test]
fn a_load_whose_figures_cannot_be_used_exits_with_1_and_says_so() {
    let (server, folder) = (assay_testkit::CountingServer::start(), tempfile::tempdir().expect("a folder"));
    let scenario = folder.path().join("scenario.toml");
    let text = "schema = \"assay.scenario/1\"\nname = \"n\"\n[[operation]]\nname = \"a\"\npath = \"/\"\nstatus = 404\n";
    std::fs::write(&scenario, text).expect("a writable folder");
    let load = |more: &[&str]| {
        let mut command = Command::new(ASSAY);
        command
            .args(["load", &server.url, "--users", "1", "--duration", "200ms", "--scenario"])
            .arg(&scenario);
        command.args(more).output().expect("assay starts")
    };
    let text = load(&[]);
    assert_eq!(text.status.code(), Some(1), "{}", String::from_utf8_lossy(&text.stderr));
    assert!(String::from_utf8_lossy(&text.stdout).contains("NOT VALID"), "{:?}", text.stdout);
    assert_eq!(load(&["--json"]).status.code(), Some(1));
}
