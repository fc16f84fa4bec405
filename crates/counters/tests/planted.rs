//! JVMs that misuse processors in a known way: who ran, and what was found.

use assay_counters::{SideGauges, Sides, TimeGauge};
use assay_linux::{ExitListener, SysRoot};
use assay_model::{JvmHeld, RuleId, ThreadRole, TimeGroup, TimeReport};
use assay_testkit::{Running, each_java, find_java, find_tool, skip, start_java, turn};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// CPU time and time of a program that goes on.
const CPU_NS: u64 = 1_500_000_000;
const DURATION_NS: u64 = 2_200_000_000;
/// On a machine where it gets hardly any processor.
const LONGEST: Duration = Duration::from_secs(120);

/// What these tests take turns at: each program uses up the processors, which would disturb the others.
const PROCESSORS: &str = "processors";

/// Accounts of what the program does, on each of these JDKs; `goes_on`: its answer says that it is under way, not that it is over.
fn accounts(javas: &BTreeMap<u32, PathBuf>, what: &str, goes_on: bool) -> Vec<TimeReport> {
    if find_tool("javac").is_none() {
        return Vec::new();
    }
    let _alone = turn(PROCESSORS);
    let account = |java: &PathBuf| {
        let mut jvm: Running = start_java(java, &["-Xmx128m", "-XX:+UseSerialGC"], &[], "Planted");
        let mut gauge = if goes_on {
            assert_eq!(jvm.ask(what).trim(), "done");
            TimeGauge::start(jvm.pid()).expect("our child")
        } else {
            let gauge = TimeGauge::start(jvm.pid()).expect("our child");
            assert_eq!(jvm.ask(what).trim(), "done");
            gauge
        };
        let until = Instant::now() + LONGEST;
        loop {
            assert!(gauge.read().expect("our child"), "it lives");
            let report = gauge.report(None);
            let is_enough = CPU_NS <= report.process.cpu_ns && DURATION_NS <= report.duration_ns;
            if !goes_on || is_enough || until <= Instant::now() {
                return report;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    javas.values().map(account).collect()
}

fn group<'a>(report: &'a TimeReport, name: &str) -> &'a TimeGroup {
    report.groups.iter().find(|group| group.name == name).unwrap_or_else(|| panic!("no {name}: {report:?}"))
}

#[test]
fn java_threads_that_nobody_saw_have_the_role_of_those_with_their_name_and_it_is_inferred() {
    if let Err(denial) = ExitListener::start(&SysRoot::default()) {
        skip!("{denial}");
    }
    let accounts = accounts(&each_java(64), "fleeting 200", false);
    for report in &accounts {
        let of_name: Vec<_> = report.groups.iter().filter(|group| group.name == "fleeting-*").collect();
        let [gone, stays] = of_name[..] else { panic!("{of_name:?}") };
        assert_eq!((gone.role, gone.is_role_inferred), (ThreadRole::Application, true), "{gone:?}");
        assert_eq!((stays.role, stays.is_role_inferred), (ThreadRole::Application, false), "{stays:?}");
        assert!(200 == gone.sums.threads && 950_000_000 < gone.sums.cpu_ns, "{gone:?}");
        let role = report.roles.iter().find(|role| role.role == ThreadRole::Application).expect("a role");
        assert!(gone.sums.cpu_ns <= role.inferred_ns && role.inferred_ns < role.sums.cpu_ns, "{role:?}");
        let missing = report.difference_ns.unsigned_abs().saturating_sub(report.difference_reading_ns);
        assert!(100 * missing <= report.process.cpu_ns, "{report:?}");
    }
    if accounts.is_empty() {
        skip!("no JDK");
    }
}

#[test]
fn java_threads_with_a_name_that_the_jvm_never_listed_have_no_role() {
    if let Err(denial) = ExitListener::start(&SysRoot::default()) {
        skip!("{denial}");
    }
    let accounts = accounts(&each_java(64), "loner 50", false);
    for report in &accounts {
        let loners = group(report, "loner");
        assert_eq!((loners.role, loners.is_role_inferred), (ThreadRole::Unknown, false), "{loners:?}");
        assert_eq!(loners.sums.threads, 50, "{loners:?}");
    }
    if accounts.is_empty() {
        skip!("no JDK");
    }
}

fn rules(report: &TimeReport) -> Vec<RuleId> {
    report.findings.iter().map(|finding| finding.rule.clone()).collect()
}

/// What a program misuses is found, and nothing of the other kinds; how much compiles depends on how fast the program gets warm. The kernel
/// says what threads do, not the JVM: one JDK stands for all.
fn is_found(what: &str, wanted: &[&str]) {
    let accounts = accounts(&each_java(64).pop_last().into_iter().collect(), what, true);
    for report in &accounts {
        let mut found = rules(report);
        // That the machine has other JVMs, which collect too, is not the program's doing, nor that it is busy. Whether a thread that makes
        // calls all the time waits less than once a second depends on how often the JVM stops it.
        let by_others = [
            "still-compiling",
            "gc-threads-over-cpus",
            "run-queue-overloaded",
            "jvm-threads",
            "calls-without-waits",
        ];
        found.retain(|rule| wanted.contains(&rule.as_str()) || !by_others.contains(&rule.as_str()));
        assert_eq!(found, wanted, "{what}: {:?} {report:?}", report.findings);
    }
    if accounts.is_empty() {
        skip!("no JDK");
    }
}

#[test]
fn a_thread_that_spins_is_found() {
    is_found("spin 1", &["busy-wait"]);
}

#[test]
fn a_pool_that_overloads_the_run_queue_is_found() {
    is_found("queue 12", &["run-queue-overloaded"]);
}

#[test]
fn a_fault_storm_is_found() {
    is_found("faults 1", &["fault-storm"]);
}

#[test]
fn a_storm_of_system_calls_is_found() {
    is_found("syscalls 1", &["kernel-storm"]);
}

#[test]
fn a_lock_that_is_handed_over_is_found() {
    is_found("convoy 4", &["short-runs"]);
}

/// Nothing but sampled addresses of data tells it, and where no processor samples them nothing may be claimed.
#[test]
fn false_sharing_is_found_where_addresses_are_sampled_and_elsewhere_the_answer_says_that_it_cannot_tell() {
    let Some(java) = find_java(25, 64).or_else(|| find_java(17, 64)) else { skip!("no JVM") };
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let _alone = turn(PROCESSORS);
    let mut jvm: Running = start_java(&java, &["-Xmx128m", "-XX:+UseSerialGC"], &[], "Planted");
    assert_eq!(jvm.ask("sharing 2").trim(), "done");
    let mut gauge = TimeGauge::start(jvm.pid()).expect("our child");
    let mut sides = SideGauges::start(jvm.pid(), Sides { samples: false, counters: true });
    let until = Instant::now() + LONGEST;
    while gauge.report(None).process.cpu_ns < CPU_NS && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
        sides.read();
        assert!(gauge.read().expect("our child"), "it lives");
    }
    let mut report = gauge.report(None);
    sides.add_to(&mut report);
    let is_found = rules(&report).iter().any(|rule| *rule == "false-sharing");
    assert_eq!(is_found, report.data_accesses.is_some(), "{report:?}");
    if report.data_accesses.is_none() {
        let figure = "lines of the caches that threads share";
        let row = report.left_out.iter().find(|row| row.figure == figure).expect("it says so");
        assert!(row.why.contains("addresses of loads and stores") && !row.enable.is_empty(), "{row:?}");
    }
}

