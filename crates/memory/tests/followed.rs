//! The step of a finding is followed on a program with a planted trouble: memory falls by what was promised.

use assay_memory::{ReadOptions, read, trim};
use assay_model::{Change, Finding, MemoryReport, RuleId};
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

/// Starts a program with what a step sets, if there is one.
fn start_with(java: &Path, options: &[&str], step: Option<&Change>, class: &str, plant: &str) -> Running {
    let none = Change::default();
    let step = step.unwrap_or(&none);
    let options = options.iter().copied().chain(step.jvm_options.iter().map(String::as_str));
    let mut command = java_command(java, &options.collect::<Vec<_>>(), class);
    command.arg(plant).env_remove("LD_PRELOAD").env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
    command.envs(&step.environment);
    Running::start(&mut command, "waiting")
}

fn start(java: &Path, options: &[&str], plant: &str) -> Running {
    start_with(java, options, None, "Advised", plant)
}

/// What a finding has to be set.
fn step_of(found: &Finding<RuleId>) -> &Change {
    let change = found.change.as_ref().expect("a step");
    assert!(!change.jvm_options.is_empty() || !change.environment.is_empty(), "nothing is set: {found:?}");
    change
}

/// Reports of a program with a trouble, and of the same one started with the step of the finding.
fn restarted(java: &Path, options: &[&str], (class, plant): (&str, &str), rule: &str) -> [MemoryReport; 2] {
    let before = report(&start_with(java, options, None, class, plant));
    let after = report(&start_with(java, options, Some(step_of(found(&before, rule))), class, plant));
    [before, after]
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
    // The step names no setting but the command of this call, and the process.
    assert_eq!(finding.command(), format!("Trim it now: assay memory {} --trim", jvm.pid()));
    let trimmed = trim(jvm.pid()).expect("it lists the command");
    assert_eq!(trimmed.predicted_bytes, finding.gain_bytes, "both promise the same");
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
    let mut with = start_with(&java, &options, Some(step_of(finding)), "Advised", "direct");
    for _ in 0..5 {
        without.ask("direct");
        with.ask("direct");
    }
    let [without, with] = [report(&without), report(&with)].map(|report| report.rss_bytes);
    println!("{:?}: {} at first, {without} without, {with} with", finding.command(), before.rss_bytes);
    assert!(before.rss_bytes + 200 * MIB <= without, "the trouble grows");
    assert!(with <= before.rss_bytes + 30 * MIB, "{with} {}", before.rss_bytes);
}

/// How much is not promised: it depends on how many threads need malloc at the same time. Here none do.
#[test]
#[ignore = "long: memory of several JVMs"]
fn fewer_arenas_keep_less_freed_memory() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let [before, after] =
        restarted(&java, &["-Xmx64m", "-XX:+UseSerialGC"], ("Advised", "arenas"), "malloc-arenas");
    let finding = found(&before, "malloc-arenas");
    let fell = before.rss_bytes.saturating_sub(after.rss_bytes);
    println!("malloc-arenas: of {:?} bytes, RSS fell by {fell}", finding.resident_bytes);
    assert_eq!(finding.gain_bytes, None);
    assert!(8 * MIB < fell, "{fell}");
}

#[test]
#[ignore = "long: memory of several JVMs, which is told to within a fifth"]
fn ratios_of_a_heap_bring_what_was_promised() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
        let options = ["-Xmx400m", "-Xms16m", collector];
        let [before, after] = restarted(&java, &options, ("Advised", "heap"), "heap-free-but-resident");
        println!("{collector}");
        assert_fell(found(&before, "heap-free-but-resident"), &before, &after);
    }
}

#[test]
#[ignore = "long: memory of several JVMs, which is told to within a fifth"]
fn buffers_that_are_not_cached_bring_what_was_promised() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let options = ["-XX:+UseSerialGC", "-Xmx256m", "-Xmn128m"];
    let [before, after] = restarted(&java, &options, ("Buffering", ""), "nio-thread-buffers");
    assert_fell(found(&before, "nio-thread-buffers"), &before, &after);
}

/// Buffers that are freed after use, and that glibc then keeps at the ends of its arenas.
#[test]
#[ignore = "long: memory of several JVMs, which is told to within a fifth"]
fn a_fixed_limit_of_free_ends_brings_what_was_promised() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let options = ["-XX:+UseSerialGC", "-Xmx256m", "-Xmn128m", "-Djdk.nio.maxCachedBufferSize=262144"];
    let [before, after] = restarted(&java, &options, ("Buffering", ""), "arena-tops");
    assert_fell(found(&before, "arena-tops"), &before, &after);
}
