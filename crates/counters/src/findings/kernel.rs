//! Time in the kernel.

use super::calls::{LARGER_CALLS, count_calls};
use super::pools::{FAULTS, FAULTS_KERNEL, has_many_faults, has_short_runs, kernel_share_min};
use super::rule::{Found, Rule};
use super::words::{per_cpu_s, percent, pool, seconds, share};
use assay_model::{RuleId, Severity, ThreadRole, Threshold, TimeGroup, TimeReport};

pub(super) static RULES: &[&Rule] = &[&FAULT_STORM, &KERNEL_STORM];

/// Part of the CPU time that threads must have to matter.
const POOL: Threshold = Threshold::percent("pool", 10.0);
/// Least share in the kernel, by the low end of its interval, where faults are few: more in the kernel than outside.
const CALLS_KERNEL: Threshold = Threshold::percent("kernel", 50.0);
/// What helps against faults in a heap that grows and shrinks.
pub(super) const TOUCHED_HEAP: &str =
    "Touch the heap at the start: -Xms as large as -Xmx with -XX:+AlwaysPreTouch";
/// What makes any memory take fewer faults.
pub(super) const LARGE_PAGES: &str = "Use large pages: -XX:+UseTransparentHugePages";

fn matters(report: &TimeReport, group: &TimeGroup) -> bool {
    POOL.share() <= share(group.sums.cpu_ns, report.process.cpu_ns)
}

/// `70 % (±3) in the kernel`
fn in_kernel(group: &TimeGroup) -> String {
    let text = group.sums.kernel_share.map_or_else(String::new, |share| {
        let ends = share
            .ends()
            .map_or_else(String::new, |(low, high)| format!(" ({} to {})", percent(low), percent(high)));
        format!("{}{ends}", percent(share.estimate))
    });
    format!("{text} of {} of CPU time in the kernel", seconds(group.sums.cpu_ns))
}

static FAULT_STORM: Rule = Rule {
    id: RuleId::of("fault-storm"),
    severity: Severity::Warning,
    thresholds: &[FAULTS, FAULTS_KERNEL, POOL],
    evidence: "Page faults without a disk read per second of CPU time (from {faults} on), and the kernel's \
        share with its interval (from {kernel} on). For a pool with {pool} of the CPU time.",
    cause: "Memory is mapped, touched and returned all the time. Each first touch of a page is a fault.",
    fix: "Keep and reuse buffers. For the collector's threads, set `-Xms` equal to `-Xmx` with \
        `-XX:+AlwaysPreTouch`.",
    alternatives: &["Use large pages."],
    judge: faults,
};

/// Threads that are given new pages all the time.
fn faults(report: &TimeReport) -> Vec<Found> {
    let finding = |group: &TimeGroup| {
        let setting = if group.role == ThreadRole::Collector {
            TOUCHED_HEAP.to_owned()
        } else {
            format!(
                "Keep and reuse buffers instead of mapping new ones: assay memory {} shows what grows",
                report.pid
            )
        };
        let claim = format!(
            "{} take {:.0} page faults in each second of CPU time",
            pool(group),
            per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns)
        );
        let evidence = format!(
            "{} faults without a disk read, {}; a finding from {FAULTS}/s and {FAULTS_KERNEL} in the kernel on",
            group.sums.minor_faults,
            in_kernel(group)
        );
        FAULT_STORM.finding(claim, evidence).of_cpu(group.sums.cpu_ns).to_do(setting).or(LARGE_PAGES)
    };
    let found = report.groups.iter().filter(|group| matters(report, group) && has_many_faults(group));
    found.map(finding).collect()
}

static KERNEL_STORM: Rule = Rule {
    id: RuleId::of("kernel-storm"),
    severity: Severity::Note,
    thresholds: &[CALLS_KERNEL, POOL],
    evidence: "The kernel's share of CPU time with its interval (from {kernel} on), if page faults are few. \
        For a pool with {pool} of the CPU time.",
    cause: "System calls.",
    fix: "Count the calls: `perf trace -s -p PID`.",
    alternatives: &[
        "Let `assay time` count them, where it may load programs into the kernel.",
        "Make fewer and larger calls (buffers, batches).",
    ],
    judge: calls,
};

/// Threads that are more in the kernel than outside, and not because of faults.
fn calls(report: &TimeReport) -> Vec<Found> {
    let finding = |group: &TimeGroup| {
        let claim = format!("{} spend most of their CPU time in the kernel", pool(group));
        let evidence = format!(
            "{}, and faults are few ({:.0} per second of it): system calls. A finding if the interval is \
                above {CALLS_KERNEL}. /proc does not name the calls",
            in_kernel(group),
            per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns)
        );
        KERNEL_STORM
            .finding(claim, evidence)
            .of_cpu(group.sums.cpu_ns)
            .to_do(count_calls(report))
            .or(LARGER_CALLS)
    };
    let is_one = |group: &&TimeGroup| {
        // Where threads wait all the time, waiting and waking is what the kernel does.
        let is_explained = has_many_faults(group) || has_short_runs(report, group);
        matters(report, group) && CALLS_KERNEL.share() <= kernel_share_min(group) && !is_explained
    };
    report.groups.iter().filter(is_one).map(finding).collect()
}
