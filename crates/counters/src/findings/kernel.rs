//! Time in the kernel.

use super::calls::{LARGER_CALLS, count_calls};
use super::threads::has_short_runs;
use super::words::{per_cpu_s, percent, pool, seconds, share};
use assay_model::{Finding, Severity, ThreadRole, TimeGroup, TimeReport, TimeRule};

/// Part of the CPU time that threads must have to matter.
const POOL_PART: f64 = 0.1;
/// Minor faults in a second of CPU time. A fault with the clearing of its page takes 0.5 to 2 µs: these take 2.5 to 10 % at least.
const FAULTS_PER_CPU_S: f64 = 50_000.0;
/// Least share in the kernel, by the low end of its interval, where faults are many.
const FAULTS_KERNEL_SHARE: f64 = 0.2;
/// The same, where they are not: more in the kernel than outside.
const CALLS_KERNEL_SHARE: f64 = 0.5;
/// What helps against faults in a heap that grows and shrinks.
pub(super) const TOUCHED_HEAP: &str =
    "Touch the heap at the start: -Xms as large as -Xmx with -XX:+AlwaysPreTouch";
/// What makes any memory take fewer faults.
pub(super) const LARGE_PAGES: &str = "Use large pages: -XX:+UseTransparentHugePages";

fn matters(report: &TimeReport, group: &TimeGroup) -> bool {
    POOL_PART <= share(group.sums.cpu_ns, report.process.cpu_ns)
}

fn kernel_share_min(group: &TimeGroup) -> f64 {
    group.sums.kernel_share.and_then(|share| share.low).unwrap_or(0.0)
}

fn has_many_faults(group: &TimeGroup) -> bool {
    FAULTS_PER_CPU_S <= per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns)
        && FAULTS_KERNEL_SHARE <= kernel_share_min(group)
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

/// Threads that are given new pages all the time.
pub(super) fn faults(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let finding = |group: &TimeGroup| {
        let setting = if group.role == ThreadRole::Collector {
            TOUCHED_HEAP.to_owned()
        } else {
            format!(
                "Keep and reuse buffers instead of mapping new ones: assay memory {} shows what grows",
                report.pid
            )
        };
        Finding::measured(TimeRule::FaultStorm, Severity::Warning, format!(
                "{} take {:.0} page faults in each second of CPU time",
                pool(group),
                per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns)
            ), format!(
                "{} faults without a read from a disk; {}; counts from {FAULTS_PER_CPU_S} a second and {} in the kernel on",
                group.sums.minor_faults,
                in_kernel(group),
                percent(FAULTS_KERNEL_SHARE)
            )).to_do(setting).or(LARGE_PAGES)
    };
    let found = report.groups.iter().filter(|group| matters(report, group) && has_many_faults(group));
    found.map(finding).collect()
}

/// Threads that are more in the kernel than outside, and not because of faults.
pub(super) fn calls(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let finding = |group: &TimeGroup| {
        Finding::measured(TimeRule::KernelStorm, Severity::Note, format!("{} spend most of their CPU time in the kernel", pool(group)), format!(
            "{}, and faults are few ({:.0} in a second of it): system calls; counts where the interval lies above {}. /proc does not say which calls",
            in_kernel(group),
            per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns),
            percent(CALLS_KERNEL_SHARE)
        )).to_do(count_calls(report)).or(LARGER_CALLS)
    };
    let is_one = |group: &&TimeGroup| {
        // Where threads wait all the time, waiting and waking is what the kernel does.
        let is_explained = has_many_faults(group) || has_short_runs(report, group);
        matters(report, group) && CALLS_KERNEL_SHARE <= kernel_share_min(group) && !is_explained
    };
    report.groups.iter().filter(is_one).map(finding).collect()
}
