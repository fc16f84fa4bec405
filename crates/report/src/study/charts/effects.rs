//! What differs, by how surely and how much: every comparison of the figures that decide, on one scale.

use super::super::grid::{Cell, Grid, Group};
use assay_kit::chart::{Chart, PANEL_WIDTH, Panel, WHOLE_WIDTH};
use assay_kit::forest::{Effect, HOW_TO_READ, draw, first_screen, in_order};
use assay_kit::number::{bracketed, counted, significant};
use assay_kit::{self as kit, Table, text};
use assay_model::{Comparison, Feels, Metric, metric};

const ID: &str = "effects";
const TITLE: &str = "What differs, and how surely";
const AXIS: &str = "ratio to the baseline (1 = the same)";
/// So many rows can be taken in at a glance.
const ROWS_MAX: usize = 12;
/// What is drawn beside the metric that decides.
const ALSO: [&str; 6] = [
    metric::CPU_MS_PER_REQUEST,
    metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
    metric::GARBAGE_KIB_PER_REQUEST,
    metric::THROUGHPUT_PER_S,
    metric::RESPONSE_P99_MS,
    metric::RSS_BYTES,
];

type Compared<'g> = (&'g Group<'g>, &'g Cell<'g>, &'g Metric, &'g Comparison);

fn compared<'g>(grid: &'g Grid<'g>) -> Vec<Compared<'g>> {
    let primary = &grid.primary().id;
    let is_drawn = |metric: &&Metric| {
        metric.id == *primary
            || (ALSO.contains(&&*metric.id) && grid.is_worth_a_place(&metric.id))
            || (grid.is_benchmark() && metric.feels != Feels::Nothing)
            || metric.is_of_capacity()
    };
    let metrics: Vec<&Metric> = grid.metrics.iter().filter(is_drawn).collect();
    let of_cell = |(group, cell): (&'g Group<'g>, &'g Cell<'g>)| {
        let of_metric =
            |metric: &&'g Metric| Some((group, cell, *metric, grid.comparison(cell.name, &metric.id)?));
        metrics.iter().filter_map(of_metric).collect::<Vec<_>>()
    };
    grid.cells().flat_map(of_cell).collect()
}

/// What is compared with what, in which figure and where.
fn name(grid: &Grid, (group, cell, metric, comparison): &Compared<'_>) -> String {
    let baseline = grid.cell(&comparison.baseline).map_or("its baseline", |cell| &cell.label);
    // A study with one group says it once.
    let place = if grid.groups.len() > 1 { format!(" at {}", group.label) } else { String::new() };
    text::clean(&format!("{} against {baseline}{place}: {}", cell.label, metric.title))
}

fn effect(grid: &Grid, one: &Compared<'_>) -> Effect {
    let (_, cell, _, comparison) = one;
    let ratio = comparison.ratio;
    Effect {
        name: name(grid, one),
        look: cell.look,
        ratio: ratio.estimate,
        ends: ratio.ends(),
        may_be_chance: !comparison.verdict.is_shown(),
    }
}

/// The figure; none where nothing was compared.
pub fn figure(grid: &Grid) -> Option<Chart> {
    let all = compared(grid);
    let mut effects = in_order(all.iter().map(|one| effect(grid, one)).collect());
    let not_drawn = effects.len().saturating_sub(ROWS_MAX);
    effects.truncate(ROWS_MAX);
    if effects.is_empty() {
        return None;
    }
    let of_width = |width: f64, id: &str| draw(first_screen(&effects, width), AXIS, width, (id, TITLE));
    let notes = (0 < not_drawn).then(|| {
        format!(
            "{} that are smaller or less sure are not drawn.",
            counted(not_drawn as u64, "comparison", "comparisons")
        )
    });
    Some(Chart {
        caption: format!("{HOW_TO_READ} Intervals are paired by block."),
        notes: notes.into_iter().collect(),
        panels: vec![Panel {
            heading: String::new(),
            svg: of_width(WHOLE_WIDTH, ID),
            narrow: Some(of_width(PANEL_WIDTH, &format!("{ID}-narrow"))),
        }],
        size: "whole",
        tables: vec![table(grid, &all)],
        ..Chart::new(ID, TITLE)
    })
}

fn table(grid: &Grid, all: &[Compared<'_>]) -> Table {
    Table::of("Ratio to the baseline, of the figures that decide", all)
        .words("Comparison", |one| name(grid, one))
        .figures("Ratio", |(.., comparison)| significant(comparison.ratio.estimate))
        .figures("95 % interval", |(.., comparison)| {
            let ends = comparison.ratio.ends();
            ends.map_or_else(|| kit::Cell::absent("too few blocks"), |ends| bracketed(ends).into())
        })
        .figures("Blocks", |(.., comparison)| comparison.blocks.to_string())
        .words("In words", |(.., comparison)| comparison.verdict.words().to_owned())
        .table()
}
