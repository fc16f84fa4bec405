//! Ratios to the baseline as bars with intervals, a panel for each group; published values as hollow marks.

use super::super::grid::{Cell, Grid, Group};
use super::bar_panel::{Part, parts, published_shape};
use assay_kit::Table;
use assay_kit::chart::{Chart, Panel};
use assay_kit::number::significant;
use assay_kit::svg::marker_path;
use assay_kit::text;
use assay_model::{Better, Comparison, Metric};
use std::fmt::Write as _;

/// All panels share a scale, unless one of them would need more than this many times the room of another.
const SHARED_SCALE: f64 = 3.0;

/// The figures of the metrics that are compared, to be taken out one after the other.
pub struct Ratios<'g> {
    grid: &'g Grid<'g>,
    left: Vec<&'g Metric>,
}

impl<'g> Ratios<'g> {
    /// All metrics of which any comparison exists.
    pub fn of(grid: &'g Grid<'g>) -> Self {
        let compared = |m: &&Metric| grid.cells().any(|(_, c)| grid.comparison(c.name, &m.id).is_some());
        Ratios { grid, left: grid.metrics.iter().filter(compared).collect() }
    }

    /// The figures of these metrics, of those that were not taken yet, in this order; a single figure where the
    /// study has one group only, since each would have a single panel.
    pub fn take(&mut self, ids: &[&str]) -> Vec<Chart> {
        let mut metrics = Vec::new();
        for id in ids {
            if let Some(index) = self.left.iter().position(|m| m.id == *id) {
                metrics.push(self.left.remove(index));
            }
        }
        if self.grid.groups.len() == 1 && metrics.len() > 1 {
            return vec![metrics_side_by_side(self.grid, &metrics)];
        }
        metrics.into_iter().map(|m| figure(self.grid, m)).collect()
    }
}

const HOW_TO_READ: &str = "Bars start at zero. The line at 1 is the baseline. Whiskers are 95 % intervals of \
    the ratio, paired by block. A pale bar means that no difference is shown.";

fn direction(metric: &Metric) -> &'static str {
    match metric.better {
        Better::Lower => "less is better",
        Better::Higher => "more is better",
    }
}

/// An anchor; of a benchmark by its number, since its name may have any character.
fn id_of(grid: &Grid, metric: &Metric) -> String {
    match metric.id.split_once('/') {
        None => format!("ratio-{}", metric.id.replace('_', "-")),
        Some((kind, _)) => {
            let number = grid.metrics.iter().position(|m| m.id == metric.id).unwrap_or_default();
            format!("ratio-{}-{number}", kind.replace('_', "-"))
        }
    }
}

/// A panel: variants of a group with one baseline.
type Place<'g> = (&'g Group<'g>, Part<'g>);

/// All panels of a study; a heading where their group does not say which is which.
fn places<'g>(grid: &'g Grid<'g>) -> Vec<(Place<'g>, Option<String>)> {
    let of_group = |group: &'g Group<'g>| {
        let parts = parts(group);
        let are_several = parts.len() > 1;
        parts.into_iter().map(move |part| {
            let against = part.against(grid).filter(|_| are_several).map(|name| format!("against {name}"));
            ((group, part), against)
        })
    };
    grid.groups.iter().flat_map(of_group).collect()
}

/// One figure for a metric, a panel for each group, and for each baseline in it.
fn figure(grid: &Grid, metric: &Metric) -> Chart {
    let places = places(grid);
    let longest: Vec<f64> = places.iter().map(|(place, _)| largest(grid, place, metric)).collect();
    let widest = longest.iter().copied().fold(1.0, f64::max);
    let shared = longest.iter().all(|l| widest <= SHARED_SCALE * l);
    let id = id_of(grid, metric);
    let panels =
        places.iter().zip(&longest).enumerate().map(|(index, (((group, part), against), longest))| {
            let words = [Some(group.label.clone()).filter(|label| !label.is_empty()), against.clone()];
            let end = if shared { widest } else { *longest };
            Panel {
                heading: words.into_iter().flatten().collect::<Vec<String>>().join(", "),
                svg: part.panel(grid, group, metric, end, &format!("{id}-{index}")),
                narrow: None,
            }
        });
    let scales = if shared { "" } else { " Each panel has its own scale." };
    Chart {
        caption: format!("{HOW_TO_READ}{scales} Measured: {}.", metric.source),
        key: published_key(grid, &[metric]),
        panels: panels.collect(),
        tables: vec![table(grid, metric)],
        ..Chart::new(&id, &format!("{}, ratio to the baseline ({})", metric.title, direction(metric)))
    }
}

