//! What several rules ask of a pool of threads: whether page faults or waiting explain its time in the kernel.

use super::words::{per_cpu_s, share};
use assay_model::{ThreadRole, Threshold, TimeGroup, TimeReport};

/// Minor faults in a second of CPU time. A fault with the clearing of its page takes 0.5 to 2 µs: these take 2.5 to 10 % at least.
pub(super) const FAULTS: Threshold = Threshold::count("faults", 50_000);
/// Least share in the kernel, by the low end of its interval, where faults are many.
pub(super) const FAULTS_KERNEL: Threshold = Threshold::percent("kernel", 20.0);
/// Waits in a second of CPU time: it runs for less than 100 µs between two of them.
pub(super) const WAITS: Threshold = Threshold::count("waits", 10_000);
/// Part of the CPU time that a pool must have to matter.
pub(super) const POOL: Threshold = Threshold::percent("pool", 20.0);

/// The low end of its share in the kernel.
pub(super) fn kernel_share_min(group: &TimeGroup) -> f64 {
    group.sums.kernel_share.and_then(|share| share.low).unwrap_or(0.0)
}

/// Whether threads spend their time in the kernel because they are given new pages.
pub(super) fn has_many_faults(group: &TimeGroup) -> bool {
    FAULTS.value <= per_cpu_s(group.sums.minor_faults, group.sums.cpu_ns)
        && FAULTS_KERNEL.share() <= kernel_share_min(group)
}

/// Whether threads of the application wait after each few microseconds.
pub(super) fn has_short_runs(report: &TimeReport, group: &TimeGroup) -> bool {
    [ThreadRole::Application, ThreadRole::Carrier].contains(&group.role)
        && 1 < group.sums.threads
        && POOL.share() <= share(group.sums.cpu_ns, report.process.cpu_ns)
        && group.sums.voluntary_switches.is_some_and(|n| WAITS.value <= per_cpu_s(n, group.sums.cpu_ns))
}
