//! Each rule on what a JVM does for the application: on an account that has what it speaks of, and on one that just has not.

use crate::accounts::{S, add, found, healthy, rules, sums};
use assay_counters::findings;
use assay_model::*;

fn with_collector(report: &mut TimeReport) {
    report.roles[2].sums = TimeSums { threads: 6, run_delay_ns: Some(S), ..sums(6, 3 * S / 2) };
    report.groups[2].sums = sums(4, 3 * S / 2);
}

#[test]
fn a_collector_that_uses_the_quota_up() {
    let limited = |throttled_ns| CgroupTime {
        path: "/shop".to_owned(),
        cpu_ns: 8 * S,
        others_cpu_ns: 0,
        cpus_max: Some(1.5),
        throttled_periods: Some(12),
        throttled_ns: Some(throttled_ns),
    };
    let finding = found(
        "gc-threads-throttled",
        |report| {
            with_collector(report);
            report.cgroup = Some(limited(S));
        },
        |report| report.cgroup = Some(limited(S / 10)),
    );
    assert!(
        finding.command().contains("ParallelGCThreads=2") && finding.evidence_line().contains("12 periods")
    );
}

#[test]
fn more_threads_for_collections_than_processors_over_all_jvms() {
    let jvms = |processes, gc_threads| Some(JvmsOfMachine { processes, gc_threads });
    let finding = found(
        "gc-threads-over-cpus",
        |report| {
            with_collector(report);
            report.machine.jvms = jvms(2, 6);
        },
        |report| report.machine.jvms = jvms(2, 2),
    );
    assert!(finding.claim.starts_with("2 JVMs have 6 threads"), "{finding:?}");
    let mut report = healthy();
    with_collector(&mut report);
    report.roles[2].sums.run_delay_ns = Some(S / 100);
    report.machine.jvms = jvms(2, 6);
    assert_eq!(rules(&report), [""; 0], "they do not stand in each other's way");
}

/// The collector with 3 of 8 s, and a heap of 200 MiB with so much in it at its emptiest.
fn with_full_heap(least: Option<u64>, looks: u64) -> impl Fn(&mut TimeReport) {
    move |report| {
        report.roles[2].sums = sums(2, 3 * S);
        report.groups[2].sums = sums(2, 3 * S);
        report.jvm_held = Some(JvmHeld {
            looks,
            heap_bytes_least: least.map(|mib| mib << 20),
            heap_bytes_max: Some(200 << 20),
            ..JvmHeld::default()
        });
    }
}

#[test]
fn a_collector_with_much_of_the_cpu_time_and_how_full_its_heap_is() {
    let too_little = |report: &mut TimeReport| {
        report.roles[2].sums = sums(2, 3 * S / 2);
        report.groups[2].sums = sums(2, 3 * S / 2);
    };
    let full = found("collector-time", with_full_heap(Some(186), 9), too_little);
    assert!(full.claim.contains("38 %") && full.claim.contains("full of live objects"), "{full:?}");
    assert!(full.evidence_line().contains("93 % of its 200 MiB"), "{full:?}");
    // A leak fills a larger heap, too: that it is none comes first.
    assert!(
        full.command().contains("whether the live set grows") && !full.command().contains("-Xmx"),
        "{full:?}"
    );
    assert!(full.ways().any(|way| way.contains("-Xmx where the live set does not grow")), "{full:?}");
    let roomy = found("collector-time", with_full_heap(Some(60), 9), too_little);
    assert!(roomy.claim.contains("not full") && !roomy.command().contains("-Xmx"), "{roomy:?}");
    for unknown in [with_full_heap(None, 9), with_full_heap(Some(186), 3)] {
        let unknown = found("collector-time", unknown, too_little);
        assert!(unknown.evidence_line().contains("was not read"), "{unknown:?}");
        assert!(!unknown.claim.contains("full") && !unknown.command().contains("-Xmx"), "{unknown:?}");
    }
}

/// Two classes have finalizers; the application has more samples than both.
fn stacks_of_finalizers() -> TimeSamples {
    let java = |name: &str| SampledFrame { name: name.to_owned(), kind: FrameKind::Java };
    let role = |role: ThreadRole| SampledFrame { name: role.title().to_owned(), kind: FrameKind::Role };
    let frames = vec![
        role(ThreadRole::Jdk),
        role(ThreadRole::Application),
        java("java.lang.ref.Finalizer.runFinalizer"),
        java("java.lang.System$2.invokeFinalize"),
        java("shop.Order.finalize"),
        java("shop.Order.check"),
        java("shop.File.finalize"),
    ];
    let stack = |frames: &[u32], samples| SampledStack { frames: frames.to_vec(), samples };
    let stacks = vec![
        stack(&[1, 5], 600),
        stack(&[0, 2], 300),
        stack(&[0, 2, 3, 4, 5], 60),
        stack(&[0, 4], 20),
        stack(&[0, 2, 6], 20),
    ];
    TimeSamples { samples: 1000, frames, stacks, ..TimeSamples::default() }
}

