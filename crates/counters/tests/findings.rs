//! Each rule on what threads and the kernel do: on an account that has what it speaks of, and on one that just has not.

use crate::accounts::{S, found, healthy, kernel, rules};
use assay_counters::findings;
use assay_model::*;

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

/// Of a thousand samples so many are in a new exception.
fn with_exceptions(samples: u64, name: &str) -> impl Fn(&mut TimeReport) {
    let frame = |name: &str, kind| SampledFrame { name: name.to_owned(), kind };
    let frames = vec![
        frame("application", FrameKind::Role),
        frame("shop.Order.check", FrameKind::Java),
        frame(name, FrameKind::Jvm),
        frame("libjvm", FrameKind::Jvm),
    ];
    let stack = |frames: &[u32], samples| SampledStack { frames: frames.to_vec(), samples };
    let stacks =
        vec![stack(&[0, 1], 1000 - samples), stack(&[0, 1, 2, 3], samples / 2), stack(&[0, 2], samples / 2)];
    move |report| {
        let (frames, stacks) = (frames.clone(), stacks.clone());
        report.samples = Some(TimeSamples { samples: 1000, frames, stacks, ..TimeSamples::default() });
    }
}

#[test]
fn exceptions_that_fill_in_their_stack_traces() {
    let fills = "JVM_FillInStackTrace";
    let finding = found("stack-traces-filled", with_exceptions(120, fills), with_exceptions(98, fills));
    assert!(finding.claim.contains("12 %"), "{finding:?}");
    assert!(finding.evidence_line().contains("below shop.Order.check"), "{finding:?}");
    let mut report = healthy();
    with_exceptions(500, "JVM_ArrayCopy")(&mut report);
    assert_eq!(rules(&report), [""; 0]);
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
        finding.claim.contains("50 µs")
            && finding.evidence_line().contains("does not show the reason for a wait"),
        "{finding:?}"
    );
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
    assert!(finding.evidence_line().contains("does not name the calls"), "{finding:?}");
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
