//! Tidy CSV: one row for each variant and metric, its comparison with the baseline in the same row.
//!
//! Figures have full precision and the stored unit. An empty field is absent; `note` then says why.

use super::grid::{Cell, Grid, Group};
use super::results::shown_metrics;
use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::{Comparison, Estimate, Metric, StoredRun};
use std::io;

/// A variant, and a metric of it.
struct Row<'g> {
    grid: &'g Grid<'g>,
    group: &'g Group<'g>,
    cell: &'g Cell<'g>,
    metric: &'g Metric,
    estimate: Option<Estimate>,
    comparison: Option<&'g Comparison>,
}

/// A column: its name, and its field of a row.
type Column = (&'static str, fn(&Row) -> String);

/// The columns, in order.
const COLUMNS: [Column; 20] = [
    ("study", |r| r.grid.run.plan.study.clone()),
    ("variant", |r| r.cell.name.to_owned()),
    ("group", |r| r.group.label.clone()),
    ("level", |r| r.cell.label.clone()),
    ("mode_read", |r| r.cell.summary.and_then(|s| s.mode_read.clone()).unwrap_or_default()),
    ("metric", |r| r.metric.id.to_string()),
    ("unit", |r| r.metric.unit.to_owned()),
    ("estimate", |r| figure(r.estimate.map(|e| e.estimate))),
    ("low", |r| figure(r.estimate.and_then(|e| e.low))),
    ("high", |r| figure(r.estimate.and_then(|e| e.high))),
    ("windows", |r| whole(r.cell.summary.map(|s| s.windows))),
    ("left_out", |r| whole(r.cell.summary.map(|s| s.left_out))),
    ("baseline", |r| r.comparison.map(|c| c.baseline.clone()).unwrap_or_default()),
    ("ratio", |r| figure(r.comparison.map(|c| c.ratio.estimate))),
    ("ratio_low", |r| figure(r.comparison.and_then(|c| c.ratio.low))),
    ("ratio_high", |r| figure(r.comparison.and_then(|c| c.ratio.high))),
    ("blocks", |r| whole(r.comparison.map(|c| c.blocks))),
    ("shown", |r| whole(r.comparison.map(|c| c.shown))),
    ("verdict", |r| r.comparison.map(|c| c.verdict.word().to_owned()).unwrap_or_default()),
    ("note", |r| match r.estimate {
        Some(_) => String::new(),
        None => r.grid.why_absent(r.cell, r.metric),
    }),
];

/// Writes the results as tidy CSV: one row for each variant and metric, with the comparison in the same row.
///
/// # Errors
/// Those of the writer.
pub fn render(run: &StoredRun, out: &mut impl io::Write) -> io::Result<()> {
    let grid = &Grid::of(run);
    let mut rows = Rows::new(out, COLUMNS.map(|(name, _)| name))?;
    let shown = shown_metrics(grid);
    for metric in grid.metrics.iter().filter(|m| shown.contains(m) || grid.is_expected(m)) {
        for (group, cell) in grid.cells() {
            let estimate = cell.estimate(&metric.id);
            let row = Row {
                grid,
                group,
                cell,
                metric,
                estimate,
                comparison: grid.comparison(cell.name, &metric.id),
            };
            rows.row(COLUMNS.map(|(_, field)| field(&row)))?;
        }
    }
    rows.end()
}
