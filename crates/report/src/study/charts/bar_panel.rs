//! Draws the ratio bars of one group.

use super::super::estimate::times;
use super::super::grid::{Cell, Grid, Group, LOOKS};
use super::super::results::verdict_words;
use assay_kit::axes::{LABEL_SIZE, Plot};
use assay_kit::figure::PANEL_WIDTH;
use assay_kit::number::{significant, tick};
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::svg::{Anchor, Svg, chars_that_fit, text_width};
use assay_kit::text::{self, shorten};
use assay_model::{Comparison, Metric};

const LEFT: f64 = 4.0;
const RIGHT: f64 = PANEL_WIDTH - 10.0;
const BAR_HEIGHT: f64 = 13.0;
/// Label line and bar.
const ROW_HEIGHT: f64 = 42.0;
/// A lane of published marks, or the line that names another baseline.
const LANE_HEIGHT: f64 = 14.0;
/// Published marks that are nearer than this stand in lanes of their own.
const MARK_WIDTH: f64 = 12.0;

/// One row, ready to draw.
struct Row<'g> {
    cell: &'g Cell<'g>,
    comparison: Option<&'g Comparison>,
    /// Right of the label.
    value: String,
    /// Under the bar, where the baseline is not the group's usual one.
    against: Option<String>,
    /// Published marks: position, lane, shape, tooltip.
    published: Vec<(f64, usize, usize, String)>,
}

impl Row<'_> {
    fn height(&self) -> f64 {
        let lanes = self.published.iter().map(|p| p.1 + 1).max().unwrap_or(0);
        ROW_HEIGHT + LANE_HEIGHT * (lanes + usize::from(self.against.is_some())) as f64
    }

    fn is_baseline(&self) -> bool {
        self.cell.variant.is_some_and(|v| v.baseline.is_none())
    }

    fn words(&self) -> String {
        match self.comparison {
            Some(c) => format!("{}: {}, {}", self.cell.label, times(&c.ratio), verdict_words(c.verdict)),
            None => format!("{}: {}", self.cell.label, self.value),
        }
    }
}

/// The panel, its axis from zero to at least `largest`.
pub fn panel(grid: &Grid, group: &Group, metric: &Metric, largest: f64, id: &str) -> String {
    let ticks = ticks_from_zero(largest, 5);
    let scale = Scale::linear((0.0, ticks.last().copied().unwrap_or(1.0)), (LEFT, RIGHT));
    let usual = usual_baseline(group);
    let rows: Vec<Row> =
        group.cells.iter().map(|cell| row(grid, group, cell, metric, usual.as_deref(), &scale)).collect();
    let height: f64 = rows.iter().map(Row::height).sum();
    let mut svg = Svg::new(PANEL_WIDTH, height + 44.0);
    let plot = Plot { left: LEFT, right: RIGHT, top: 0.0, bottom: height + 2.0 };
    for &value in &ticks {
        svg.line((scale.at(value), 2.0), (scale.at(value), plot.bottom), "g");
    }
    svg.line((scale.at(1.0), 2.0), (scale.at(1.0), plot.bottom), "one");
    let to = usual.and_then(|name| grid.cell(&name).map(|c| shorten(&c.label, 24)));
    let title = format!("ratio to {} (1 = the same)", to.as_deref().unwrap_or("the baseline"));
    plot.x_axis(&mut svg, &inside_ticks(&scale, &ticks), &title);
    let mut top = 0.0;
    for row in &rows {
        draw(&mut svg, row, &scale, top);
        top += row.height();
    }
    let place = if group.label.is_empty() { String::new() } else { format!(", {}", group.label) };
    let words: Vec<String> = rows.iter().map(Row::words).collect();
    svg.finish(id, &format!("{}, ratio to the baseline{place}", metric.title), &words.join(". "))
}

