//! The result tables: one for each group of variants.

use super::estimate::{interval, shown_unit};
use super::grid::{Cell, Grid, Group, role_of};
use assay_kit::Table;
use assay_kit::number::significant;
use assay_kit::text;
use assay_model::{Better, Comparison, Metric, Verdict};

/// Whether a comparison shows something better (`Some(true)`), worse (`Some(false)`) or neither.
pub fn is_better(comparison: &Comparison, metric: &Metric) -> Option<bool> {
    match (comparison.verdict, metric.better) {
        (Verdict::Higher, Better::Higher) | (Verdict::Lower, Better::Lower) => Some(true),
        (Verdict::Higher, Better::Lower) | (Verdict::Lower, Better::Higher) => Some(false),
        (Verdict::NoDifferenceShown | Verdict::TooFewBlocks | Verdict::OneServerEach, _) => None,
    }
}

/// Metrics that no variant has, each with the reason that the first variant that ran gives.
pub fn not_measured(grid: &Grid) -> Vec<String> {
    let Some((_, first)) = grid.cells().find(|(_, c)| c.skipped.is_none()) else { return Vec::new() };
    let shown = shown_metrics(grid);
    let missing = grid.metrics.iter().filter(|m| !shown.contains(m) && grid.is_expected(m));
    missing
        .map(|m| format!("{}: not available for any variant: {}", m.title, grid.why_absent(first, m)))
        .collect()
}

/// Metrics that at least one variant has, in the order of the model.
pub fn shown_metrics<'g>(grid: &'g Grid) -> Vec<&'g Metric> {
    let has = |m: &&Metric| grid.cells().any(|(_, c)| c.estimate(&m.id).is_some());
    grid.metrics.iter().filter(has).collect()
}

/// How to read the tables of [`tables`].
pub const HOW_TO_READ: &str = "Each field holds the value with its 95 % interval, and below it the ratio to the \
                               baseline, paired by block: ▲ higher, ▼ lower, ≈ no difference shown, ? too few blocks, or one \
                               server of each variant.";

/// One table for each group: variants by metrics, without those of roles; none if nothing was measured.
pub fn tables(grid: &Grid) -> Vec<Table> {
    let mut metrics = shown_metrics(grid);
    metrics.retain(|metric| role_of(metric).is_none());
    if metrics.is_empty() {
        return Vec::new();
    }
    grid.groups.iter().map(|group| group_table(grid, group, &metrics)).collect()
}

fn group_table(grid: &Grid, group: &Group, metrics: &[&Metric]) -> Table {
    let mut rows =
        Table::of(format!("Results{}", group.place()), &group.cells).words("Variant", |c| c.label.clone());
    for metric in metrics {
        let heading = format!("{} ({})", metric.title, shown_unit(metric).0);
        rows = rows.figures(heading, |cell| match cell.skipped {
            Some(_) => "skipped, see below".to_owned(),
            None => result_cell(grid, cell, metric),
        });
    }
    rows.class("dense")
}

/// The value of a metric with its interval and its comparison.
pub fn result_cell(grid: &Grid, cell: &Cell, metric: &Metric) -> String {
    let Some(estimate) = cell.estimate(&metric.id) else {
        return format!("not available: {}", grid.why_absent(cell, metric));
    };
    let value = interval(&estimate, shown_unit(metric).1);
    match grid.comparison(cell.name, &metric.id) {
        Some(c) => format!("{value}\n{} {}", c.verdict.sign(), ratio_cell(c)),
        None if cell.variant.is_some_and(|v| v.baseline.is_none()) => format!("{value}\nbaseline"),
        None if grid.run.plan.is_set_by_load(&metric.id) => format!("{value}\nset by the load"),
        None => format!("{value}\nno comparison: no block in which both count"),
    }
}

fn ratio_cell(comparison: &Comparison) -> String {
    let ratio = comparison.ratio;
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            format!("{}× [{}, {}]", significant(ratio.estimate), significant(low), significant(high))
        }
        _ => format!("{}× (no interval)", significant(ratio.estimate)),
    }
}

/// Variants that cannot be run here; absent when there are none.
pub fn skipped(grid: &Grid) -> Option<Table> {
    Table::of("Skipped variants", &grid.run.plan.skipped)
        .words("Variant", |s| text::clean(&s.name))
        .words("Why", |s| text::clean(&s.reason))
        .table()
        .unless_empty()
}
