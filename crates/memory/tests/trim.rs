//! Trims of real JVMs: what was predicted is what comes of it.

use assay_memory::{ReadOptions, TrimError, read, trim};
use assay_testkit::{Running, each_release, find_java, skip, start_buffers};
use std::path::Path;
use std::process::Command;

#[test]
fn a_trim_brings_what_was_predicted() {
    let mut trimmed = 0;
    for (feature, collector, buffers) in [
        (17, "-XX:+UseSerialGC", 8000),
        (17, "-XX:+UseG1GC", 3000),
        (25, "-XX:+UseSerialGC", 3000),
        (25, "-XX:+UseParallelGC", 8000),
    ] {
        let Some(java) = find_java(feature, 64) else { continue };
        let jvm = start_buffers(&java, &["-Xmx64m", collector], buffers);
        // The first command starts the thread that answers commands, and what the JVM compiles takes memory meanwhile.
        jvm.jcmd(&["VM.version"]);
        jvm.rest();
        let result = match trim(jvm.pid()) {
            Ok(result) => result,
            Err(TrimError::NoCommand { .. }) => continue,
            Err(error) => panic!("JDK {feature}: {error}"),
        };
        let predicted = result.predicted_bytes.expect("glibc can be trimmed");
        let actual = u64::try_from(result.actual_bytes).expect("RSS fell");
        println!("JDK {feature} {collector}: {predicted} predicted, {actual} given back: {}", result.answer);
        assert!(4 << 20 < actual, "JDK {feature} {collector}: nothing to speak of was given back");
        assert!(predicted.abs_diff(actual) <= (actual / 100).max(64 << 10), "{predicted} {actual}");
        assert_eq!(result.before.rss_bytes - result.after.rss_bytes, actual);
        let left = result.after.allocator.and_then(|allocator| allocator.trim_gain_bytes);
        assert!(
            left.is_some_and(|left| left < predicted / 100 + (64 << 10)),
            "nothing is left to trim: {left:?}"
        );
        trimmed += 1;
    }
    if trimmed == 0 {
        skip!("no JVM with System.trim_native_heap");
    }
}

#[test]
fn a_trim_is_promised_where_the_jvm_lists_the_command() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000);
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let found = report.findings.iter().find(|found| found.rule == "retained-by-malloc");
        let found =
            found.unwrap_or_else(|| panic!("JDK {feature}: nothing is retained: {:?}", report.findings));
        let is_promised = found.ways().any(|way| way.contains("--trim"));
        let lists = jvm.jcmd(&["help"]).contains("System.trim_native_heap");
        println!("JDK {feature}: {:?}", found.ways().collect::<Vec<_>>());
        assert_eq!(is_promised, lists, "JDK {feature}: {found:?}");
    }
}

#[test]
fn a_process_that_is_no_jvm_is_left_alone() {
    let child = Running::start(Command::new("sh").args(["-c", "echo ready; exec sleep 1000"]), "ready");
    assert!(matches!(trim(child.pid()), Err(TrimError::Attach(_))));
    assert!(Path::new(&format!("/proc/{}/exe", child.pid())).exists(), "it still runs");
}