#[test]
#[ignore = "long: how often the JVM stops a thread depends on the machine"]
fn a_selector_that_nobody_waits_in_is_found() {
    is_found("polls 1", &["calls-without-waits"]);
}

#[test]
fn nothing_is_found_of_a_program_that_works_and_waits() {
    is_found("healthy 1", &[]);
}

/// An account of a JVM with what stands beside it, once both are enough.
fn account_with_sides(
    java: &Path,
    options: &[&str],
    what: &str,
    is_enough: impl Fn(&TimeReport) -> bool,
) -> TimeReport {
    let _alone = turn(PROCESSORS);
    let mut jvm: Running = start_java(java, options, &[], "Planted");
    assert_eq!(jvm.ask(what).trim(), "done");
    let mut gauge = TimeGauge::start(jvm.pid()).expect("our child");
    let mut sides = SideGauges::start(jvm.pid(), Sides { samples: true, counters: false });
    let until = Instant::now() + LONGEST;
    loop {
        std::thread::sleep(Duration::from_millis(100));
        sides.read();
        assert!(gauge.read().expect("our child"), "it lives");
        let mut report = gauge.report(None);
        sides.add_to(&mut report);
        let is_long = CPU_NS <= report.process.cpu_ns && DURATION_NS <= report.duration_ns;
        if is_long && is_enough(&report) || until <= Instant::now() {
            return report;
        }
    }
}

