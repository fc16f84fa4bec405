//! Collectors: what they take of the CPU time, and threads of theirs that are more than the processors they may use.

use super::rule::{Found, Rule};
use super::words::{cpus, percent, pool, seconds, share};
use assay_model::{RuleId, Severity, ThreadRole, Threshold, TimeGroup, TimeReport, TimeSums};

pub(super) static RULES: &[&Rule] = &[&GC_THREADS_THROTTLED, &COLLECTOR_TIME, &GC_THREADS_OVER_CPUS];

/// Part of the CPU time from which on the collector matters here.
const COLLECTOR: Threshold = Threshold::percent("collector", 10.0);
/// Part of the CPU time from which on the collector takes much itself.
const MUCH: Threshold = Threshold::percent("much", 20.0);
/// Part of the largest heap that is in use at its emptiest, from which on it is full of live objects.
const FULL: Threshold = Threshold::percent("full", 70.0);
/// Looks at the heap below which its emptiest is not known.
const LOOKS: Threshold = Threshold::count("looks", 4);
/// Part of the time for which the limit stopped the group, over all processors that it may use.
const THROTTLED: Threshold = Threshold::percent("throttled", 1.0);
/// What the collector's threads waited for a processor, to what they ran.
const WAITED: Threshold = Threshold::percent("waited", 10.0);

/// The step where the heap is full.
const WHETHER_IT_GROWS: &str = "See whether the live set grows: assay gc on a log that -Xlog:gc* writes";

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
    evidence: "Time stopped by the CPU limit (from {throttled} of the quota's time on), the quota, and the \
        collector's threads and CPU time (from {collector} on).",
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
            "the limit stopped the group for {} in {} periods, and the collector, whose use also stops the \
                application, has {} of the CPU time; a finding from {COLLECTOR} of the CPU time and \
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

static COLLECTOR_TIME: Rule = Rule {
    id: RuleId::of("collector-time"),
    severity: Severity::Warning,
    thresholds: &[MUCH, FULL, LOOKS],
    evidence: "The collector's share of the CPU time, from {much} on, and the Java heap's lowest occupancy in \
        {looks} samples or more. From {full} of `-Xmx` on it is full of live objects.",
    cause: "A heap full of live objects is collected again and again for little. In one that is not full the program makes objects \
            faster than its young generation has room for.",
    fix: "A full heap: see whether its live set grows, `assay gc` on a log (`-Xlog:gc*`). One that is not full: see there which collections \
          they are.",
    alternatives: &[
        "A larger `-Xmx`, where the live set does not grow.",
        "Keep fewer objects: `jcmd PID GC.class_histogram` shows their classes, at the cost of a full \
            collection.",
    ],
    judge: collector_time,
};

/// The collector has much of the CPU time.
fn collector_time(report: &TimeReport) -> Vec<Found> {
    let Some((sums, workers)) = collector(report) else { return Vec::new() };
    let part = share(sums.cpu_ns, report.process.cpu_ns);
    if part < MUCH.share() {
        return Vec::new();
    }
    let claim = format!("The garbage collector has {} of the CPU time", percent(part));
    let used = format!(
        "{} of {}, most of it {}; a finding from {MUCH} on",
        seconds(sums.cpu_ns),
        seconds(report.process.cpu_ns),
        pool(workers)
    );
    let collections = "See which collections they are: assay gc on a log that -Xlog:gc* writes";
    let fewer = format!("Keep fewer objects: jcmd {} GC.class_histogram shows their classes", report.pid);
    let Some((least, max, looks)) = emptiest(report) else {
        let evidence = format!("{used}; the heap's occupancy was not read");
        return vec![COLLECTOR_TIME.finding(claim, evidence).of_cpu(sums.cpu_ns).to_do(collections)];
    };
    let fill = share(least, max);
    let evidence = format!(
        "{used}; in {looks} samples the Java heap never had less than {} of its {:.0} MiB in use",
        percent(fill),
        max as f64 / f64::from(1 << 20)
    );
    vec![if FULL.share() <= fill {
        let claim = format!("{claim}: the heap is full of live objects");
        let found = COLLECTOR_TIME.finding(claim, evidence).of_cpu(sums.cpu_ns);
        // A leak fills any heap: an account of seconds cannot tell it from a heap that is too small.
        found.to_do(WHETHER_IT_GROWS).or("Set a larger -Xmx where the live set does not grow").or(fewer)
    } else {
        let claim = format!("{claim}, and the heap is not full: the program makes objects fast");
        COLLECTOR_TIME.finding(claim, evidence).of_cpu(sums.cpu_ns).to_do(collections)
    }]
}

/// What is in the heap at its emptiest, the most that it may hold, and the looks at it.
fn emptiest(report: &TimeReport) -> Option<(u64, u64, u64)> {
    let held = report.jvm_held.filter(|held| LOOKS.whole() <= held.looks)?;
    Some((held.heap_bytes_least?, held.heap_bytes_max.filter(|max| 0 < *max)?, held.looks))
}

static GC_THREADS_OVER_CPUS: Rule = Rule {
    id: RuleId::of("gc-threads-over-cpus"),
    severity: Severity::Note,
    thresholds: &[WAITED, COLLECTOR],
    evidence: "JVMs on the machine, the sum of their parallel GC threads, the processors, and this JVM's wait \
        (from {waited} of the run time on). Made if the collector has {collector} of the CPU time.",
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
            "threads were counted by their names in the kernel, and those of this collector ran {} and waited \
                {} for a processor; a finding from {WAITED} of waiting per second of running on",
            seconds(sums.cpu_ns),
            seconds(waited_ns)
        );
        let step =
            "Set -XX:ParallelGCThreads=N for each JVM, so that the sum is near the number of processors";
        Some(GC_THREADS_OVER_CPUS.finding(claim, evidence).to_do(step))
    };
    found().into_iter().collect()
}