/// Tick labels, the outermost moved in so that they stay inside the picture.
pub fn inside_ticks(scale: &Scale, ticks: &[f64]) -> Vec<(f64, String)> {
    let place = |value: f64| {
        let label = tick(value);
        let half = text_width(&label, LABEL_SIZE) / 2.0;
        (scale.at(value).clamp(half, PANEL_WIDTH - half), label)
    };
    ticks.iter().map(|&v| place(v)).collect()
}

/// Shape of a published source's mark. Diamond first: it is not confused with the round marks of the series.
pub fn published_shape(source: usize) -> usize {
    [3, 2, 1, 4, 0, 5, 6, 7][source % LOOKS]
}

/// The baseline of most variants of a group.
fn usual_baseline(group: &Group) -> Option<String> {
    let baselines = || group.cells.iter().filter_map(|c| c.variant?.baseline.as_ref());
    // The first of the most frequent: max_by_key alone would take the last.
    baselines().rev().max_by_key(|b| baselines().filter(|other| other == b).count()).cloned()
}

fn row<'g>(
    grid: &'g Grid,
    group: &'g Group<'g>,
    cell: &'g Cell<'g>,
    metric: &Metric,
    usual: Option<&str>,
    scale: &Scale,
) -> Row<'g> {
    let comparison = grid.comparison(cell.name, &metric.id);
    let baseline = cell.variant.and_then(|v| v.baseline.as_deref());
    let other = baseline.filter(|b| Some(*b) != usual && comparison.is_some());
    let against = other.map(|b| format!("against {}", grid.cell(b).map_or(b, |c| c.label.as_str())));
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
    let mut published: Vec<(f64, usize, usize, String)> = Vec::new();
    for (source, from, ratio) in grid.published(group, cell, &metric.id) {
        let x = scale.at(ratio);
        let taken = |lane: usize| published.iter().any(|p| p.1 == lane && (p.0 - x).abs() < MARK_WIDTH);
        let lane = (0..).find(|lane| !taken(*lane)).unwrap_or(0);
        let tip = format!("published: {} ({})", significant(ratio), text::clean(&from.source));
        published.push((x, lane, published_shape(source), tip));
    }
    Row { cell, comparison, value, against, published }
}

fn draw(svg: &mut Svg, row: &Row, scale: &Scale, top: f64) {
    let look = row.cell.series % LOOKS;
    svg.text((RIGHT + 6.0, top + 15.0), Anchor::End, "val", &row.value);
    let room = RIGHT - LEFT - text_width(&row.value, LABEL_SIZE) - 8.0;
    let label = shorten(&row.cell.label, chars_that_fit(room, LABEL_SIZE));
    svg.text((LEFT, top + 15.0), Anchor::Start, "lab", &label);
    let bar_top = top + 21.0;
    let middle = bar_top + BAR_HEIGHT / 2.0;
    let stands_for_one = row.is_baseline() && row.cell.skipped.is_none();
    let ratio = row.comparison.map(|c| c.ratio.estimate).or(stands_for_one.then_some(1.0));
    if let Some(ratio) = ratio {
        let pale = row.comparison.is_some_and(|c| !c.shown);
        let class = format!("s{look} bar{}", if pale { " pale" } else { "" });
        svg.rect((LEFT, bar_top), (scale.at(ratio) - LEFT, BAR_HEIGHT), &class, &row.words());
    }
    if let Some((low, high)) = row.comparison.and_then(|c| c.ratio.low.zip(c.ratio.high)) {
        svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh halo");
        svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh");
    }
    let mut below = bar_top + BAR_HEIGHT;
    if let Some(against) = &row.against {
        let room = chars_that_fit(RIGHT - LEFT, LABEL_SIZE);
        svg.text((LEFT, below + 12.0), Anchor::Start, "t lab", &shorten(against, room));
        below += LANE_HEIGHT;
    }
    for (x, lane, shape, tip) in &row.published {
        let y = below + LANE_HEIGHT * (*lane as f64 + 0.5) + 1.0;
        svg.marker(*shape, (*x, y), 4.5, "pub", tip);
    }
}
