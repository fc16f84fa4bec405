//! The rates of a capacity as CSV: a row for each limit, then the critical and the highest rate, figures in full. Its windows are
//! CSV on the page.

use assay_kit::csv_rows::{Rows, figure};
use assay_model::{CapacityReport, Estimate};
use std::io::{self, Write};

/// The columns, in order.
const COLUMNS: [&str; 9] = [
    "name",
    "limit_ms",
    "percentile",
    "rate_per_s",
    "rate_low_per_s",
    "rate_high_per_s",
    "last_success_per_s",
    "first_failure_per_s",
    "valid",
];

/// Writes a row for each rate. `valid` is `false` where the figures must not be used, and empty where that is not known.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &CapacityReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS)?;
    let (percentile, valid) = (report.percentile.to_string(), report.valid);
    let valid = valid.map_or_else(String::new, |valid| valid.to_string());
    let mut row = |name: &str, limit: Option<f64>, rate: Option<Estimate>, tried: [Option<f64>; 2]| {
        let of_rate = [rate.map(|r| r.estimate), rate.and_then(|r| r.low), rate.and_then(|r| r.high)];
        let percentile = if limit.is_some() { percentile.clone() } else { String::new() };
        let figures = of_rate.into_iter().chain(tried).map(figure);
        let first = [name.to_owned(), figure(limit), percentile];
        rows.row(first.into_iter().chain(figures).chain([valid.clone()]))
    };
    for limit in &report.limits {
        let tried = [limit.last_success_per_s, limit.first_failure_per_s];
        row("limit", Some(limit.limit_ms), limit.rate_per_s, tried)?;
    }
    row("critical", None, report.critical_rate_per_s, [None; 2])?;
    row("max", None, report.max_rate_per_s, [None; 2])?;
    rows.end()
}
