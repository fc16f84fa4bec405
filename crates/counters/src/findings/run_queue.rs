//! Processors that are wanted by more than there are.

use super::words::{cpus, percent, pool, seconds, share};
use assay_model::{Finding, Severity, TimeReport, TimeRule};

/// Threads of the process that wait for a processor, on average: from one on somebody always waits.
const WAITING_MIN: f64 = 1.0;
/// Part of the waiting that one pool has: most of it.
const POOL_PART: f64 = 0.5;
/// Soft interrupts on one processor: from this part of its time on it is a bottleneck long before it is full (the POWER9 study met 99 %).
const SOFTIRQ_PART: f64 = 0.3;
/// Part of all soft interrupts that is on one processor.
const SOFTIRQ_ONE_CPU: f64 = 0.6;

/// One pool, with more threads than processors, has most of the waiting for a processor.
pub(super) fn overloaded(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let delays = report.groups.iter().map(|group| group.sums.run_delay_ns);
    let Some(all_ns) = delays.sum::<Option<u64>>() else { return Vec::new() };
    let Some(cpus) = cpus(report) else { return Vec::new() };
    let waiting = share(all_ns, report.duration_ns);
    if waiting < WAITING_MIN {
        return Vec::new();
    }
    let is_it = |group: &&assay_model::TimeGroup| {
        let part = share(group.sums.run_delay_ns.unwrap_or(0), all_ns);
        POOL_PART <= part && cpus < group.sums.threads as f64
    };
    let Some(group) = report.groups.iter().find(is_it) else { return Vec::new() };
    let of_pool = group.sums.run_delay_ns.unwrap_or(0);
    let machine = report.machine.busy_ns.map_or_else(String::new, |busy| {
        format!(
            "; the process used {} of what the machine was busy",
            percent(share(report.process.cpu_ns, busy))
        )
    });
    vec![Finding::measured(TimeRule::RunQueueOverloaded, Severity::Warning, format!(
            "The run queue is overloaded by {}: {waiting:.1} threads wait for a processor at any moment",
            pool(group)
        ), format!(
            "it waited {} of {} that all threads waited, and ran {}, on {cpus} processors{machine}; counts from {WAITING_MIN} thread and {} of the waiting on",
            seconds(of_pool),
            seconds(all_ns),
            seconds(group.sums.cpu_ns),
            percent(POOL_PART),
        )).to_do("Use fewer threads in this pool").or("Give the process more processors (a higher CPU limit)")]
}

/// Soft interrupts, most of them of the network, on one processor.
pub(super) fn softirq(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let each = &report.machine.softirq_ns;
    let all_ns: u64 = each.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
    let most = each.iter().copied().enumerate().max_by_key(|(_, ns)| *ns);
    let Some((cpu, ns)) = most.filter(|_| 1 < each.len()) else { return Vec::new() };
    let (of_time, of_all) = (share(ns, report.duration_ns), share(ns, all_ns));
    if of_time < SOFTIRQ_PART || of_all < SOFTIRQ_ONE_CPU {
        return Vec::new();
    }
    vec![Finding::measured(TimeRule::SoftirqOnOneCpu, Severity::Warning, format!(
            "One of {} processors handles the network: {} of its time is soft interrupts",
            each.len(),
            percent(of_time)
        ), format!(
            "processor {cpu} of those online has {} of {} that /proc/stat counts as soft interrupts; counts from {} of its time and {} of all on",
            seconds(ns),
            seconds(all_ns),
            percent(SOFTIRQ_PART),
            percent(SOFTIRQ_ONE_CPU)
        ))
        .to_do("Spread it over more receive queues: ethtool -L DEVICE combined N")
        .or("Let other processors handle packets: /sys/class/net/DEVICE/queues/rx-0/rps_cpus")]
}
