//! The reader's bytes and pauses against what the JVM's own management interface says of the same run
//! (`GarbageCollectionNotificationInfo`, recorded by `testdata/gclog/GcTruth.java`), and garbage per request
//! against the bytes that the program knows it allocated.

use crate::analysed;
use assay_gclog::{Records, xlog_option};
use assay_gcstudy::freed_between;
use assay_model::{GcRecord, GcScope};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const COLLECTORS: [&str; 3] = ["Serial", "Parallel", "G1"];

fn read_log(path: &Path) -> Records {
    Records::read(path.display().to_string(), File::open(path).expect("the log is there"))
}

/// Compares a log with the truth beside it.
fn check(log_path: &Path) {
    let name = log_path.display();
    let truth = fs::read_to_string(log_path.with_extension("json")).expect("the truth is beside the log");
    let truth: Value = serde_json::from_str(&truth).expect("the truth is JSON");
    let log = read_log(log_path);
    assert_eq!(log.problems, [], "{name}");
    assert_eq!(log.lines_not_understood, 0, "{name}");
    assert_eq!(log.jvm.version.as_deref(), truth["java"].as_str(), "{name}");
    assert!(
        log.jvm.mode.is_some() && log.jvm.heap.is_some_and(|heap| heap.reserved_bytes == 64 << 20),
        "{name}"
    );

    check_collections(&log, &truth);
    check_freed(
        &fs::read(log_path).expect("the log is there"),
        &truth,
        log.jvm.collector.as_deref() == Some("G1"),
    );
    check_garbage_per_request(&log, &truth);
}

/// Every collection has the management interface's bytes, at the resolution that the crate's documentation
/// states.
fn check_collections(log: &Records, truth: &Value) {
    let is_g1 = log.jvm.collector.as_deref() == Some("G1");
    let collections = truth["collections"].as_array().expect("collections");
    let pauses: Vec<&GcRecord> = log.pauses().collect();
    assert_eq!(pauses.len(), collections.len(), "pauses");
    for (pause, collection) in pauses.into_iter().zip(collections) {
        let id = pause.cycle_id.expect("a number");
        let bytes = |key: &str| collection[key].as_u64().expect("bytes");
        let resolved = |bytes: u64| if is_g1 { bytes / 1024 * 1024 } else { bytes };
        let (before, after) = (bytes("before_bytes"), bytes("after_bytes"));
        assert_eq!(pause.heap.before_bytes, Some(resolved(before)), "before GC({id})");
        assert_eq!(pause.heap.after_bytes, Some(resolved(after)), "after GC({id})");
        assert_eq!(pause.cause.as_deref(), collection["cause"].as_str(), "cause of GC({id})");
        assert_eq!((pause.scope == Some(GcScope::Full)), collection["action"] == "end of major GC");
    }
}

/// What the report says is freed: by all collections, the first one included.
fn check_freed(log: &[u8], truth: &Value, is_g1: bool) {
    let collections = &truth["collections"].as_array().expect("collections");
    let freed = |c: &Value| Some(c["before_bytes"].as_u64()? - c["after_bytes"].as_u64()?);
    let known: u64 = collections.iter().map(|collection| freed(collection).expect("bytes")).sum();
    let found = analysed::report(log).freed_bytes.expect("freed bytes");
    let rounding = if is_g1 { 1024 * collections.len() as u64 } else { 0 };
    assert!(found.abs_diff(known) <= rounding, "freed {found}, not {known}");
}

/// Allocation between the first and the last collection of the run, over the requests served between them.
fn check_garbage_per_request(log: &Records, truth: &Value) {
    let first_ns = truth["first_request_monotonic_ns"].as_u64().expect("a time");
    let lengths_ns = truth["request_lengths_ns"].as_array().expect("lengths");
    let ends_ns: Vec<u64> = lengths_ns
        .iter()
        .scan(first_ns, |at_ns, length| {
            *at_ns += length.as_u64().expect("a length");
            Some(*at_ns)
        })
        .collect();
    // The last collection is the program's own System.gc() after the last request: outside of the window.
    let last_ns = *ends_ns.last().expect("requests");
    let window = freed_between(&log.records, first_ns, last_ns).expect("a window");
    let completed = |at_ns: u64| ends_ns.partition_point(|end_ns| *end_ns <= at_ns) as f64;
    let requests = completed(window.last_gc_end_ns) - completed(window.first_gc_end_ns);
    let per_request = window.allocated_bytes as f64 / requests;
    let known =
        truth["allocated_bytes"].as_f64().expect("bytes") / truth["requests"].as_f64().expect("requests");
    let off_percent = (per_request / known - 1.0) * 100.0;
    println!(
        "{:?} {:?}: {} pauses; allocated a request {per_request:.0} bytes, known {known:.0}, {off_percent:+.2} %; \
         freed a request {:.0} bytes",
        log.jvm.version,
        log.jvm.collector,
        log.pauses().count(),
        window.freed_bytes as f64 / requests
    );
    assert!(off_percent.abs() < 1.0, "allocated bytes a request: {per_request:.0}, not {known:.0}");
}

