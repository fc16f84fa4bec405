//! The raw figures of CPU time: a row for each group of threads, and of a change for each role.

use assay_kit::document::{Data, Value};
use assay_model::{TimeChange, TimeGroup, TimeReport};

/// A column: its name, and its value of a group.
type Column = (&'static str, fn(&TimeGroup) -> Value);

/// A row for each role and name of threads. They add up to the CPU time of the threads. `kernel_share` is 0 to 1, with its 95 % interval.
pub fn report(report: &TimeReport) -> Data {
    let columns: [Column; 16] = [
        ("role", |g| g.role.word().into()),
        ("name", |g| g.name.clone().into()),
        ("role_inferred", |g| g.is_role_inferred.into()),
        ("threads", |g| g.sums.threads.into()),
        ("cpu_ns", |g| g.sums.cpu_ns.into()),
        ("user_ns", |g| g.sums.user_ns.into()),
        ("kernel_ns", |g| g.sums.kernel_ns.into()),
        ("kernel_share", |g| g.sums.kernel_share.map(|share| share.estimate).into()),
        ("kernel_share_low", |g| g.sums.kernel_share.and_then(|share| share.low).into()),
        ("kernel_share_high", |g| g.sums.kernel_share.and_then(|share| share.high).into()),
        ("run_delay_ns", |g| g.sums.run_delay_ns.into()),
        ("voluntary_switches", |g| g.sums.voluntary_switches.into()),
        ("involuntary_switches", |g| g.sums.involuntary_switches.into()),
        ("minor_faults", |g| g.sums.minor_faults.into()),
        ("major_faults", |g| g.sums.major_faults.into()),
        ("block_io_ns", |g| g.sums.block_io_ns.into()),
    ];
    Data::of(&report.groups, columns)
}

/// A row for the total and for each role. `unit` is `ns-per-request`, or `share` of each account's whole.
pub fn change(change: &TimeChange) -> Data {
    let mut data = Data::new(["part", "name", "unit", "before", "after", "change"]);
    let total = [("total", &change.total)].into_iter();
    for (part, of) in total.chain(change.roles.iter().map(|role| ("role", role))) {
        let first: [Value; 3] = [part.into(), of.name.clone().into(), change.unit.word().into()];
        data.push(first.into_iter().chain([of.before, of.after, of.after - of.before].map(Value::from)));
    }
    data
}
