//! Threads of collectors that are more than the processors they may use.

use super::rule::{Found, Rule};
use super::words::{cpus, percent, pool, seconds, share};
use assay_model::{RuleId, Severity, ThreadRole, Threshold, TimeGroup, TimeReport, TimeSums};

pub(super) static RULES: &[&Rule] = &[&GC_THREADS_THROTTLED, &GC_THREADS_OVER_CPUS];

/// Part of the CPU time from which on the collector matters here.
const COLLECTOR: Threshold = Threshold::percent("collector", 10.0);
/// Part of the time for which the limit stopped the group, over all processors that it may use.
const THROTTLED: Threshold = Threshold::percent("throttled", 1.0);
/// What the collector's threads waited for a processor, to what they ran.
const WAITED: Threshold = Threshold::percent("waited", 10.0);

/// The collector's time if it is enough to matter, and its largest pool.
fn collector(report: &TimeReport) -> Option<(TimeSums, &TimeGroup)> {
    let of = report.roles.iter().find(|role| role.role == ThreadRole::Collector)?.sums;
    let groups = report.groups.iter().filter(|group| group.role == ThreadRole::Collector);
    let pool = groups.max_by_key(|group| group.sums.cpu_ns)?;
    (COLLECTOR.share() <= share(of.cpu_ns, report.process.cpu_ns)).then_some((of, pool))
}

static GC_THREADS_THROTTLED: Rule = Rule {
    id: RuleId::of("gc-threads-throttled"),
    severity: Severity::Warning,
    thresholds: &[THROTTLED, COLLECTOR],
    evidence: "Time for which the CPU limit stopped the group (from {throttled} of the quota's time on), its quota, and the collector's \
               threads and CPU time (from {collector} on).",
    cause: "More collector threads run than the quota has processors: they use it up, and the application is stopped with them.",
    fix: "Set `-XX:ParallelGCThreads` as large as the quota.",
    alternatives: &["Raise the CPU limit."],
    judge: throttled,
};

/// The control group was throttled while more collector threads than its quota has processors ran.
fn throttled(report: &TimeReport) -> Vec<Found> {
    let found = || {
        let (sums, workers) = collector(report)?;
        let group = report.cgroup.as_ref()?;
        let (limit, throttled_ns) = (group.cpus_max?, group.throttled_ns?);
        let part = share(throttled_ns, report.duration_ns) / limit;
        if part < THROTTLED.share() || workers.sums.threads as f64 <= limit {
            return None;
        }
        let claim = format!(
            "The collector's threads are throttled by the CPU limit: {} on a quota of {limit} processors",
            pool(workers)
        );
        let evidence = format!(
            "the limit stopped the group for {} in {} periods; the collector has {} of the CPU time, and \
             what it uses up stops the application, too; counts from {COLLECTOR} of the CPU time and \
             {THROTTLED} of the quota's time on",
            seconds(throttled_ns),
            group.throttled_periods.unwrap_or(0),
            percent(share(sums.cpu_ns, report.process.cpu_ns))
        );
        let found = GC_THREADS_THROTTLED.finding(claim, evidence);
        Some(found.to_do(format!("Set -XX:ParallelGCThreads={}", limit.ceil())).or("Raise the CPU limit"))
    };
    found().into_iter().collect()
}

static GC_THREADS_OVER_CPUS: Rule = Rule {
    id: RuleId::of("gc-threads-over-cpus"),
    severity: Severity::Note,
    thresholds: &[WAITED, COLLECTOR],
    evidence: "JVMs on the machine, their threads for parallel collection together, the processors, and how long ours waited (from \
               {waited} of what they ran on); made where the collector has {collector} of the CPU time.",
    cause: "Each JVM sizes its collector for the whole machine.",
    fix: "Set `-XX:ParallelGCThreads=N` for each JVM, so that the sum is near the number of processors.",
    alternatives: &[],
    judge: too_many_threads,
};

/// The JVMs of the machine together have more threads for parallel collection than it has processors, and ours wait.
fn too_many_threads(report: &TimeReport) -> Vec<Found> {
    let found = || {
        let (sums, _) = collector(report)?;
        let jvms = report.machine.jvms.filter(|jvms| 1 < jvms.processes)?;
        let cpus = cpus(report)?;
        let waited_ns = sums.run_delay_ns?;
        if share(waited_ns, sums.cpu_ns) < WAITED.share() || jvms.gc_threads as f64 <= cpus {
            return None;
        }
        let claim = format!(
            "{} JVMs have {} threads for parallel collection together, on {cpus} processors",
            jvms.processes, jvms.gc_threads
        );
        let evidence = format!(
            "threads were counted by the kernel's names of them; those of this collector ran {} and waited \
             {} for a processor; counts from {WAITED} waiting for each second of running on",
            seconds(sums.cpu_ns),
            seconds(waited_ns)
        );
        let step =
            "Set -XX:ParallelGCThreads=N for each JVM, so that the sum is near the number of processors";
        Some(GC_THREADS_OVER_CPUS.finding(claim, evidence).to_do(step))
    };
    found().into_iter().collect()
}
