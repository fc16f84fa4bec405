//! Each rule on an account that has what it speaks of, and on one that just has not.

use assay_counters::findings;
use assay_model::*;
use assay_testkit::{assert_one_step_each, testdata};

const S: u64 = 1_000_000_000;

/// 10 s of a server with eight threads that does nothing odd, on two processors.
fn healthy() -> TimeReport {
    let text = std::fs::read_to_string(testdata("formats/time-4.json")).expect("a kept result");
    let mut report: TimeReport = serde_json::from_str(&text).expect("its form");
    report.duration_ns = 10 * S;
    report.process.cpu_ns = 8 * S;
    report.cgroup = None;
    report.machine = MachineTime {
        cpus: Some(2),
        busy_ns: Some(9 * S),
        softirq_ns: vec![S / 10, S / 20],
        ..MachineTime::default()
    };
    report.samples = None;
    report.roles = Vec::new();
    report.groups = Vec::new();
    report.threads = Vec::new();
    add(&mut report, ThreadRole::Application, "http-*", sums(8, 7 * S));
    add(&mut report, ThreadRole::C2, "C2 CompilerThread*", sums(1, S / 2));
    add(&mut report, ThreadRole::Collector, "GC Thread#*", sums(2, S / 2));
    report.threads.push(ThreadTime {
        tid: 41,
        name: "http-1".to_owned(),
        role: ThreadRole::Application,
        is_role_inferred: false,
        cpu_ns: 9 * S,
        kernel_share: Some(kernel(0.1)),
        run_delay_ns: Some(S),
        voluntary_switches: Some(900),
        has_ended: false,
    });
    report
}

fn sums(threads: u64, cpu_ns: u64) -> TimeSums {
    TimeSums {
        threads,
        cpu_ns,
        kernel_share: Some(kernel(0.1)),
        run_delay_ns: Some(cpu_ns / 10),
        voluntary_switches: Some(1000),
        involuntary_switches: Some(100),
        minor_faults: 500,
        ..TimeSums::default()
    }
}

fn kernel(share: f64) -> Estimate {
    Estimate { estimate: share, low: Some(share - 0.02), high: Some(share + 0.02) }
}

fn add(report: &mut TimeReport, role: ThreadRole, name: &str, sums: TimeSums) {
    report.roles.push(RoleTime { role, inferred_ns: 0, sums });
    report.groups.push(TimeGroup { role, name: name.to_owned(), is_role_inferred: false, sums });
}

fn rules(report: &TimeReport) -> Vec<RuleId> {
    findings(report).iter().map(|finding| finding.rule.clone()).collect()
}

/// The healthy account with a change, and the same change just too small to count.
#[track_caller]
fn found(
    rule: &str,
    change: impl Fn(&mut TimeReport),
    too_little: impl Fn(&mut TimeReport),
) -> Finding<RuleId> {
    let mut report = healthy();
    change(&mut report);
    assert_eq!(rules(&report), [rule]);
    let finding = findings(&report).remove(0);
    assert!(!finding.claim.is_empty() && !finding.evidence.is_empty() && !finding.command().is_empty());
    assert_one_step_each(finding.ways());
    too_little(&mut report);
    assert_eq!(rules(&report), [""; 0]);
    finding
}

#[test]
fn a_healthy_server_has_none() {
    assert_eq!(findings(&healthy()), []);
}

#[test]
fn an_account_of_hardly_any_cpu_time_has_none() {
    let mut report = healthy();
    report.groups[0].sums.minor_faults = 1_000_000;
    report.groups[0].sums.kernel_share = Some(kernel(0.7));
    report.process.cpu_ns = 400_000_000;
    assert_eq!(findings(&report), []);
}

#[test]
fn a_pool_that_overloads_the_run_queue() {
    let finding = found(
        "run-queue-overloaded",
        |report| report.groups[0].sums.run_delay_ns = Some(25 * S),
        |report| report.groups[0].sums.run_delay_ns = Some(9 * S),
    );
    assert!(
        finding.claim.contains("http-* (application, 8 threads)") && finding.claim.contains("2.5 threads")
    );
    let mut report = healthy();
    report.groups[0].sums.run_delay_ns = Some(25 * S);
    report.groups[0].sums.threads = 2;
    assert_eq!(rules(&report), [""; 0], "two threads on two processors overload nothing: others do");
    report.groups[0].sums.threads = 8;
    report.groups[1].sums.run_delay_ns = None;
    assert_eq!(rules(&report), [""; 0], "how much all waited is not known");
}

#[test]
fn a_processor_that_handles_the_network_alone() {
    let finding = found(
        "softirq-on-one-cpu",
        |report| report.machine.softirq_ns = vec![S / 2, 4 * S],
        |report| report.machine.softirq_ns = vec![3 * S, 4 * S],
    );
    assert!(finding.claim.contains("40 %") && finding.evidence_line().contains("processor 1"), "{finding:?}");
    let mut report = healthy();
    report.machine.softirq_ns = vec![4 * S];
    assert_eq!(rules(&report), [""; 0], "there is but one");
}

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

