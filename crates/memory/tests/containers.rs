//! JVMs in control groups with limits: those that keep to them are not accused, and of the others the cause is named.

use assay_memory::{ReadOptions, SnapshotDepth, advise, read};
use assay_model::MemoryReport;
use assay_testkit::{MemoryGroup, Running, each_release, java_classes, skip};
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;
const RULE: &str = "container-unseen";

/// A JVM that joins the group before it starts.
fn start_in(group: &MemoryGroup, java: &Path, options: &[&str]) -> Running {
    let mut command = Command::new("sh");
    let script = "echo $$ > \"$0\" || exit 99; exec \"$@\"";
    command.args(["-c", script]).arg(group.path().join("cgroup.procs")).arg(java).args(options);
    command.args(["-Dnever=true", "-cp"]).arg(java_classes("java/Collected.java")).arg("Collected");
    Running::start(&mut command, "waiting")
}

fn group(name: &str) -> Option<MemoryGroup> {
    MemoryGroup::new(name).filter(|group| group.limit(512 * MIB))
}

fn snapshot(jvm: &Running) -> MemoryReport {
    read(jvm.pid(), &ReadOptions::of_depth(SnapshotDepth::Structures)).expect("our child")
}

/// The evidence of the finding, if there is one.
fn accused(report: &MemoryReport) -> Option<String> {
    report.findings.iter().find(|found| found.rule == RULE).map(|found| found.evidence.join("; "))
}

fn healthy(times: usize) {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas.iter().cycle().take(times.max(javas.len())) {
        let Some(group) = group("healthy") else { skip!("no right to make a control group") };
        for options in [&[][..], &["-Xmx300m"], &["-XX:MaxRAMPercentage=60.0"]] {
            let jvm = start_in(&group, java, options);
            let report = snapshot(&jvm);
            let container = report.jvm.as_ref().and_then(|jvm| jvm.container.as_ref());
            assert_eq!(container.and_then(|of| of.limits.memory_bytes), Some(512 * MIB), "JDK {feature}");
            assert_eq!(accused(&report), None, "JDK {feature} {options:?}: {container:?}");
        }
    }
}

#[test]
fn a_jvm_that_keeps_to_its_limits_is_not_accused() {
    healthy(0);
}

#[test]
#[ignore = "long: 90 JVMs"]
fn no_alarm_is_false_in_thirty_starts_of_each_kind() {
    healthy(30);
}

#[test]
fn the_cause_is_named_where_a_jvm_does_not_keep_to_its_limits() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let Some(group) = group("blind") else { skip!("no right to make a control group") };
        for (option, cause) in [
            ("-XX:-UseContainerSupport", "container support is off"),
            ("-Xmx600m", "an option sets the heap's size"),
            ("-XX:MaxRAM=8g", "-XX:MaxRAM names more memory"),
        ] {
            let jvm = start_in(&group, &java, &["-XX:+UseSerialGC", option]);
            let report = snapshot(&jvm);
            let evidence = accused(&report).unwrap_or_else(|| panic!("JDK {feature} {option}: {report:?}"));
            assert!(evidence.contains(cause), "JDK {feature} {option}: {evidence}");
            let advice = advise(std::slice::from_ref(&report));
            let said = advice.problems.iter().find(|problem| problem.about == "container");
            assert!(said.is_some_and(|problem| problem.text.contains(cause)), "{:?}", advice.problems);
        }
    }
}

#[test]
fn a_limit_that_was_lowered_after_the_start_is_told_from_one_that_is_not_seen() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let Some(group) = group("lowered") else { skip!("no right to make a control group") };
        let jvm = start_in(&group, &java, &["-XX:+UseSerialGC", "-XX:MaxRAMPercentage=60.0"]);
        assert_eq!(accused(&snapshot(&jvm)), None, "JDK {feature}");
        // Memory and swap are limited together: the sum first.
        let lower = |file: &str| std::fs::write(group.path().join(file), (200 * MIB).to_string()).is_ok();
        let is_lower = lower("memory.max") || lower("memory.limit_in_bytes");
        assert!(is_lower, "JDK {feature}: what it uses fits");
        let report = snapshot(&jvm);
        let evidence = accused(&report).unwrap_or_else(|| panic!("JDK {feature}: {report:?}"));
        let view = report.jvm.and_then(|jvm| jvm.container).expect("it was read").view;
        // Without symbols nobody knows what the JVM took at its start.
        let cause = match view.is_containerized {
            Some(_) => "the limit was lowered, or set, after the JVM started",
            None => "the cause is not known",
        };
        assert!(evidence.contains(cause), "JDK {feature}: {evidence}");
    }
}
