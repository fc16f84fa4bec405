//! The windows of a capacity as CSV, figures in full.

use super::lines::Step;
use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::{CapacityReport, metric};
use std::io;

/// A column: its name, and the field of a window.
type Column = (&'static str, fn(Step) -> String);

/// The columns, in order; misses of each limit and why a window was left out follow.
const COLUMNS: [Column; 24] = [
    ("step", |(_, s)| s.step.to_string()),
    ("start_monotonic_ns", |(w, _)| w.start_monotonic_ns.to_string()),
    ("cool_down_s", |(_, s)| s.cool_down_s.to_string()),
    ("settle_s", |(_, s)| s.settle_s.to_string()),
    ("window_s", |(w, _)| w.seconds().to_string()),
    ("offered_rate_per_s", |(_, s)| s.offered_rate_per_s.to_string()),
    ("sent_rate_per_s", |(_, s)| s.sent_rate_per_s.to_string()),
    ("achieved_rate_per_s", |(w, _)| w.achieved_rate_per_s().to_string()),
    ("requests", |(w, _)| w.requests.to_string()),
    ("errors", |(w, _)| w.errors.to_string()),
    ("response_ms_min", |(_, s)| figure(s.response_ms_min)),
    ("response_ms_p50", |(w, _)| figure(w.response_ms.p50)),
    ("response_ms_p90", |(_, s)| figure(s.response_ms_p90)),
    ("response_ms_p95", |(w, _)| figure(w.response_ms.p95)),
    ("response_ms_p99", |(w, _)| figure(w.response_ms.p99)),
    ("response_ms_p99_9", |(w, _)| figure(w.response_ms.p99_9)),
    ("response_ms_max", |(w, _)| figure(w.response_ms.max)),
    ("limited_ms", |(_, s)| figure(s.limited_ms)),
    ("send_lag_ms_p99", |(w, _)| figure(w.send_lag_ms.p99)),
    ("generator_cpu_share", |(w, _)| figure(w.generator_cpu_share)),
    ("server_cpu_ms", |(w, _)| figure(w.metrics.get(metric::CPU_MS_PER_REQUEST).copied())),
    ("machine_arithmetic_ns", |(w, _)| figure(w.machine.and_then(|m| m.arithmetic_ns))),
    ("machine_memory_ns", |(w, _)| figure(w.machine.map(|m| m.memory_ns))),
    ("is_sustained", |(_, s)| s.is_sustained.to_string()),
];

/// Writes a row for each window, with a column of misses for each limit, and why it was left out at the end.
pub fn render(report: &CapacityReport, out: &mut impl io::Write) -> io::Result<()> {
    let limits = || report.limits.iter().map(|limit| format!("misses_{}_ms", limit.limit_ms));
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let all = ["window".to_owned()].into_iter().chain(names).chain(limits()).chain(["left_out".to_owned()]);
    let mut rows = Rows::new(out, all)?;
    for (number, (window, step)) in (1_usize..).zip(report.steps()) {
        let mut fields = vec![number.to_string()];
        fields.extend(COLUMNS.iter().map(|(_, field)| field((window, step))));
        fields.extend((0..report.limits.len()).map(|index| whole(step.misses.get(index))));
        fields.push(window.left_out().join("; "));
        rows.row(fields)?;
    }
    rows.end()
}
