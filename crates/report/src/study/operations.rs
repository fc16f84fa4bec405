//! Operations of a variant's load, over its windows that count: requests and failures are sums, rates and response times medians of
//! windows. A search for a capacity has windows of many rates: it has none.

use super::grid::Grid;
use assay_kit::Table;
use assay_kit::number::{count, significant, size};
use assay_kit::quantity::figure;
use assay_kit::text::clean;
use assay_model::{OperationCount, OperationFigures};
use std::collections::BTreeMap;

/// What a variant's windows say of an operation.
pub struct OperationOfVariant {
    /// The variant.
    pub variant: String,
    /// Name of the operation.
    pub operation: String,
    /// Windows that count.
    pub windows: u32,
    /// Figures, each with its name and unit; what is absent is not there.
    pub figures: Vec<(&'static str, &'static str, f64)>,
}

impl OperationOfVariant {
    fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(of, ..)| *of == name).map(|(.., value)| *value)
    }
}

/// A median over windows: its name, its unit, and its value in a window.
type Median = (&'static str, &'static str, fn(&OperationFigures) -> Option<f64>);

const MEDIANS: [Median; 6] = [
    ("achieved_rate_per_s", "requests/s", |of| of.achieved_rate_per_s),
    ("response_p50_ms", "ms", |of| of.response_ms.p50),
    ("response_p95_ms", "ms", |of| of.response_ms.p95),
    ("response_p99_ms", "ms", |of| of.response_ms.p99),
    ("response_max_ms", "ms", |of| of.response_ms.max),
    ("body_bytes", "bytes", |of| Some(of.body_bytes as f64)),
];

/// All of them, where the load has more than one operation, in the order of variants and of the scenario.
pub fn all(grid: &Grid) -> Vec<OperationOfVariant> {
    if grid.finds_capacity() {
        return Vec::new();
    }
    grid.cells().flat_map(|(_, cell)| of_variant(grid, cell.name)).collect()
}

fn of_variant(grid: &Grid, variant: &str) -> Vec<OperationOfVariant> {
    let windows = grid.trials(variant).flat_map(|stored| &stored.trial.windows).filter(|of| of.counts());
    let mut order: Vec<&str> = Vec::new();
    let mut by_name: BTreeMap<&str, Vec<&OperationCount>> = BTreeMap::new();
    for of in windows.flat_map(|window| &window.operations).filter(|of| of.figures.is_some()) {
        let counts = by_name.entry(&of.name).or_default();
        if counts.is_empty() {
            order.push(&of.name);
        }
        counts.push(of);
    }
    if order.len() < 2 {
        return Vec::new();
    }
    let one = |name: &&str| {
        let counts = by_name.get(name)?;
        let sum = |of: fn(&OperationCount) -> u64| counts.iter().map(|one| of(one)).sum::<u64>() as f64;
        let sums =
            [("requests", "requests", sum(|of| of.requests)), ("errors", "requests", sum(|of| of.errors))];
        let medians = MEDIANS.iter().filter_map(|(id, unit, value)| {
            let values = counts.iter().filter_map(|of| value(of.figures.as_ref()?)).collect();
            Some((*id, *unit, median(values)?))
        });
        Some(OperationOfVariant {
            variant: variant.to_owned(),
            operation: (*name).to_owned(),
            windows: u32::try_from(counts.len()).unwrap_or(u32::MAX),
            figures: sums.into_iter().chain(medians).collect(),
        })
    };
    order.iter().filter_map(one).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { (values[middle - 1] + upper) / 2.0 })
}

/// A row for each variant and operation; absent where there is nothing to tell apart.
pub fn table(grid: &Grid) -> Option<Table> {
    let whole = |name| move |of: &OperationOfVariant| of.figure(name).map(|value| count(value as u64));
    let ms = |name| move |of: &OperationOfVariant| of.figure(name).map(significant);
    let caption =
        "Operations over the windows that count: sums of requests, medians of rates and response times";
    Table::of(caption, all(grid))
        .words("Variant", |of| clean(&of.variant))
        .words("Operation", |of| clean(&of.operation))
        .figures("Requests", whole("requests"))
        .figures("Failed", whole("errors"))
        .figures("Achieved (requests/s)", |of| {
            of.figure("achieved_rate_per_s").map(|rate| figure(Some(rate)))
        })
        .called("Per second")
        .if_room()
        .figures("p50 (ms)", ms("response_p50_ms"))
        .figures("p95 (ms)", ms("response_p95_ms"))
        .if_room()
        .figures("p99 (ms)", ms("response_p99_ms"))
        .figures("Longest (ms)", ms("response_max_ms"))
        .if_room()
        .figures("Bodies", |of| of.figure("body_bytes").map(|bytes| size(bytes as u64)))
        .if_room()
        .table()
        .unless_empty()
}
