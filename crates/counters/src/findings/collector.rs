//! Threads of collectors that are more than the processors they may use.

use super::words::{cpus, percent, pool, seconds, share};
use assay_model::{Finding, Severity, ThreadRole, TimeGroup, TimeReport, TimeRule, TimeSums};

/// Part of the CPU time from which on the collector matters here.
const COLLECTOR_PART: f64 = 0.1;
/// Part of the time for which the limit stopped the group, over all processors that it may use.
const THROTTLED_PART: f64 = 0.01;
/// What the collector's threads waited for a processor, to what they ran.
const WAITED_PART: f64 = 0.1;

/// The collector's time if it is enough to matter, and its largest pool.
fn collector(report: &TimeReport) -> Option<(TimeSums, &TimeGroup)> {
    let of = report.roles.iter().find(|role| role.role == ThreadRole::Collector)?.sums;
    let groups = report.groups.iter().filter(|group| group.role == ThreadRole::Collector);
    let pool = groups.max_by_key(|group| group.sums.cpu_ns)?;
    (COLLECTOR_PART <= share(of.cpu_ns, report.process.cpu_ns)).then_some((of, pool))
}

/// The control group was throttled while more collector threads than its quota has processors ran.
pub(super) fn throttled(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let found = || {
        let (sums, workers) = collector(report)?;
        let group = report.cgroup.as_ref()?;
        let (limit, throttled_ns) = (group.cpus_max?, group.throttled_ns?);
        let part = share(throttled_ns, report.duration_ns) / limit;
        (THROTTLED_PART <= part && limit < workers.sums.threads as f64).then(|| Finding::measured(TimeRule::GcThreadsThrottled, Severity::Warning, format!(
                "The collector's threads are throttled by the CPU limit: {} on a quota of {limit} processors",
                pool(workers)
            ), format!(
                "the limit stopped the group for {} in {} periods; the collector has {} of the CPU time, and what it uses up stops the \
                 application, too; counts from {} of the CPU time and {} of the quota's time on",
                seconds(throttled_ns),
                group.throttled_periods.unwrap_or(0),
                percent(share(sums.cpu_ns, report.process.cpu_ns)),
                percent(COLLECTOR_PART),
                percent(THROTTLED_PART)
            )).to_do(format!("Set -XX:ParallelGCThreads={}", limit.ceil())).or("Raise the CPU limit"))
    };
    found().into_iter().collect()
}

/// The JVMs of the machine together have more threads for parallel collection than it has processors, and ours wait.
pub(super) fn too_many_threads(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let found = || {
        let (sums, _) = collector(report)?;
        let jvms = report.machine.jvms.filter(|jvms| 1 < jvms.processes)?;
        let cpus = cpus(report)?;
        let waited_ns = sums.run_delay_ns?;
        let waits = WAITED_PART <= share(waited_ns, sums.cpu_ns);
        (waits && cpus < jvms.gc_threads as f64).then(|| Finding::measured(TimeRule::GcThreadsOverCpus, Severity::Note, format!(
                "{} JVMs have {} threads for parallel collection together, on {cpus} processors",
                jvms.processes, jvms.gc_threads
            ), format!(
                "threads were counted by the kernel's names of them; those of this collector ran {} and waited {} for a processor; counts from {} \
                 waiting for each second of running on",
                seconds(sums.cpu_ns),
                seconds(waited_ns),
                percent(WAITED_PART)
            )).to_do("Set -XX:ParallelGCThreads=N for each JVM, so that the sum is near the number of processors"))
    };
    found().into_iter().collect()
}
