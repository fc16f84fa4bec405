//! Performance counters, held against what the JVM prints of them.

use crate::support::{Jvm, javas};
use assay_hotspot::Hotspot;
use assay_testkit::skip;
use std::path::Path;
use std::process::Command;

const LOADED: &str = "java.cls.loadedClasses";

/// The value that `jcmd` of the same JDK prints; `None` for a JRE, which has no `jcmd`.
fn printed(java: &Path, jvm: &Jvm) -> Option<i64> {
    let tool = java.with_file_name("jcmd");
    let pid = jvm.pid().to_string();
    let answer = Command::new(&tool).args([&pid, "PerfCounter.print"]).output().ok()?;
    let answer = String::from_utf8(answer.stdout).expect("text");
    let value = answer.lines().find_map(|line| line.strip_prefix(LOADED)?.strip_prefix('='));
    Some(value.unwrap_or_else(|| panic!("no {LOADED} in {answer}")).parse().expect("a number"))
}

#[test]
fn counters_are_those_that_the_jvm_prints() {
    let mut ran = 0;
    for (feature, java) in [64, 32].into_iter().flat_map(javas) {
        let jvm = Jvm::start(&java, &[]).expect("a JVM");
        let Some(before) = printed(&java, &jvm) else { continue };
        ran += 1;
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let counters = hotspot.perf_counters().expect("counters");
        let read = counters.number(LOADED).expect("a number");
        let after = printed(&java, &jvm).expect("as before");
        assert!((before..=after).contains(&read), "{feature}: {before} {read} {after}");
        assert_eq!(counters.number("java.property.java.version"), None, "a text");
    }
    if ran == 0 {
        skip!("no jcmd beside a JDK");
    }
}

#[test]
fn a_jvm_without_counters_has_none() {
    let Some((_, java)) = javas(64).pop() else { skip!("no JVM") };
    let jvm = Jvm::start(&java, &["-XX:-UsePerfData"]).expect("a JVM");
    let process = jvm.process();
    let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
    assert_eq!(hotspot.perf_counters(), None);
}
