//! The step of a finding is followed on a program with a planted trouble: memory falls by what was promised.

use assay_memory::{ReadOptions, read, trim};
use assay_model::{Finding, MemoryReport, RuleId};
use assay_testkit::{Running, find_java, java_command, skip, start_buffers};
use std::path::Path;

const MIB: u64 = 1 << 20;
/// Of what a finding promises.
const KEPT_PERCENT_MIN: u64 = 80;

fn report(jvm: &Running) -> MemoryReport {
    read(jvm.pid(), &ReadOptions::default()).expect("our child")
}

fn found<'a>(report: &'a MemoryReport, rule: &str) -> &'a Finding<RuleId> {
    let of_rule = report.findings.iter().find(|found| found.rule == *rule);
    of_rule.unwrap_or_else(|| panic!("{rule} is missing: {:#?}", report.findings))
}

/// The options that a step types.
fn typed(found: &Finding<RuleId>) -> Vec<&str> {
    let words = found.command().split_whitespace().map(|word| word.trim_end_matches(','));
    words.filter(|word| word.starts_with('-')).collect()
}

fn start(java: &Path, options: &[&str], plant: &str) -> Running {
    let mut command = java_command(java, options, "Advised");
    command.arg(plant).env_remove("LD_PRELOAD").env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
    Running::start(&mut command, "waiting")
}

/// Panics unless RSS fell by what the finding promised, nearly or more.
fn assert_fell(found: &Finding<RuleId>, before: &MemoryReport, after: &MemoryReport) {
    let promised = found.gain_bytes.expect("a finding that promises");
    let fell = before.rss_bytes.saturating_sub(after.rss_bytes);
    println!("{}: {:?}: {promised} promised, RSS fell by {fell}", found.rule, found.command());
    assert!(promised * KEPT_PERCENT_MIN <= fell * 100, "{}: {promised} promised, {fell}", found.rule);
}

#[test]
#[ignore = "long: memory of several JVMs, which is told to within a fifth"]
fn a_trim_brings_what_its_finding_promised() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000);
    jvm.jcmd(&["VM.version"]);
    jvm.rest();
    let before = report(&jvm);
    let finding = found(&before, "retained-by-malloc");
    assert!(typed(finding).contains(&"--trim"), "{finding:?}");
    trim(jvm.pid()).expect("it lists the command");
    assert_fell(finding, &before, &report(&jvm));
}

#[test]
#[ignore = "long: memory of several JVMs, which is told to within a fifth"]
fn idle_threads_that_end_bring_what_was_promised() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let mut jvm = start(&java, &["-Xmx64m", "-Xint"], "stacks");
    let before = report(&jvm);
    let finding = found(&before, "stale-stacks");
    assert_eq!(jvm.ask("end").trim(), "done");
    assert_fell(finding, &before, &report(&jvm));
}

/// The limit is of dead and live buffers: they go on as before, and do not grow beyond it.
#[test]
#[ignore = "long: memory of several JVMs"]
fn a_limit_of_direct_memory_holds_dead_buffers_where_they_were() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let options = ["-Xmx1g", "-XX:+UseSerialGC"];
    let mut without = start(&java, &options, "direct");
    let before = report(&without);
    let finding = found(&before, "direct-buffers-without-limit");
    let mut with = start(&java, &[&options[..], &typed(finding)].concat(), "direct");
    for _ in 0..5 {
        without.ask("direct");
        with.ask("direct");
    }
    let [without, with] = [report(&without), report(&with)].map(|report| report.rss_bytes);
    println!("{:?}: {} at first, {without} without, {with} with", finding.command(), before.rss_bytes);
    assert!(before.rss_bytes + 200 * MIB <= without, "the trouble grows");
    assert!(with <= before.rss_bytes + 30 * MIB, "{with} {}", before.rss_bytes);
}
