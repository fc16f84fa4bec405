//! The ratio bars of one group.

use super::super::estimate::times;
use super::super::grid::{Cell, Grid, Group};
use assay_kit::bar_rows::{self, Mark, Ratio};
use assay_kit::number::significant;
use assay_kit::text::{self, shorten};
use assay_model::Metric;
use std::collections::BTreeSet;

/// Variants of a group that are compared with the same one, and that one.
pub struct Part<'g> {
    baseline: Option<&'g str>,
    /// In the order of the group.
    pub cells: Vec<&'g Cell<'g>>,
}

/// A group by baselines: ratios to different ones have no axis in common. What is not compared, such as a skipped variant, is
/// in the first part.
pub fn parts<'g>(group: &'g Group<'g>) -> Vec<Part<'g>> {
    let mut baselines: Vec<&str> = group.cells.iter().filter_map(baseline_of).collect();
    let mut seen = BTreeSet::new();
    baselines.retain(|baseline| seen.insert(*baseline));
    let Some(first) = baselines.first().copied() else {
        return vec![Part { baseline: None, cells: group.cells.iter().collect() }];
    };
    let belongs = |cell: &Cell, baseline: &str| match baseline_of(cell) {
        _ if cell.name == baseline => true,
        Some(own) => own == baseline,
        None => baseline == first && !baselines.contains(&cell.name),
    };
    let part = |baseline: &&'g str| Part {
        baseline: Some(*baseline),
        cells: group.cells.iter().filter(|cell| belongs(cell, baseline)).collect(),
    };
    baselines.iter().map(part).collect()
}

fn baseline_of<'g>(cell: &'g Cell<'_>) -> Option<&'g str> {
    cell.variant?.baseline.as_deref()
}

impl Part<'_> {
    /// The baseline's label.
    pub fn against(&self, grid: &Grid) -> Option<String> {
        self.baseline.and_then(|name| grid.cell(name)).map(|cell| shorten(&cell.label, 24))
    }

    /// The panel, its axis from zero to at least `largest`.
    pub fn panel(&self, grid: &Grid, group: &Group, metric: &Metric, largest: f64, id: &str) -> String {
        let rows: Vec<Ratio> = self.cells.iter().map(|cell| self.row(grid, group, cell, metric)).collect();
        let to = self.against(grid);
        let axis_title = format!("ratio to {} (1 = the same)", to.as_deref().unwrap_or("the baseline"));
        let title = format!("{}, ratio to the baseline{}", metric.title, group.place());
        bar_rows::ratios(&rows, largest, &axis_title, (id, &title))
    }

    fn row(&self, grid: &Grid, group: &Group, cell: &Cell, metric: &Metric) -> Ratio {
        let is_baseline = match self.baseline {
            Some(baseline) => cell.name == baseline,
            None => cell.variant.is_some(),
        };
        let comparison = grid.comparison(cell.name, &metric.id).filter(|_| !is_baseline);
        let value = match comparison.map(|c| c.ratio) {
            Some(r) => match (r.low, r.high) {
                (Some(l), Some(h)) => {
                    format!("{} [{}, {}]", significant(r.estimate), significant(l), significant(h))
                }
                _ => format!("{} (no interval)", significant(r.estimate)),
            },
            None if cell.skipped.is_some() => "skipped, see below".to_owned(),
            None if is_baseline => "baseline".to_owned(),
            None => "not available, see table".to_owned(),
        };
        let words = match comparison {
            Some(c) => format!("{}: {}, {}", cell.label, times(&c.ratio), c.verdict.words()),
            None => format!("{}: {value}", cell.label),
        };
        let stands_for_one = is_baseline && cell.skipped.is_none();
        // Published values of the baseline are relative to another one.
        let published = grid.published(group, cell, &metric.id).into_iter().filter(|_| !is_baseline);
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
            marks: marks.collect(),
            value,
        }
    }
}

/// Shape of a published source's mark. Diamond first: it is not confused with the round marks of the series.
pub fn published_shape(source: usize) -> usize {
    [3, 2, 1, 4, 0, 5, 6, 7][source % 8]
}
