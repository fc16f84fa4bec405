//! CPU time as CSV: a row for each group of threads, and of a change a row for each role; figures in full.

use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::{TimeChange, TimeGroup, TimeReport};
use std::io::{self, Write};

/// A column: its name, and its field of a group.
type Column = (&'static str, fn(&TimeGroup) -> String);

/// The columns, in order. `kernel_share` is 0 to 1, with its 95 % interval.
const COLUMNS: [Column; 16] = [
    ("role", |g| g.role.word().to_owned()),
    ("name", |g| g.name.clone()),
    ("role_inferred", |g| g.is_role_inferred.to_string()),
    ("threads", |g| g.sums.threads.to_string()),
    ("cpu_ns", |g| g.sums.cpu_ns.to_string()),
    ("user_ns", |g| whole(g.sums.user_ns)),
    ("kernel_ns", |g| whole(g.sums.kernel_ns)),
    ("kernel_share", |g| figure(g.sums.kernel_share.map(|share| share.estimate))),
    ("kernel_share_low", |g| figure(g.sums.kernel_share.and_then(|share| share.low))),
    ("kernel_share_high", |g| figure(g.sums.kernel_share.and_then(|share| share.high))),
    ("run_delay_ns", |g| whole(g.sums.run_delay_ns)),
    ("voluntary_switches", |g| whole(g.sums.voluntary_switches)),
    ("involuntary_switches", |g| whole(g.sums.involuntary_switches)),
    ("minor_faults", |g| g.sums.minor_faults.to_string()),
    ("major_faults", |g| g.sums.major_faults.to_string()),
    ("block_io_ns", |g| whole(g.sums.block_io_ns)),
];

/// A row for each role and name of threads. They add up to the CPU time of the threads.
///
/// # Errors
/// Those of the writer.
pub fn report(report: &TimeReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS.map(|(name, _)| name))?;
    report.groups.iter().try_for_each(|group| rows.row(COLUMNS.map(|(_, field)| field(group))))?;
    rows.end()
}

/// A row for the total and for each role. `unit` is `ns-per-request`, or `share` of each account's whole.
///
/// # Errors
/// Those of the writer.
pub fn change(change: &TimeChange, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["part", "name", "unit", "before", "after", "change"])?;
    let total = [("total", &change.total)].into_iter();
    for (part, of) in total.chain(change.roles.iter().map(|role| ("role", role))) {
        let figures = [of.before, of.after, of.after - of.before].map(|value| figure(Some(value)));
        let first = [part.to_owned(), of.name.clone(), change.unit.word().to_owned()];
        rows.row(first.into_iter().chain(figures))?;
    }
    rows.end()
}