#[test]
fn a_thread_that_never_waits() {
    let finding = found(
        "busy-wait",
        |report| report.threads[0].voluntary_switches = Some(0),
        |report| report.threads[0].cpu_ns = 8 * S,
    );
    assert!(
        finding.claim.starts_with("http-1 ran all the time") && finding.evidence_line().contains("thread 41")
    );
    for change in [
        (|report| report.threads[0].role = ThreadRole::C2) as fn(&mut TimeReport),
        |report| report.duration_ns = S,
        |report| report.threads[0].kernel_share = None,
        |report| (0..2).for_each(|_| report.threads.push(report.threads[0].clone())),
        |report| report.threads[0].voluntary_switches = None,
        |report| report.threads[0].voluntary_switches = Some(11),
    ] {
        let mut report = healthy();
        report.threads[0].voluntary_switches = Some(0);
        change(&mut report);
        assert_eq!(rules(&report), [""; 0]);
    }
}

#[test]
fn a_thread_that_makes_calls_all_the_time_and_waits_in_none() {
    let polls = |share| {
        move |report: &mut TimeReport| {
            report.threads[0].voluntary_switches = Some(0);
            report.threads[0].kernel_share = Some(kernel(share));
        }
    };
    let finding = found("calls-without-waits", polls(0.5), |report| {
        polls(0.5)(report);
        report.threads[0].voluntary_switches = Some(11);
    });
    assert!(
        finding.claim.starts_with("http-1 makes system calls") && finding.evidence_line().contains("50 %"),
        "{finding:?}"
    );
    let mut report = healthy();
    polls(0.1)(&mut report);
    assert_eq!(rules(&report), ["busy-wait"], "a loop has less");
    polls(0.6)(&mut report);
    report.groups[0].sums.minor_faults = 700_000;
    report.groups[0].sums.kernel_share = Some(kernel(0.6));
    assert_eq!(rules(&report), ["fault-storm"], "faults take it to the kernel");
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
    assert!(
        full.command().contains("-Xmx") && full.evidence_line().contains("93 % of its 200 MiB"),
        "{full:?}"
    );
    let roomy = found("collector-time", with_full_heap(Some(60), 9), too_little);
    assert!(roomy.claim.contains("not full") && !roomy.command().contains("-Xmx"), "{roomy:?}");
    for unknown in [with_full_heap(None, 9), with_full_heap(Some(186), 3)] {
        let unknown = found("collector-time", unknown, too_little);
        assert!(unknown.evidence_line().contains("was not read"), "{unknown:?}");
        assert!(!unknown.claim.contains("full") && !unknown.command().contains("-Xmx"), "{unknown:?}");
    }
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
fn threads_that_stop_after_each_few_microseconds() {
    let finding = found(
        "short-runs",
        |report| report.groups[0].sums.voluntary_switches = Some(140_000),
        |report| report.groups[0].sums.voluntary_switches = Some(60_000),
    );
    let mut report = healthy();
    report.groups[0].sums.voluntary_switches = Some(140_000);
    report.groups[0].sums.kernel_share = Some(kernel(0.6));
    assert_eq!(rules(&report), ["short-runs"], "the kernel switches threads: no storm of its own");
    assert!(
        finding.claim.contains("50 µs") && finding.evidence_line().contains("does not say what"),
        "{finding:?}"
    );
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

#[test]
fn threads_that_take_page_faults_all_the_time() {
    let finding = found(
        "fault-storm",
        |report| {
            report.groups[0].sums.minor_faults = 700_000;
            report.groups[0].sums.kernel_share = Some(kernel(0.7));
        },
        |report| {
            report.groups[0].sums.minor_faults = 300_000;
            report.groups[0].sums.kernel_share = Some(kernel(0.4));
        },
    );
    assert!(
        finding.claim.contains("100000 page faults") && finding.evidence_line().contains("68 % to 72 %"),
        "{finding:?}"
    );
}

#[test]
fn threads_that_are_mostly_in_the_kernel() {
    let finding = found(
        "kernel-storm",
        |report| report.groups[0].sums.kernel_share = Some(kernel(0.6)),
        |report| report.groups[0].sums.kernel_share = Some(kernel(0.51)),
    );
    assert!(finding.evidence_line().contains("does not say which calls"), "{finding:?}");
    let mut report = healthy();
    report.groups[0].sums.kernel_share = None;
    assert_eq!(rules(&report), [""; 0], "the split is not known");
}

/// Samples of which so many of a thousand are of one kind of system call.
fn with_calls(activity: KernelActivity, share: f64) -> impl Fn(&mut TimeReport) {
    move |report| {
        let part = SampledPart {
            activity: Some(activity),
            place: None,
            library: None,
            samples: (1000.0 * share) as u64,
            cpu_ns: (8e9 * share) as u64,
            share: kernel(share),
        };
        report.samples = Some(TimeSamples { samples: 1000, kernel: vec![part], ..TimeSamples::default() });
    }
}

#[test]
fn one_kind_of_system_call_that_has_much_of_the_cpu_time() {
    let calls = KernelActivity::NetworkSend;
    let finding = found("one-kind-of-call", with_calls(calls, 0.25), with_calls(calls, 0.21));
    assert!(finding.claim.contains("25 %") && finding.claim.contains("network send"), "{finding:?}");
    assert!(finding.command().contains("batches"), "{finding:?}");
    for other in [KernelActivity::PageFaults, KernelActivity::Scheduling, KernelActivity::Unknown] {
        let mut report = healthy();
        with_calls(other, 0.5)(&mut report);
        assert_eq!(rules(&report), [""; 0], "{other}: not a system call, or nobody knows which");
    }
}

/// What the programs in the kernel timed: one kind of system call with such a part of 8 s.
fn with_timed_calls(activity: KernelActivity, share: f64, coverage: f64) -> impl Fn(&mut TimeReport) {
    move |report| {
        let cpu_ns = (8e9 * share) as u64 - 1_000_000 * 100;
        let part = TracedPart {
            activity,
            basis: Certainty::Known,
            count: 1_000_000,
            cpu_ns,
            waits: 0,
            blocked_ns: 0,
        };
        let call =
            TracedCall { name: "sendto".to_owned(), count: 1_000_000, cpu_ns, waits: 0, blocked_ns: 0 };
        report.traced = Some(TimeTraced {
            cpu_ns: 8_000_000_000,
            coverage: Some(coverage),
            crossing_call_ns: 100.0,
            kernel: vec![part],
            calls: vec![call],
            ..TimeTraced::default()
        });
    }
}

#[test]
fn one_kind_of_system_call_that_was_timed_in_the_kernel_is_claimed_once_and_by_these_figures() {
    let calls = KernelActivity::NetworkSend;
    let finding =
        found("one-kind-of-call", with_timed_calls(calls, 0.21, 1.0), with_timed_calls(calls, 0.19, 1.0));
    assert!(finding.claim.contains("21 %") && finding.evidence_line().contains("sendto"), "{finding:?}");
    let mut report = healthy();
    with_calls(calls, 0.25)(&mut report);
    with_timed_calls(calls, 0.4, 1.0)(&mut report);
    let claims: Vec<String> = findings(&report).into_iter().map(|finding| finding.claim).collect();
    assert!(matches!(&claims[..], [claim] if claim.contains("40 %")), "{claims:?}");
    with_timed_calls(calls, 0.1, 1.0)(&mut report);
    assert_eq!(rules(&report), [""; 0], "what was timed says otherwise than the samples");
    with_timed_calls(calls, 0.4, 0.5)(&mut report);
    let claims: Vec<String> = findings(&report).into_iter().map(|finding| finding.claim).collect();
    assert!(matches!(&claims[..], [claim] if claim.contains("25 %")), "half was not seen: {claims:?}");
}

fn with_faults(samples: u64, place: DataPlace, share: f64) -> impl Fn(&mut TimeReport) {
    move |report| {
        let place = FaultPlace { place, samples, share: kernel(share) };
        report.fault_places = Some(FaultPlaces { one_in: 97, samples, lost: 0, places: vec![place] });
    }
}

#[test]
fn page_faults_that_are_in_one_part_of_the_memory() {
    // 8 s of CPU time: 1000 samples of one in 97 are 12,125 faults in each.
    let finding = found(
        "faults-in-one-place",
        with_faults(1000, DataPlace::Native, 0.9),
        with_faults(300, DataPlace::Native, 0.9),
    );
    assert!(
        finding.claim.contains("native memory") && finding.command().contains("assay memory"),
        "{finding:?}"
    );
    let mut report = healthy();
    with_faults(1000, DataPlace::Native, 0.61)(&mut report);
    assert_eq!(rules(&report), [""; 0], "the interval reaches below");
    with_faults(1000, DataPlace::JavaHeap, 0.9)(&mut report);
    assert!(findings(&report)[0].command().contains("AlwaysPreTouch"));
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

fn with_line(samples: u64, is_false_sharing: bool) -> impl Fn(&mut TimeReport) {
    move |report| {
        let user = |tid, word| LineUser { tid, samples: samples / 2, stores: 5, words: vec![word] };
        let line = SharedLine {
            address: 0x7f00_1240,
            place: DataPlace::JavaHeap,
            samples,
            stores: 10,
            threads: vec![user(41, 0), user(42, 1)],
            is_false_sharing,
        };
        report.data_accesses =
            Some(DataAccesses { source: "ibs_op".to_owned(), samples: 900, lost: 0, lines: vec![line] });
    }
}

#[test]
fn threads_that_write_neighbours_in_one_line_of_the_caches() {
    let finding = found("false-sharing", with_line(40, true), with_line(40, false));
    assert!(
        finding.claim.contains("http-1, thread 42") && finding.claim.contains("Java heap"),
        "{finding:?}"
    );
    let mut report = healthy();
    with_line(10, true)(&mut report);
    assert_eq!(rules(&report), [""; 0], "ten samples are too few");
}