#[test]
fn threads_of_the_jdk_and_of_the_jvm_that_have_much_of_the_cpu_time() {
    let of = |role, name: &'static str, cpu_ns| {
        move |report: &mut TimeReport| add(report, role, name, sums(1, cpu_ns))
    };
    let role_alone = |report: &mut TimeReport| {
        let last = report.roles.len() - 1;
        report.roles[last].sums.cpu_ns = S;
        report.groups[last].sums.cpu_ns = S;
    };
    let finalizer = found("jdk-threads", of(ThreadRole::Jdk, "Finalizer", 2 * S), role_alone);
    assert!(finalizer.command().contains("GC.finalizer_info"), "{finalizer:?}");
    let cleaner = found("jdk-threads", of(ThreadRole::Jdk, "Cleaner-*", 2 * S), role_alone);
    assert!(cleaner.claim.contains("25 %") && cleaner.command().contains("Thread.print"), "{cleaner:?}");
    let mut report = healthy();
    of(ThreadRole::Jdk, "Finalizer", 2 * S)(&mut report);
    report.samples = Some(stacks_of_finalizers());
    let named = &findings(&report)[0];
    assert!(named.claim.ends_with("most of it Finalizer, in shop.Order.finalize"), "{named:?}");
    assert!(named.command().contains("shop.Order.finalize"), "{named:?}");
    let vm = found("jvm-threads", of(ThreadRole::Vm, "VM Thread", 2 * S), role_alone);
    assert!(vm.claim.contains("25 %") && vm.ways().any(|way| way.contains("safepoint")), "{vm:?}");
    let mut report = healthy();
    of(ThreadRole::Vm, "VM Thread", 2 * S)(&mut report);
    report.jvm = Some(TimeJvm { collector: Some("Serial".to_owned()), ..TimeJvm::default() });
    assert!(findings(&report)[0].command().contains("assay gc"), "the VM thread collects");
    let mut report = healthy();
    of(ThreadRole::Unknown, "python3", 8 * S)(&mut report);
    report.jvm = None;
    assert_eq!(rules(&report), [""; 0], "no JVM");
}

#[test]
fn what_is_as_grave_stands_in_the_order_of_its_cpu_time() {
    let mut report = healthy();
    with_full_heap(Some(186), 9)(&mut report);
    add(&mut report, ThreadRole::Jdk, "Finalizer", sums(1, 4 * S));
    assert_eq!(rules(&report), ["jdk-threads", "collector-time"]);
    report.roles[2].sums = sums(2, 5 * S);
    assert_eq!(rules(&report), ["collector-time", "jdk-threads"]);
}

#[test]
fn a_jvm_that_warms_up() {
    let compiles = |ns| move |report: &mut TimeReport| report.roles[1].sums.cpu_ns = ns;
    let finding = found("still-compiling", compiles(3 * S), compiles(S));
    assert!(finding.claim.contains("38 %"), "{finding:?}");
}

/// A JVM that has used so many seconds since its start, of 8 s in which compilers have 3, and loads so many classes in 10 s.
fn that_compiles(seconds: Option<u64>, classes: Option<u64>) -> impl Fn(&mut TimeReport) {
    move |report| {
        report.roles[1].sums.cpu_ns = 3 * S;
        report.process.cpu_since_start_ns = seconds.map(|seconds| seconds * S);
        report.jvm_held =
            Some(JvmHeld { looks: 9, duration_ns: 10 * S, classes_loaded: classes, ..JvmHeld::default() });
    }
}

#[test]
fn a_jvm_that_is_never_warm_and_one_that_makes_classes_without_end() {
    let rule = |seconds, classes| {
        let mut report = healthy();
        that_compiles(seconds, classes)(&mut report);
        let [rule] = &rules(&report)[..] else { panic!("one finding on compilers") };
        rule.to_string()
    };
    for (seconds, classes, wanted) in [
        (Some(50), Some(20_000), "still-compiling"),
        (Some(61), Some(101), "classes-without-end"),
        (Some(61), Some(99), "still-compiling"),
        (Some(299), None, "still-compiling"),
        (Some(301), Some(99), "compiling-late"),
        (Some(301), None, "compiling-late"),
        (Some(301), Some(101), "classes-without-end"),
        (None, Some(101), "still-compiling"),
    ] {
        assert_eq!(rule(seconds, classes), wanted, "{seconds:?} {classes:?}");
    }
    let compiles_little = |report: &mut TimeReport| report.roles[1].sums.cpu_ns = S;
    let endless = found("classes-without-end", that_compiles(Some(309), Some(2_000)), compiles_little);
    assert!(endless.claim.contains("200 a second"), "{endless:?}");
    let late = found("compiling-late", that_compiles(Some(309), Some(0)), compiles_little);
    assert!(late.claim.contains("309") && late.command().contains("Compiler.codecache"), "{late:?}");
}

fn with_carriers(blocked: u64) -> impl Fn(&mut TimeReport) {
    move |report| {
        let call = CarrierCall { call: "read".to_owned(), samples: blocked };
        report.carrier_waits =
            Some(CarrierWaits { carriers: 2, samples: 40, blocked, pinned: 0, calls: vec![call] });
    }
}

#[test]
fn carriers_that_wait_in_native_code() {
    let finding = found("carriers-blocked", with_carriers(30), with_carriers(7));
    assert!(
        finding.claim.contains("75 %") && finding.evidence_line().contains("read (30 samples)"),
        "{finding:?}"
    );
}

#[test]
fn carriers_that_sleep_with_a_virtual_thread() {
    let pinned = |feature, pinned| {
        move |report: &mut TimeReport| {
            report.jvm = Some(TimeJvm { feature, ..TimeJvm::default() });
            report.carrier_waits =
                Some(CarrierWaits { carriers: 2, samples: 40, blocked: 0, pinned, calls: Vec::new() });
        }
    };
    let before = found("carriers-pinned", pinned(Some(21), 30), pinned(Some(21), 7));
    assert!(before.claim.contains("75 %") && before.command().contains("JDK 24"), "{before:?}");
    let mut report = healthy();
    pinned(Some(21), 30)(&mut report);
    report.process.cpu_ns = S / 20;
    assert_eq!(rules(&report), ["carriers-pinned"], "threads that wait use no CPU time");
    let since = found("carriers-pinned", pinned(Some(25), 30), pinned(Some(25), 7));
    assert!(since.command().contains("Thread.dump_to_file"), "{since:?}");
}
