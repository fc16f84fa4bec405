//! How metrics grow with a factor whose levels are numbers.

use super::grid::Grid;
use assay_kit::number::{counted, interval, significant};
use assay_kit::{Table, text};
use assay_model::{Metric, Scaling};

/// Above this max_residual_ratio the text says that no single exponent describes the growth.
const MISFIT_TOLD: f64 = 1.25;

fn scalings<'a>(grid: &'a Grid<'_>) -> impl Iterator<Item = (&'a Scaling, &'a Metric)> {
    let all = grid.run.summary.iter().flat_map(|summary| &summary.scalings);
    all.filter_map(|one| Some((one, grid.metrics.iter().find(|metric| metric.id == one.metric)?)))
}

fn others(scaling: &Scaling) -> String {
    let levels = scaling.others.iter().map(|(factor, level)| format!("{factor} {level}"));
    text::clean(&levels.collect::<Vec<_>>().join(", "))
}

fn levels(scaling: &Scaling) -> String {
    scaling.levels.iter().map(|level| significant(*level)).collect::<Vec<_>>().join(", ")
}

fn exponent(scaling: &Scaling) -> String {
    interval(scaling.exponent.estimate, scaling.exponent.ends())
}

/// Exponents of all metrics; absent where no factor has numbers for levels.
pub fn table(grid: &Grid) -> Option<Table> {
    let caption = "Growth with a factor: the metric is proportional to level^exponent (1: proportional to the level, 0: constant)";
    let rows = Table::of(caption, scalings(grid))
        .words("Metric", |(_, metric)| text::clean(&metric.title))
        .words("Grows with", |(one, _)| text::clean(&one.factor))
        .words("At", |(one, _)| others(one))
        .words("Levels", |(one, _)| levels(one))
        .figures("Exponent", |(one, _)| exponent(one))
        .figures("Largest deviation", |(one, _)| format!("{}×", significant(one.max_residual_ratio)));
    rows.table().unless_empty()
}

/// The exponents of the metric that decides, as sentences for a terminal.
pub fn sentences(grid: &Grid) -> Vec<String> {
    let primary = grid.primary();
    let of_primary = scalings(grid).filter(|(_, metric)| metric.id == primary.id);
    let sentence = |(one, metric): (&Scaling, &Metric)| {
        let others = others(one);
        let at = if others.is_empty() { String::new() } else { format!(" at {others}") };
        let blocks = counted(u64::from(one.blocks), "block", "blocks");
        let off = if MISFIT_TOLD < one.max_residual_ratio {
            format!(
                "; one level is {} times off, so no single exponent describes it",
                significant(one.max_residual_ratio)
            )
        } else {
            String::new()
        };
        format!(
            "{}{at}: grows as {} to the power of {} ({blocks}{off})",
            text::clean(&metric.title),
            text::clean(&one.factor),
            exponent(one)
        )
    };
    of_primary.map(sentence).collect()
}
