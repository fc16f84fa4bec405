//! Ratios to the baseline as bars with intervals, a panel for each group; published values as hollow marks.

use super::axes::{LABEL_SIZE, Plot};
use super::{Figure, PANEL_WIDTH, Panel};
use crate::grid::{Cell, Grid, Group, LOOKS};
use crate::number::{significant, tick, times};
use crate::results::verdict_words;
use crate::scale::{Scale, ticks_from_zero};
use crate::svg::{Anchor, Svg, chars_that_fit, marker_path, text_width};
use crate::table::Table;
use crate::text::{self, shorten};
use assay_model::{Better, METRICS, Metric};
use std::fmt::Write as _;

const LEFT: f64 = 4.0;
const RIGHT: f64 = PANEL_WIDTH - 10.0;
const BAR_HEIGHT: f64 = 13.0;
/// Label line and bar.
const ROW_HEIGHT: f64 = 42.0;
/// Lane of published marks below a bar.
const LANE_HEIGHT: f64 = 13.0;

/// One figure for each metric that is compared, the deciding one first.
pub fn figures(grid: &Grid) -> Vec<Figure> {
    let primary = &grid.run.plan.primary_metric;
    let mut metrics: Vec<&Metric> = METRICS.iter().collect();
    metrics.sort_by_key(|m| m.id != primary.as_str());
    let compared = |m: &&Metric| grid.cells().any(|(_, c)| grid.comparison(c.name, m.id).is_some());
    let figures: Vec<Figure> = metrics.into_iter().filter(compared).map(|m| figure(grid, m)).collect();
    if figures.is_empty() {
        let why = "not available: no two variants were compared in the same block";
        return vec![Figure::absent("ratios", "Ratios to the baseline", why)];
    }
    figures
}

fn figure(grid: &Grid, metric: &Metric) -> Figure {
    let ticks = ticks_from_zero(largest(grid, metric), 5);
    let id = format!("ratio-{}", metric.id.replace('_', "-"));
    let better = match metric.better {
        Better::Lower => "less is better",
        Better::Higher => "more is better",
    };
    let panels = grid.groups.iter().enumerate().map(|(index, group)| Panel {
        heading: group.label.clone(),
        svg: panel(grid, group, metric, &ticks, &format!("{id}-{index}")),
    });
    Figure {
        title: format!("{}, ratio to the baseline ({better})", metric.title),
        caption: format!(
            "Bars start at zero; the line at 1 is the baseline. Whiskers are 95 % intervals of the ratio, paired \
             by block; a pale bar means that no difference is shown. Measured: {}.",
            metric.source
        ),
        key: published_key(grid, metric),
        notes: Vec::new(),
        panels: panels.collect(),
        small: false,
        table: table(grid, metric),
        absent: None,
        id,
    }
}

fn largest(grid: &Grid, metric: &Metric) -> f64 {
    let mut largest = 1.0f64;
    for (group, cell) in grid.cells() {
        if let Some(c) = grid.comparison(cell.name, metric.id) {
            largest = largest.max(c.ratio.estimate).max(c.ratio.high.unwrap_or(0.0));
        }
        for (_, _, ratio) in grid.published(group, cell, metric.id) {
            largest = largest.max(ratio);
        }
    }
    largest
}

fn panel(grid: &Grid, group: &Group, metric: &Metric, ticks: &[f64], id: &str) -> String {
    let height_of = |cell: &Cell| {
        ROW_HEIGHT + if grid.published(group, cell, metric.id).is_empty() { 0.0 } else { LANE_HEIGHT }
    };
    let rows_height: f64 = group.cells.iter().map(height_of).sum();
    let mut svg = Svg::new(PANEL_WIDTH, rows_height + 44.0);
    let end = ticks.last().copied().unwrap_or(1.0);
    let scale = Scale::linear((0.0, end), (LEFT, RIGHT));
    let plot = Plot { left: LEFT, right: RIGHT, top: 0.0, bottom: rows_height + 2.0 };
    for &value in ticks {
        svg.line((scale.at(value), 2.0), (scale.at(value), plot.bottom), "g");
    }
    svg.line((scale.at(1.0), 2.0), (scale.at(1.0), plot.bottom), "one");
    let labels = tick_labels(&scale, ticks);
    plot.x_axis(&mut svg, &labels, "ratio to the baseline (1 = the same)");
    let mut top = 0.0;
    let mut words = Vec::new();
    for cell in &group.cells {
        words.push(row(&mut svg, grid, group, cell, metric, &scale, top));
        top += height_of(cell);
    }
    let place = if group.label.is_empty() { String::new() } else { format!(", {}", group.label) };
    svg.finish(id, &format!("{}, ratio to the baseline{place}", metric.title), &words.join(". "))
}

/// Tick labels, the outermost moved in so that they stay inside the picture.
fn tick_labels(scale: &Scale, ticks: &[f64]) -> Vec<(f64, String)> {
    let place = |value: f64| {
        let label = tick(value);
        let half = text_width(&label, LABEL_SIZE) / 2.0;
        (scale.at(value).clamp(half, PANEL_WIDTH - half), label)
    };
    ticks.iter().map(|&v| place(v)).collect()
}

