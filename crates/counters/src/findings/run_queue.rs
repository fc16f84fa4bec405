//! Processors that are wanted by more than there are.

use super::rule::{Found, Rule};
use super::words::{cpus, percent, pool, seconds, share};
use assay_model::{RuleId, Severity, Threshold, TimeReport};

pub(super) static RULES: &[&Rule] = &[&RUN_QUEUE_OVERLOADED, &SOFTIRQ_ON_ONE_CPU];

/// Threads of the process that wait for a processor, on average: from one on somebody always waits.
const WAITING: Threshold = Threshold::count("waiting", 1);
/// Part of the waiting that one pool has: most of it.
const POOL: Threshold = Threshold::percent("pool", 50.0);
/// Soft interrupts on one processor: from this part of its time on it is a bottleneck long before it is full (the POWER9 study met 99 %).
const SOFTIRQ: Threshold = Threshold::percent("softirq", 30.0);
/// Part of all soft interrupts that is on one processor.
const OF_ALL: Threshold = Threshold::percent("of_all", 60.0);

static RUN_QUEUE_OVERLOADED: Rule = Rule {
    id: RuleId::of("run-queue-overloaded"),
    severity: Severity::Warning,
    thresholds: &[WAITING, POOL],
    evidence: "Threads that wait for a processor on average (from {waiting} on), and the pool that has {pool} of the waiting or more.",
    cause: "One pool has more runnable threads than there are processors.",
    fix: "Use fewer threads in that pool.",
    alternatives: &["Give the process more processors (a higher CPU limit)."],
    judge: overloaded,
};

/// One pool, with more threads than processors, has most of the waiting for a processor.
fn overloaded(report: &TimeReport) -> Vec<Found> {
    let delays = report.groups.iter().map(|group| group.sums.run_delay_ns);
    let Some(all_ns) = delays.sum::<Option<u64>>() else { return Vec::new() };
    let Some(cpus) = cpus(report) else { return Vec::new() };
    let waiting = share(all_ns, report.duration_ns);
    if waiting < WAITING.value {
        return Vec::new();
    }
    let is_it = |group: &&assay_model::TimeGroup| {
        let part = share(group.sums.run_delay_ns.unwrap_or(0), all_ns);
        POOL.share() <= part && cpus < group.sums.threads as f64
    };
    let Some(group) = report.groups.iter().find(is_it) else { return Vec::new() };
    let of_pool = group.sums.run_delay_ns.unwrap_or(0);
    let machine = report.machine.busy_ns.map_or_else(String::new, |busy| {
        format!(
            "; the process used {} of the machine's busy time",
            percent(share(report.process.cpu_ns, busy))
        )
    });
    let claim = format!(
        "The run queue is overloaded by {}: {waiting:.1} threads wait for a processor at any moment",
        pool(group)
    );
    let evidence = format!(
        "it waited {} of {} that all threads waited, and ran {}, on {cpus} processors{machine}; counts from {WAITING} thread and {POOL} of the waiting on",
        seconds(of_pool),
        seconds(all_ns),
        seconds(group.sums.cpu_ns),
    );
    vec![
        RUN_QUEUE_OVERLOADED
            .finding(claim, evidence)
            .to_do("Use fewer threads in this pool")
            .or("Give the process more processors (a higher CPU limit)"),
    ]
}

static SOFTIRQ_ON_ONE_CPU: Rule = Rule {
    id: RuleId::of("softirq-on-one-cpu"),
    severity: Severity::Warning,
    thresholds: &[SOFTIRQ, OF_ALL],
    evidence: "Soft interrupts of each processor. Made if one has {softirq} of its time in them, and {of_all} \
        of all.",
    cause: "The network adapter interrupts one processor, or has one receive queue.",
    fix: "Use more receive queues: `ethtool -L`.",
    alternatives: &["Let other processors handle packets: `rps_cpus`."],
    judge: softirq,
};

/// Soft interrupts, most of them of the network, on one processor.
fn softirq(report: &TimeReport) -> Vec<Found> {
    let each = &report.machine.softirq_ns;
    let all_ns: u64 = each.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
    let most = each.iter().copied().enumerate().max_by_key(|(_, ns)| *ns);
    let Some((cpu, ns)) = most.filter(|_| 1 < each.len()) else { return Vec::new() };
    let (of_time, of_all) = (share(ns, report.duration_ns), share(ns, all_ns));
    if of_time < SOFTIRQ.share() || of_all < OF_ALL.share() {
        return Vec::new();
    }
    let claim = format!(
        "One of {} processors handles the network: {} of its time is soft interrupts",
        each.len(),
        percent(of_time)
    );
    let evidence = format!(
        "processor {cpu} of those online has {} of {} in soft interrupts (/proc/stat); a finding from \
            {SOFTIRQ} of its time and {OF_ALL} of all on",
        seconds(ns),
        seconds(all_ns)
    );
    vec![
        SOFTIRQ_ON_ONE_CPU
            .finding(claim, evidence)
            .to_do("Spread it over more receive queues: ethtool -L DEVICE combined N")
            .or("Let other processors handle packets: /sys/class/net/DEVICE/queues/rx-0/rps_cpus"),
    ]
}
