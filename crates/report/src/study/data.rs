//! The raw figures of a run: one row for each variant and metric, its comparison with the baseline in the same row.
//!
//! Figures have full precision and the stored unit. Where one is absent, `note` says why.

use super::grid::{Cell, Grid, Group};
use super::operations;
use super::results::shown_metrics;
use assay_kit::document::{Data, Value};
use assay_model::{Comparison, Decision, Estimate, Metric, StoredRun};

/// A variant, and a metric of it.
struct Row<'g> {
    grid: &'g Grid<'g>,
    group: &'g Group<'g>,
    cell: &'g Cell<'g>,
    metric: &'g Metric,
    estimate: Option<Estimate>,
    comparison: Option<&'g Comparison>,
    /// What a run with a budget decided of it.
    decisions: Vec<&'g Decision>,
}

impl Row<'_> {
    /// Of each question about it, in their order.
    fn of_each<T: std::fmt::Display>(&self, of: impl Fn(&Decision) -> Option<T>) -> Value {
        let texts: Vec<String> =
            self.decisions.iter().filter_map(|one| of(one)).map(|text| text.to_string()).collect();
        if texts.is_empty() { Value::Absent } else { texts.join("; ").into() }
    }
}

/// A column: its name, and its value in a row.
type Column = (&'static str, fn(&Row) -> Value);

/// The columns, in order.
const COLUMNS: [Column; 23] = [
    ("study", |r| r.grid.run.plan.study.clone().into()),
    ("variant", |r| r.cell.name.into()),
    ("group", |r| r.group.label.clone().into()),
    ("level", |r| r.cell.label.clone().into()),
    ("mode_read", |r| r.cell.summary.and_then(|s| s.mode_read.clone()).into()),
    ("metric", |r| r.metric.id.to_string().into()),
    ("unit", |r| r.metric.unit.into()),
    ("estimate", |r| r.estimate.map(|e| e.estimate).into()),
    ("low", |r| r.estimate.and_then(|e| e.low).into()),
    ("high", |r| r.estimate.and_then(|e| e.high).into()),
    ("windows", |r| r.cell.summary.map(|s| s.windows).into()),
    ("left_out", |r| r.cell.summary.map(|s| s.left_out).into()),
    ("baseline", |r| r.comparison.map(|c| c.baseline.clone()).into()),
    ("ratio", |r| r.comparison.map(|c| c.ratio.estimate).into()),
    ("ratio_low", |r| r.comparison.and_then(|c| c.ratio.low).into()),
    ("ratio_high", |r| r.comparison.and_then(|c| c.ratio.high).into()),
    ("blocks", |r| r.comparison.map(|c| c.blocks).into()),
    ("shown", |r| r.comparison.map(|c| c.shown).into()),
    ("verdict", |r| r.comparison.map(|c| c.verdict.word()).into()),
    ("conditions", |r| r.of_each(|one| one.condition.clone())),
    ("decided", |r| r.of_each(|one| Some(one.outcome.word()))),
    ("smallest_ratio", |r| r.decisions.first().and_then(|one| one.smallest_difference_ratio).into()),
    ("note", |r| match r.estimate {
        Some(_) => Value::Absent,
        None => r.grid.why_absent(r.cell, r.metric).into(),
    }),
];

fn decisions<'r>(run: &'r StoredRun, variant: &str, metric: &str) -> Vec<&'r Decision> {
    let all = run.summary.iter().flat_map(|summary| &summary.decisions);
    all.filter(|one| one.variant == variant && one.metric == metric).collect()
}

/// The results in rows, each with its comparison; then those of each operation, whose metric names it: `response_p99_ms{operation=buy}`.
pub fn data(run: &StoredRun) -> Data {
    let grid = &Grid::of(run);
    let mut data = Data::new(COLUMNS.map(|(name, _)| name));
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
                decisions: decisions(run, cell.name, &metric.id),
            };
            data.push(COLUMNS.map(|(_, value)| value(&row)));
        }
    }
    for of in operations::all(grid) {
        for (name, unit, value) in &of.figures {
            data.push(COLUMNS.map(|(column, _)| match column {
                "study" => grid.run.plan.study.clone().into(),
                "variant" => of.variant.clone().into(),
                "metric" => format!("{name}{{operation={}}}", of.operation).into(),
                "unit" => (*unit).into(),
                "estimate" => (*value).into(),
                "windows" => of.windows.into(),
                _ => Value::Absent,
            }));
        }
    }
    data
}
