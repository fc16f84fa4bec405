//! Tidy CSV: one row for each variant and metric, its comparison with the baseline in the same row.
//!
//! Figures have full precision and the stored unit. An empty field is absent; `note` then says why.

use super::grid::Grid;
use super::results::shown_metrics;
use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::Verdict;
use std::io;

/// The columns, in order.
const COLUMNS: [&str; 20] = [
    "study",
    "variant",
    "group",
    "level",
    "mode_read",
    "metric",
    "unit",
    "estimate",
    "low",
    "high",
    "windows",
    "left_out",
    "baseline",
    "ratio",
    "ratio_low",
    "ratio_high",
    "blocks",
    "shown",
    "verdict",
    "note",
];

/// Writes the whole table.
pub fn render(grid: &Grid, out: &mut impl io::Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS)?;
    let shown = shown_metrics(grid);
    for metric in grid.metrics.iter().filter(|m| shown.contains(m) || grid.is_expected(m)) {
        for (group, cell) in grid.cells() {
            let estimate = cell.estimate(&metric.id);
            let comparison = grid.comparison(cell.name, &metric.id);
            let note = if estimate.is_none() { grid.why_absent(cell, metric) } else { String::new() };
            let fields = [
                grid.run.plan.study.clone(),
                cell.name.to_owned(),
                group.label.clone(),
                cell.label.clone(),
                cell.summary.and_then(|s| s.mode_read.clone()).unwrap_or_default(),
                metric.id.to_string(),
                metric.unit.to_owned(),
                figure(estimate.map(|e| e.estimate)),
                figure(estimate.and_then(|e| e.low)),
                figure(estimate.and_then(|e| e.high)),
                whole(cell.summary.map(|s| s.windows)),
                whole(cell.summary.map(|s| s.left_out)),
                comparison.map(|c| c.baseline.clone()).unwrap_or_default(),
                figure(comparison.map(|c| c.ratio.estimate)),
                figure(comparison.and_then(|c| c.ratio.low)),
                figure(comparison.and_then(|c| c.ratio.high)),
                whole(comparison.map(|c| c.blocks)),
                comparison.map(|c| c.shown.to_string()).unwrap_or_default(),
                comparison.map(|c| verdict_key(c.verdict).to_owned()).unwrap_or_default(),
                note,
            ];
            rows.row(fields)?;
        }
    }
    rows.end()
}

/// The same words as in `summary.json`.
fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NoDifferenceShown => "no-difference-shown",
        Verdict::TooFewBlocks => "too-few-blocks",
    }
}
