//! The ratio bars of one group.

use super::super::estimate::times;
use super::super::grid::{Cell, Grid, Group};
use super::super::results::verdict_words;
use assay_kit::bar_rows::{self, Mark, Ratio};
use assay_kit::number::significant;
use assay_kit::text::{self, shorten};
use assay_model::Metric;

/// The panel, its axis from zero to at least `largest`.
pub fn panel(grid: &Grid, group: &Group, metric: &Metric, largest: f64, id: &str) -> String {
    let usual = usual_baseline(group);
    let rows: Vec<Ratio> =
        group.cells.iter().map(|cell| row(grid, group, cell, metric, usual.as_deref())).collect();
    let to = usual.and_then(|name| grid.cell(&name).map(|c| shorten(&c.label, 24)));
    let axis_title = format!("ratio to {} (1 = the same)", to.as_deref().unwrap_or("the baseline"));
    let title = format!("{}, ratio to the baseline{}", metric.title, group.place());
    bar_rows::ratios(&rows, largest, &axis_title, (id, &title))
}

/// Shape of a published source's mark. Diamond first: it is not confused with the round marks of the series.
pub fn published_shape(source: usize) -> usize {
    [3, 2, 1, 4, 0, 5, 6, 7][source % 8]
}

/// The baseline of most variants of a group.
fn usual_baseline(group: &Group) -> Option<String> {
    let baselines = || group.cells.iter().filter_map(|c| c.variant?.baseline.as_ref());
    // The first of the most frequent: max_by_key alone would take the last.
    baselines().rev().max_by_key(|b| baselines().filter(|other| other == b).count()).cloned()
}

fn row(grid: &Grid, group: &Group, cell: &Cell, metric: &Metric, usual: Option<&str>) -> Ratio {
    let comparison = grid.comparison(cell.name, &metric.id);
    let baseline = cell.variant.and_then(|v| v.baseline.as_deref());
    let other = baseline.filter(|b| Some(*b) != usual && comparison.is_some());
    let value = match comparison.map(|c| c.ratio) {
        Some(r) => match (r.low, r.high) {
            (Some(l), Some(h)) => {
                format!("{} [{}, {}]", significant(r.estimate), significant(l), significant(h))
            }
            _ => format!("{} (no interval)", significant(r.estimate)),
        },
        None if cell.skipped.is_some() => "skipped, see below".to_owned(),
        None if baseline.is_none() => "baseline".to_owned(),
        None => "not available, see table".to_owned(),
    };
    let words = match comparison {
        Some(c) => format!("{}: {}, {}", cell.label, times(&c.ratio), verdict_words(c.verdict)),
        None => format!("{}: {value}", cell.label),
    };
    let is_baseline = cell.variant.is_some_and(|v| v.baseline.is_none());
    let stands_for_one = is_baseline && cell.skipped.is_none();
    let published = grid.published(group, cell, &metric.id).into_iter();
    let marks = published.map(|(source, from, ratio)| {
        let tip = format!("published: {} ({})", significant(ratio), text::clean(&from.source));
        Mark { at: ratio, shape: published_shape(source), tip }
    });
    Ratio {
        label: cell.label.clone(),
        words,
        look: cell.look,
        ratio: comparison.map(|c| c.ratio.estimate).or(stands_for_one.then_some(1.0)),
        ends: comparison.and_then(|c| c.ratio.low.zip(c.ratio.high)),
        is_pale: comparison.is_some_and(|c| !c.shown),
        below: other.map(|b| format!("against {}", grid.cell(b).map_or(b, |c| c.label.as_str()))),
        marks: marks.collect(),
        value,
    }
}
