//! Waits, throttling, steal, switches and faults: what stands beside CPU time.

use super::figures::rate;
use assay_kit::Table;
use assay_kit::number::{count, counted, duration, percent};
use assay_model::{TimeReport, TimeSums};

/// Figures beside CPU time. Unknown ones have no row.
pub fn table(report: &TimeReport) -> Table {
    let row = |value: Option<String>, what: &'static str| Some((what, value?));
    let time = |ns: Option<u64>| ns.map(duration);
    let of_all = |of: fn(&TimeSums) -> Option<u64>| {
        let mut sums = report.roles.iter().map(|role| of(&role.sums));
        sums.try_fold(0u64, |sum, of| Some(sum.saturating_add(of?)))
    };
    let group = report.cgroup.as_ref();
    // Without a limit the kernel counts zeros.
    let limited = group.filter(|g| g.cpus_max.is_some() || g.throttled_periods.is_some_and(|n| n != 0));
    let throttled = limited.and_then(|g| g.throttled_periods.zip(g.throttled_ns));
    let stolen = report.machine.steal_ns;
    let capacity_ns = report.duration_ns.saturating_mul(u64::from(report.machine.cpus.unwrap_or(0)));
    let of_machine =
        |ns: Option<u64>| ns.map(|ns| format!("{} ({})", duration(ns), percent(ns, capacity_ns)));
    let rows = [
        row(time(of_all(|s| s.run_delay_ns)), "threads were ready to run and waited for a processor"),
        row(time(of_all(|s| s.block_io_ns)), "threads were blocked on block devices"),
        row(
            throttled.map(|(periods, ns)| {
                format!("{} in {}", duration(ns), counted(periods, "period", "periods"))
            }),
            "the control group was throttled by its CPU limit",
        ),
        row(
            of_machine(stolen),
            "the hypervisor ran something else while a thread was ready, on the whole machine",
        ),
        row(of_machine(report.machine.busy_ns), "the machine was busy, everybody together"),
        row(
            of_all(|s| s.voluntary_switches).map(|n| rate(n, report)),
            "switches because a thread waited for something",
        ),
        row(
            of_all(|s| s.involuntary_switches).map(|n| rate(n, report)),
            "switches because the kernel took the processor away",
        ),
        row(Some(rate(report.process.minor_faults, report)), "page faults without a read from a disk"),
        row(Some(rate(report.process.major_faults, report)), "page faults with one"),
        row(Some(count(report.process.threads)), "threads at the end"),
    ];
    Table::of("Waits, switches and faults", rows.into_iter().flatten())
        .words("What", |(what, _)| *what)
        .figures("Figure", |(_, value)| value.clone())
        .table()
}