#[test]
fn carriers_that_a_native_method_keeps_are_found_with_the_call() {
    let Some(java) = find_java(25, 64).or_else(|| find_java(21, 64)) else {
        skip!("no JVM with virtual threads")
    };
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let report = account_with_sides(&java, &["-Xmx128m", "-XX:+UseSerialGC"], "carriers 2", has_20_looks);
    let waits = report.carrier_waits.as_ref().expect("it has carriers");
    assert_eq!(waits.calls.first().map(|call| &*call.call), Some("read"), "{waits:?}");
    assert!(report.findings.iter().any(|finding| finding.rule == "carriers-blocked"), "{waits:?}");
}

/// Of the releases with virtual threads, those before 24 keep them on their carriers inside `synchronized`.
#[test]
fn carriers_that_a_monitor_keeps_are_found_in_releases_that_pin_them() {
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let cases = [(21, "-XX:+UseSerialGC", true), (21, "-XX:+UseZGC", true), (25, "-XX:+UseSerialGC", false)];
    let mut ran = 0;
    for (feature, collector, pins) in cases {
        let Some(java) = find_java(feature, 64) else { continue };
        ran += 1;
        let report = account_with_sides(&java, &["-Xmx128m", collector], "pinned 64", has_20_looks);
        let waits = report.carrier_waits.as_ref().expect("it has carriers");
        let is_found = rules(&report).iter().any(|rule| *rule == "carriers-pinned");
        assert_eq!(is_found, pins, "{feature} {collector} {waits:?}");
    }
    if ran == 0 {
        skip!("no JDK 21 or 25");
    }
}

fn has_20_looks(report: &TimeReport) -> bool {
    report.carrier_waits.as_ref().is_some_and(|waits| 20 <= waits.samples)
}

/// What the JVM of this release held while it did so.
fn held(java: &Path, collector: &str, what: &str) -> JvmHeld {
    let has_looks = |report: &TimeReport| report.jvm_held.is_some_and(|held| 4 <= held.looks);
    let report = account_with_sides(java, &["-Xmx128m", collector], what, has_looks);
    report.jvm_held.expect("looks")
}

/// How often it collects depends on the machine; how much of the heap stays in use does not.
#[test]
fn what_fills_the_heap_is_read() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no JVM") };
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"] {
        let held = held(&java, collector, "full 55");
        assert_eq!(held.heap_bytes_max, Some(128 << 20), "{collector}");
        let part = held.heap_bytes_least.expect("a heap") as f64 / f64::from(128 << 20);
        assert!((0.5..0.95).contains(&part), "{collector}: {held:?}");
    }
}

#[test]
fn classes_that_are_made_all_the_time_are_counted() {
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no JVM");
    }
    for (feature, java) in [javas.first_key_value(), javas.last_key_value()].into_iter().flatten() {
        let classes = |what| held(java, "-XX:+UseSerialGC", what).classes_loaded.expect("a counter");
        let (made, warm) = (classes("classes 1"), classes("healthy 1"));
        assert!(20 < made && warm < made, "{feature}: {made}, and {warm} of a program that makes none");
    }
}

#[test]
#[ignore = "long: beside busy neighbours it is sampled too seldom"]
fn exceptions_from_deep_stacks_are_found() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no JVM") };
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let found = |what| {
        let is_sampled = |report: &TimeReport| report.samples.as_ref().is_none_or(|all| 500 <= all.samples);
        let report = account_with_sides(&java, &["-Xmx128m", "-XX:+UseSerialGC"], what, is_sampled);
        let is_found = rules(&report).iter().any(|rule| *rule == "stack-traces-filled");
        report.samples.map(|samples| (is_found, samples))
    };
    let Some((deep, of_deep)) = found("exceptions 200") else { skip!("the machine does not let sample") };
    let (healthy, _) = found("healthy 1").expect("as before");
    assert!(deep && !healthy, "{of_deep:?}");
}

#[test]
fn finalizers_that_take_long_are_found() {
    let accounts = accounts(&each_java(64).pop_last().into_iter().collect(), "finalizers 1", true);
    for report in &accounts {
        assert!(rules(report).iter().any(|rule| *rule == "jdk-threads"), "{:?}", report.findings);
    }
    if accounts.is_empty() {
        skip!("no JDK");
    }
}