/// Draws a row and returns it in words.
fn row(
    svg: &mut Svg,
    grid: &Grid,
    group: &Group,
    cell: &Cell,
    metric: &Metric,
    scale: &Scale,
    top: f64,
) -> String {
    let look = cell.series % LOOKS;
    let comparison = grid.comparison(cell.name, metric.id);
    let is_baseline = cell.variant.is_some_and(|v| v.baseline.is_none());
    let value = match comparison {
        Some(c) => match (c.ratio.low, c.ratio.high) {
            (Some(l), Some(h)) => {
                format!("{} [{}, {}]", significant(c.ratio.estimate), significant(l), significant(h))
            }
            _ => format!("{} (no interval)", significant(c.ratio.estimate)),
        },
        None if cell.skipped.is_some() => "skipped, see below".to_owned(),
        None if is_baseline => "baseline".to_owned(),
        None => "not available, see table".to_owned(),
    };
    let own_words = match comparison {
        Some(c) => format!("{}: {}, {}", cell.label, times(&c.ratio), verdict_words(c.verdict)),
        None => format!("{}: {value}", cell.label),
    };
    svg.text((RIGHT + 6.0, top + 15.0), Anchor::End, "val", &value);
    let room = RIGHT - LEFT - text_width(&value, LABEL_SIZE) - 8.0;
    let name = label_with_baseline(grid, group, cell);
    svg.text((LEFT, top + 15.0), Anchor::Start, "lab", &shorten(&name, chars_that_fit(room, LABEL_SIZE)));
    let bar_top = top + 21.0;
    let middle = bar_top + BAR_HEIGHT / 2.0;
    let ratio =
        comparison.map(|c| c.ratio.estimate).or((is_baseline && cell.skipped.is_none()).then_some(1.0));
    if let Some(ratio) = ratio {
        let pale = comparison.is_some_and(|c| !c.shown);
        let class = format!("s{look} bar{}", if pale { " pale" } else { "" });
        svg.rect((LEFT, bar_top), (scale.at(ratio) - LEFT, BAR_HEIGHT), &class, &own_words);
    }
    if let Some((low, high)) = comparison.and_then(|c| c.ratio.low.zip(c.ratio.high)) {
        svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh halo");
        svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh");
    }
    for (source, published, ratio) in grid.published(group, cell, metric.id) {
        let tip = format!("published: {} ({})", significant(ratio), text::clean(&published.source));
        let at = (scale.at(ratio), bar_top + BAR_HEIGHT + LANE_HEIGHT / 2.0 + 1.0);
        svg.marker(published_shape(source), at, 4.5, "pub", &tip);
    }
    own_words
}

/// The label, and the baseline's where the group has more than one baseline.
fn label_with_baseline(grid: &Grid, group: &Group, cell: &Cell) -> String {
    let baseline = |c: &Cell| c.variant.and_then(|v| v.baseline.clone());
    let mut baselines: Vec<String> = group.cells.iter().filter_map(baseline).collect();
    baselines.sort_unstable();
    baselines.dedup();
    match baseline(cell) {
        Some(name) if baselines.len() > 1 => {
            let to = grid.cell(&name).map_or(name, |b| b.label.clone());
            format!("{} / {to}", cell.label)
        }
        _ => cell.label.clone(),
    }
}

fn published_shape(source: usize) -> usize {
    // Diamond first: it is not confused with the round marks of the series.
    [3, 2, 1, 4, 0, 5, 6, 7][source % LOOKS]
}

fn published_key(grid: &Grid, metric: &Metric) -> String {
    let mut out = String::new();
    let mut seen = Vec::new();
    for (group, cell) in grid.cells() {
        for (index, published, _) in grid.published(group, cell, metric.id) {
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
    let columns = ["Variant", "Baseline", "Ratio", "Low", "High", "Blocks", "In words"];
    let mut table = Table::new(format!("{}, ratio to the baseline", metric.title), &columns, 9);
    for (_, cell) in grid.cells() {
        let row = match grid.comparison(cell.name, metric.id) {
            Some(c) => {
                let end = |v: Option<f64>| v.map_or_else(|| "no interval".to_owned(), significant);
                let (low, high) = (end(c.ratio.low), end(c.ratio.high));
                let words = verdict_words(c.verdict).to_owned();
                vec![
                    c.baseline.clone(),
                    significant(c.ratio.estimate),
                    low,
                    high,
                    c.blocks.to_string(),
                    words,
                ]
            }
            None if cell.variant.is_some_and(|v| v.baseline.is_none()) => {
                let mut row = vec![String::from("–"); 5];
                row.push("it is the baseline".to_owned());
                row
            }
            None => {
                let mut row = vec![String::from("–"); 5];
                row.push(format!("not available: {}", grid.why_absent(cell, metric)));
                row
            }
        };
        table.rows.push(std::iter::once(cell.name.to_owned()).chain(row).map(|c| text::clean(&c)).collect());
    }
    table
}
