//! `assay fit`: what it refuses, what it would do, and one container of a small server from the start to the proof.

use assay_model::{FitOutcome, FitReport, FitVerdict};
use assay_testkit::{each_java, java_classes, skip};
use std::path::Path;
use std::process::Command;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const SHOP: &str = "java -jar shop.jar {port}";

fn fit_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(ASSAY);
    let output = command.arg("fit").args(arguments).current_dir(folder).output().expect("assay starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn fit(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fit_in(folder.path(), arguments)
}

fn refused(arguments: &[&str], wanted: &[&str]) {
    let (code, said, told) = fit(arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {said}{told}");
    for words in wanted {
        assert!(told.contains(words), "{arguments:?}: {words} is not in {told}");
    }
}

/// Control groups in which this process may make others.
fn has_groups() -> bool {
    let proc = assay_linux::ProcRoot::default();
    let place = proc.place_for_groups(&assay_linux::SysRoot::default(), "memory").ok().flatten();
    // Files of a group cannot be removed, its folder can.
    let made = place.map(|(_, folder)| folder.join(format!("assay-try-{}", assay_linux::monotonic_ns())));
    made.is_some_and(|made| std::fs::create_dir(&made).and_then(|()| std::fs::remove_dir(&made)).is_ok())
}

#[test]
fn each_mistake_is_named_with_what_to_do() {
    refused(&["--command", SHOP], &["--limit"]);
    refused(&["--limit", "p99=50ms"], &["<STUDY>"]);
    refused(&["--command", SHOP, "--limit", "p98=50ms"], &["is not a limit", "p99=50ms"]);
    refused(&["--command", "java -jar shop.jar", "--limit", "p99=50ms"], &["--command", "{port}"]);
    refused(&["none.toml", "--limit", "p99=50ms", "--rate", "5"], &["leave --rate out"]);
    refused(&["none.toml", "--limit", "p99=50ms"], &["none.toml"]);
    refused(&["--command", SHOP, "--size", "-XX:ParallelGCThreads={}"], &["--between"]);
    refused(
        &["--command", SHOP, "--size", "threads", "--between", "1..4"],
        &["no place for the value", "{size}"],
    );
    refused(
        &[
            "--command",
            SHOP,
            "--size",
            "-XX:ParallelGCThreads={}",
            "--between",
            "1..4",
            "--metric",
            "no_such",
        ],
        &["there is no metric no_such"],
    );
}

#[test]
fn a_heap_above_the_machine_is_refused_before_anything_runs() {
    let words = ["no limit can hold", "exceeds the machine's memory"];
    refused(&["--command", SHOP, "--limit", "p99=50ms", "--heap", "900t"], &words);
}

#[test]
fn the_plan_says_how_long_a_probe_takes() {
    if each_java(64).is_empty() || !has_groups() {
        skip!("no 64-bit JVM, or no control groups that may be written");
    }
    let (code, said, told) = fit(&["--command", SHOP, "--rate", "50", "--limit", "p99=50ms", "--plan"]);
    assert_eq!(code, Some(0), "{said}{told}");
    for words in ["50 requests/s", "a probe", "control group of the server"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

/// A server of 30 lines that keeps 32 MB: its limit is proved, and nothing is left behind.
#[test]
#[ignore = "long: a search of ten minutes"]
fn a_small_server_gets_a_limit_that_holds_and_leaves_no_group() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JVM") };
    if !has_groups() {
        skip!("no control groups that may be written");
    }
    let classes = java_classes("java/PlainServer.java");
    let folder = tempfile::tempdir().expect("a folder");
    let command =
        format!("env WORK=200000 {} -cp {} PlainServer {{port}}", java.display(), classes.display());
    let arguments = [
        "--command",
        &command,
        "--rate",
        "50",
        "--limit",
        "p99=500ms",
        "--window",
        "5s",
        "--only",
        "memory",
        "--budget",
        "20m",
        "--json",
    ];
    let (code, said, told) = fit_in(folder.path(), &arguments);
    let report: FitReport = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{told}"));
    assert_eq!((code, report.outcome), (Some(0), FitOutcome::Found), "{told}");
    let memory = report.memory.expect("a limit");
    assert!(memory.is_proved && 5 <= memory.holds, "{memory:?}");
    assert!(report.probes.iter().any(|probe| probe.verdict != FitVerdict::Holds), "{told}");
    let left: Vec<_> = walk("/sys/fs/cgroup").into_iter().filter(|name| name.starts_with("assay-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A probe holds the lock on changes to the machine. The other fit waits for it, and both have an answer.
#[test]
#[ignore = "long: two searches of some minutes that take turns"]
fn two_fits_at_once_take_turns_and_both_have_an_answer() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JVM") };
    if !has_groups() {
        skip!("no control groups that may be written");
    }
    let classes = java_classes("java/PlainServer.java");
    let folder = tempfile::tempdir().expect("a folder");
    let command = format!("{} -cp {} PlainServer {{port}}", java.display(), classes.display());
    let limit = ["--limit", "p99=2s", "--rate", "20", "--window", "3s", "--only", "memory", "--budget", "3m"];
    let fit = |name: &str| {
        let arguments = ["--command", &command, "--out", name, "--json"];
        fit_in(folder.path(), &[&arguments[..], &limit].concat())
    };
    let (first, second) = std::thread::scope(|scope| {
        let [first, second] = ["first", "second"].map(|name| scope.spawn(move || fit(name)));
        (first.join().expect("no panic"), second.join().expect("no panic"))
    });
    assert!(
        format!("{}{}", first.2, second.2).contains("waiting until it has ended"),
        "{first:?} {second:?}"
    );
    for (code, said, told) in [first, second] {
        let report: FitReport = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{told}"));
        assert!(matches!(code, Some(0 | 3)) && 2 <= report.probes.len(), "{code:?} {told}");
        assert!(report.memory.is_some(), "{told}");
    }
    assert!(["first", "second"].iter().all(|name| folder.path().join(name).join("fit.json").is_file()));
}

/// Names of the folders two levels below one.
fn walk(root: &str) -> Vec<String> {
    let below = |path: &Path| path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let all = below(Path::new(root)).flat_map(|path| below(&path).collect::<Vec<_>>());
    all.filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned())).collect()
}