#[test]
fn recorded_logs_agree_with_the_management_interface() {
    let mut logs = 0;
    for entry in fs::read_dir(assay_testkit::testdata("gclog")).expect("the recorded logs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "log") {
            check(&path);
            logs += 1;
        }
    }
    assert_eq!(logs, 9, "JDK 17 in 32 and 64 bits and 25, three collectors each");
}

#[test]
fn logs_of_the_jvms_at_hand_agree_with_the_management_interface() {
    let Some(homes) = assay_testkit::homes_with_compiler_first() else {
        assay_testkit::skip!("no JDK with javac")
    };
    let classes = compiled_truth(&homes[0]);
    let mut runs = 0;
    for home in homes {
        for collector in COLLECTORS {
            let (_folder, log) = logged(&home, classes.path(), collector, &[]);
            check(&log);
            runs += 1;
        }
    }
    println!("{runs} runs");
}

/// Durations have a comma where the locale of the JVM's C library has: every release prints them by it.
#[test]
fn logs_of_a_german_locale_agree_with_the_management_interface() {
    let Some(homes) = assay_testkit::homes_with_compiler_first() else {
        assay_testkit::skip!("no JDK with javac")
    };
    let locales = tempfile::tempdir().expect("a temporary folder");
    let german = locales.path().join("de_DE.UTF-8");
    let made = Command::new("localedef").args(["-i", "de_DE", "-f", "UTF-8"]).arg(&german).output();
    if !made.is_ok_and(|made| made.status.success()) || !german.exists() {
        assay_testkit::skip!("no German locale can be made: localedef or its sources are missing")
    }
    let classes = compiled_truth(&homes[0]);
    // Releases whose log says which JVM wrote it..
    for (release, java) in assay_testkit::each_release(64).range(17..) {
        let home = java.ancestors().nth(2).expect("HOME/bin/java");
        for collector in COLLECTORS {
            let environment =
                [("LOCPATH", locales.path().as_os_str()), ("LC_ALL", OsStr::new("de_DE.UTF-8"))];
            let (_folder, log) = logged(home, classes.path(), collector, &environment);
            let text = fs::read_to_string(&log).expect("the log is there");
            let has_comma = text.lines().any(|line| line.contains("Pause") && has_decimal_comma(line));
            assert!(has_comma, "JDK {release} with {collector}: not a German log");
            check(&log);
        }
    }
}

fn has_decimal_comma(line: &str) -> bool {
    let digits: Vec<char> = line.chars().collect();
    digits.windows(3).any(|w| w[0].is_ascii_digit() && w[1] == ',' && w[2].is_ascii_digit())
}

/// Runs the program; its log, with the truth beside it, in a folder that is removed when dropped.
fn logged(
    home: &Path,
    classes: &Path,
    collector: &str,
    environment: &[(&str, &OsStr)],
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("a:colon, and blanks.log");
    let run = Command::new(home.join("bin/java"))
        .envs(environment.iter().copied())
        // No TLABs: what a thread reserved and did not fill counts as used, here 1 % of all.
        .args(["-Xms64m", "-Xmx64m", "-XX:-UseTLAB"])
        .arg(format!("-XX:+Use{collector}GC"))
        .arg(xlog_option(log.to_str().expect("a path in UTF-8")))
        .arg("-cp")
        .arg(classes)
        .arg("GcTruth")
        .arg(log.with_extension("json"))
        .arg("2500")
        .output()
        .expect("java starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    (folder, log)
}

fn compiled_truth(home: &Path) -> tempfile::TempDir {
    let classes = tempfile::tempdir().expect("a temporary folder");
    let source = assay_testkit::testdata("gclog/GcTruth.java");
    let javac = Command::new(home.join("bin/javac"))
        .args(["--release", "11", "-d"])
        .arg(classes.path())
        .arg(source)
        .status();
    assert!(javac.expect("javac starts").success());
    classes
}

#[test]
fn the_script_that_makes_the_recorded_logs_uses_the_recommended_option() {
    let script = fs::read_to_string(assay_testkit::testdata("gclog/generate")).expect("the script");
    assert!(script.contains(&xlog_option("$1")), "{}", xlog_option("$1"));
}