/// One figure for several metrics of a single group, a panel for each.
fn metrics_side_by_side(grid: &Grid, metrics: &[&Metric]) -> Chart {
    let places = places(grid);
    let panels = metrics.iter().flat_map(|metric| {
        places.iter().enumerate().map(move |(index, (place, against))| {
            let id = format!("{}-{index}", id_of(grid, metric));
            let svg = place.1.panel(grid, place.0, metric, largest(grid, place, metric), &id);
            let against = against.as_ref().map_or_else(String::new, |against| format!(", {against}"));
            let heading = format!("{}{against} ({})", metric.title, direction(metric));
            Panel { heading, svg, narrow: None }
        })
    });
    let titles: Vec<&str> = metrics.iter().map(|m| &*m.title).collect();
    let place = grid.groups.first().map_or("", |g| g.label.as_str());
    let id = metrics.first().map_or_else(|| "ratios".to_owned(), |m| id_of(grid, m));
    Chart {
        caption: format!(
            "{place}{} {HOW_TO_READ} Each panel has its own scale.",
            if place.is_empty() { "" } else { "." }
        ),
        key: published_key(grid, metrics),
        notes: metrics.iter().map(|m| format!("{}: {}.", m.title, m.source)).collect(),
        panels: panels.collect(),
        tables: metrics.iter().map(|m| table(grid, m)).collect(),
        ..Chart::new(&id, &format!("{}: ratio to the baseline", titles.join("; ")))
    }
}

fn largest(grid: &Grid, (group, part): &Place<'_>, metric: &Metric) -> f64 {
    let mut largest = 1.0f64;
    for cell in &part.cells {
        if let Some(c) = grid.comparison(cell.name, &metric.id) {
            let ends = [c.ratio.estimate, c.ratio.high.unwrap_or(0.0)];
            largest = ends.into_iter().filter(|v| v.is_finite()).fold(largest, f64::max);
        }
        for (_, _, ratio) in grid.published(group, cell, &metric.id) {
            largest = largest.max(ratio);
        }
    }
    largest
}

fn published_key(grid: &Grid, metrics: &[&Metric]) -> String {
    let mut out = String::new();
    let mut seen = Vec::new();
    let places =
        metrics.iter().flat_map(|metric| grid.cells().map(move |(group, cell)| (metric, group, cell)));
    for (metric, group, cell) in places {
        for (index, published, _) in grid.published(group, cell, &metric.id) {
            if seen.contains(&index) {
                continue;
            }
            seen.push(index);
            let _ = write!(
                out,
                "<li><svg aria-hidden=\"true\" width=\"14\" height=\"14\" viewBox=\"0 0 14 14\">\
                 <path class=\"pub\" d=\"{}\"/></svg>published: <bdi>{}</bdi></li>",
                marker_path(published_shape(index), (7.0, 7.0), 4.5),
                text::html(&published.source)
            );
        }
    }
    if out.is_empty() { out } else { format!("<ul class=\"key\">{out}</ul>") }
}

fn table(grid: &Grid, metric: &Metric) -> Table {
    let compared = |cell: &Cell| grid.comparison(cell.name, &metric.id);
    let told = |cell: &Cell, of: &dyn Fn(&Comparison) -> String| {
        compared(cell).map_or_else(|| "–".to_owned(), |c| text::clean(&of(c)))
    };
    let end = |value: Option<f64>| value.map_or_else(|| "no interval".to_owned(), significant);
    let in_words = |cell: &Cell| match compared(cell) {
        Some(c) => c.verdict.words().to_owned(),
        None if cell.variant.is_some_and(|v| v.baseline.is_none()) => "it is the baseline".to_owned(),
        None => text::clean(&format!("not available: {}", grid.why_absent(cell, metric))),
    };
    let cells = grid.cells().map(|(_, cell)| cell);
    Table::of(format!("{}, ratio to the baseline", metric.title), cells)
        .words("Variant", |cell| text::clean(cell.name))
        .words("Baseline", |cell| told(cell, &|c| c.baseline.clone()))
        .words("Ratio", |cell| told(cell, &|c| significant(c.ratio.estimate)))
        .words("Low", |cell| told(cell, &|c| end(c.ratio.low)))
        .words("High", |cell| told(cell, &|c| end(c.ratio.high)))
        .words("Blocks", |cell| told(cell, &|c| c.blocks.to_string()))
        .words("In words", |cell| in_words(cell))
        .table()
}
