//! The windows of a capacity as CSV, figures in full.

use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::{CapacityReport, CapacityWindow};
use std::io;

/// A column: its name, and the field of a window.
type Column = (&'static str, fn(&CapacityWindow) -> String);

/// The columns, in order; misses of each limit and why a window was left out follow.
const COLUMNS: [Column; 24] = [
    ("step", |w| w.step.to_string()),
    ("start_monotonic_ns", |w| w.start_monotonic_ns.to_string()),
    ("rest_s", |w| w.rest_s.to_string()),
    ("settle_s", |w| w.settle_s.to_string()),
    ("window_s", |w| w.window_s.to_string()),
    ("asked_rate_per_s", |w| w.asked_rate_per_s.to_string()),
    ("sent_rate_per_s", |w| w.sent_rate_per_s.to_string()),
    ("reached_rate_per_s", |w| w.reached_rate_per_s.to_string()),
    ("requests", |w| w.requests.to_string()),
    ("errors", |w| w.errors.to_string()),
    ("response_ms_min", |w| figure(w.response_ms_min)),
    ("response_ms_p50", |w| figure(w.response_ms.p50)),
    ("response_ms_p90", |w| figure(w.response_ms_p90)),
    ("response_ms_p95", |w| figure(w.response_ms.p95)),
    ("response_ms_p99", |w| figure(w.response_ms.p99)),
    ("response_ms_p99_9", |w| figure(w.response_ms.p99_9)),
    ("response_ms_max", |w| figure(w.response_ms.max)),
    ("limited_ms", |w| figure(w.limited_ms)),
    ("send_lag_ms_p99", |w| figure(w.send_lag_ms_p99)),
    ("generator_cpu_share", |w| figure(w.generator_cpu_share)),
    ("server_cpu_ms", |w| figure(w.server_cpu_ms)),
    ("machine_arithmetic_ns", |w| figure(w.machine.and_then(|m| m.arithmetic_ns))),
    ("machine_memory_ns", |w| figure(w.machine.map(|m| m.memory_ns))),
    ("is_sustained", |w| w.is_sustained.to_string()),
];

/// Writes a row for each window, with a column of misses for each limit, and why it was left out at the end.
pub fn render(report: &CapacityReport, out: &mut impl io::Write) -> io::Result<()> {
    let limits = || report.limits.iter().map(|limit| format!("misses_{}_ms", limit.limit_ms));
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let all = ["window".to_owned()].into_iter().chain(names).chain(limits()).chain(["left_out".to_owned()]);
    let mut rows = Rows::new(out, all)?;
    for (number, window) in (1_usize..).zip(&report.windows) {
        let mut fields = vec![number.to_string()];
        fields.extend(COLUMNS.iter().map(|(_, field)| field(window)));
        fields.extend((0..report.limits.len()).map(|index| whole(window.misses.get(index))));
        fields.push(window.left_out.join("; "));
        rows.row(fields)?;
    }
    rows.end()
}
