//! The result tables: one for each group of variants.

use super::estimate::{interval, shown_unit};
use super::grid::{Cell, Grid, Group, role_of};
use assay_kit::number::{half_width_percent, significant};
use assay_kit::table::Look;
use assay_kit::text;
use assay_kit::{Cell as Field, Table};
use assay_model::{Better, Comparison, Metric, Verdict, metric};

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
pub const HOW_TO_READ: &str = "Each cell holds the value with its 95 % interval (on a terminal ± half of it, \
    in % of the value). Then follows the ratio to the baseline, paired by block. Marks: ▲ higher, ▼ lower, ≈ \
    no difference shown, ? too few blocks, or one server of each variant.";

/// One table for each group: variants by metrics, without those of roles; none if nothing was measured.
pub fn tables(grid: &Grid) -> Vec<Table> {
    let mut metrics = shown_metrics(grid);
    metrics.retain(|metric| role_of(metric).is_none());
    if metrics.is_empty() {
        return Vec::new();
    }
    let table = |group: &Group| match grid.is_benchmark() {
        true => benchmark_table(grid, group, &metrics),
        false => group_table(grid, group, &metrics),
    };
    grid.groups.iter().map(table).collect()
}

/// Benchmarks are many and variants few: a row for each metric of a benchmark.
fn benchmark_table(grid: &Grid, group: &Group, metrics: &[&Metric]) -> Table {
    let mut rows =
        Table::of(format!("Values by benchmark{}", group.place()), metrics).words("Benchmark", |metric| {
            let benchmark = benchmark_of(metric);
            // The name is enough where one figure has it.
            let is_only = metrics.iter().filter(|other| benchmark_of(other) == benchmark).count() == 1;
            let (unit, _) = shown_unit(metric);
            let name = if is_only { benchmark } else { &metric.title };
            let (full, short) = (&metric.title, text::clean(name));
            Field::Short {
                full: format!("{full} ({unit})"),
                short: format!("{short}, {unit}"),
                look: Look::Plain,
            }
        });
    for cell in &group.cells {
        rows = rows.figures(cell.label.clone(), |metric| match cell.skipped {
            Some(_) => Field::skipped("see below"),
            None => result_cell(grid, cell, metric),
        });
    }
    rows.class("dense")
}

fn benchmark_of(metric: &Metric) -> &str {
    metric.id.split_once('/').map_or(&*metric.id, |(_, name)| name)
}

fn group_table(grid: &Grid, group: &Group, metrics: &[&Metric]) -> Table {
    let mut rows = Table::of(format!("Values by variant{}", group.place()), &group.cells)
        .words("Variant", |c| c.label.clone());
    for metric in metrics {
        let heading = format!("{} ({})", metric.title, shown_unit(metric).0);
        rows = rows.figures(heading, |cell| match cell.skipped {
            Some(_) => Field::skipped("see below"),
            None => result_cell(grid, cell, metric),
        });
        rows = if is_usual(grid, metric) { rows.called(short_heading(metric)) } else { rows.page_only() };
    }
    rows.class("dense")
}

/// Metrics that a terminal shows, where they were measured, and their headings there.
const USUAL: [(&str, &str); 11] = [
    (metric::GARBAGE_KIB_PER_REQUEST, "Garbage KiB/req"),
    (metric::CPU_MS_PER_REQUEST, "CPU ms/req"),
    (metric::CPU_WITHOUT_JIT_MS_PER_REQUEST, "without JIT"),
    (metric::THROUGHPUT_PER_S, "Rate req/s"),
    (metric::RESPONSE_P99_MS, "p99 ms"),
    (metric::RSS_BYTES, "RSS MiB"),
    (metric::PROCESS_CPU_MS_PER_REQUEST, "CPU ms/req"),
    (metric::PROCESS_KERNEL_MS_PER_REQUEST, "kernel ms/req"),
    (metric::PROCESS_MINOR_FAULTS_PER_REQUEST, "faults /req"),
    (metric::PROCESS_COLLECTOR_CPU_PERCENT, "collector % of CPU"),
    (metric::PROCESS_PSS_BYTES, "PSS MiB"),
];

/// Whether a terminal has room for a metric: the one that decides, the usual ones, and all rates of a search.
fn is_usual(grid: &Grid, metric: &Metric) -> bool {
    let is_listed = USUAL.iter().any(|(id, _)| *id == metric.id) && grid.is_worth_a_place(&metric.id);
    let of_capacity = grid.finds_capacity() && metric.is_of_capacity();
    metric.id == grid.primary().id || of_capacity || is_listed
}

/// The heading of a metric on a terminal.
pub fn short_heading(metric: &Metric) -> String {
    let usual = USUAL.iter().find(|(id, _)| *id == metric.id).map(|(_, heading)| (*heading).to_owned());
    usual.unwrap_or_else(|| format!("{} ({})", metric.title, shown_unit(metric).0))
}

/// Whether a terminal has room for a kind of metrics of processes.
pub fn is_usual_kind(kind: &Metric) -> bool {
    USUAL.iter().any(|(id, _)| *id == kind.id)
}

/// The value of a metric with its interval and its comparison; on a terminal half of the interval in percent, and the ratio.
pub fn result_cell(grid: &Grid, cell: &Cell, metric: &Metric) -> Field {
    let Some(estimate) = cell.estimate(&metric.id) else {
        return Field::absent(grid.why_absent(cell, metric));
    };
    let divisor = shown_unit(metric).1;
    let value = interval(&estimate, divisor);
    let half = half_width_percent(estimate.estimate, estimate.ends()).map(|half| format!(" ±{half}%"));
    let short = format!("{}{}", significant(estimate.estimate / divisor), half.unwrap_or_default());
    let Some(comparison) = grid.comparison(cell.name, &metric.id) else {
        let why = if cell.variant.is_some_and(|variant| variant.baseline.is_none()) {
            "baseline"
        } else if grid.run.plan.is_set_by_load(&metric.id) {
            "set by the load"
        } else {
            "no comparison: no block in which both count"
        };
        return Field::Short { full: format!("{value}\n{why}"), short, look: Look::Plain };
    };
    let sign = comparison.verdict.sign();
    Field::Short {
        full: format!("{value}\n{sign} {}", ratio_cell(comparison)),
        short: format!("{short} {}×{sign}", significant(comparison.ratio.estimate)),
        look: match is_better(comparison, metric) {
            Some(true) => Look::Good,
            Some(false) => Look::Bad,
            None => Look::Plain,
        },
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
