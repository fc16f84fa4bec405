//! Bars under each other, each with its name over it and its value at the right: parts stacked, to the left of zero where they are
//! negative, or ratios with their intervals.

use crate::axes::{LABEL_SIZE, Plot};
use crate::chart::PANEL_WIDTH;
use crate::letters::{lines, text_width};
use crate::number::tick;
use crate::scale::{Scale, ticks_from_zero};
use crate::svg::{Anchor, Svg};

const LEFT: f64 = 4.0;
/// Free at the right end of a bar.
const RIGHT: f64 = 10.0;
const BAR_HEIGHT: f64 = 13.0;
/// What name and value of a row take over its bar.
const HEADING_HEIGHT: f64 = 18.0;
const AXIS_HEIGHT: f64 = 44.0;
/// Label line and bar.
const ROW_HEIGHT: f64 = 38.0;
/// A further line of a label.
const LINE_HEIGHT: f64 = 15.0;
/// A lane of marks, or the line under a bar.
const LANE_HEIGHT: f64 = 14.0;
/// Marks that are nearer than this stand in lanes of their own.
const MARK_WIDTH: f64 = 12.0;

/// A ratio in a row.
pub struct Ratio {
    /// Over the bar.
    pub label: String,
    /// Right of the label.
    pub value: String,
    /// What a pointer shows.
    pub words: String,
    /// Number of its colour.
    pub look: usize,
    /// Length of the bar, where there is one.
    pub ratio: Option<f64>,
    /// Ends of its interval.
    pub ends: Option<(f64, f64)>,
    /// Whether the bar is drawn pale.
    pub is_pale: bool,
    /// Marks under it.
    pub marks: Vec<Mark>,
}

/// A hollow mark under a bar.
pub struct Mark {
    /// Where it stands on the axis.
    pub at: f64,
    /// Its shape.
    pub shape: usize,
    /// What a pointer shows.
    pub tip: String,
}

impl Ratio {
    /// Position and lane of each mark.
    fn placed(&self, scale: &Scale) -> Vec<(f64, usize)> {
        let mut placed: Vec<(f64, usize)> = Vec::new();
        for mark in &self.marks {
            let x = scale.at(mark.at);
            let taken = |lane: usize| placed.iter().any(|p| p.1 == lane && (p.0 - x).abs() < MARK_WIDTH);
            let lane = (0..).find(|lane| !taken(*lane)).unwrap_or(0);
            placed.push((x, lane));
        }
        placed
    }

    fn height(&self, scale: &Scale) -> f64 {
        let lanes = self.placed(scale).iter().map(|p| p.1 + 1).max().unwrap_or(0);
        ROW_HEIGHT + more_lines(PANEL_WIDTH, &self.label, &self.value) + LANE_HEIGHT * lanes as f64
    }

    fn draw(&self, svg: &mut Svg, scale: &Scale, top: f64) {
        let bar_top = heading(svg, top, PANEL_WIDTH, &self.label, &self.value) + 21.0;
        let middle = bar_top + BAR_HEIGHT / 2.0;
        if let Some(ratio) = self.ratio {
            let class = format!("s{} bar{}", self.look, if self.is_pale { " pale" } else { "" });
            svg.rect((LEFT, bar_top), (scale.at(ratio) - LEFT, BAR_HEIGHT), &class, &self.words);
        }
        if let Some((low, high)) = self.ends {
            svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh halo");
            svg.whisker_horizontal(middle, scale.at(low), scale.at(high), "wh");
        }
        let below = bar_top + BAR_HEIGHT;
        for (mark, (x, lane)) in self.marks.iter().zip(self.placed(scale)) {
            let y = below + LANE_HEIGHT * (lane as f64 + 0.5) + 1.0;
            svg.marker(mark.shape, (x, y), 4.5, "pub", &mark.tip);
        }
    }
}

/// Ratios under each other, their axis from zero to at least `largest`, with a line at 1.
pub fn ratios(rows: &[Ratio], largest: f64, axis_title: &str, (id, title): (&str, &str)) -> String {
    let (scale, ticks) = axis(largest, PANEL_WIDTH);
    let height: f64 = rows.iter().map(|row| row.height(&scale)).sum();
    let mut svg = Svg::new(PANEL_WIDTH, height + AXIS_HEIGHT);
    lower_axis(&mut svg, &scale, &ticks, (PANEL_WIDTH, height), axis_title);
    let mut top = 0.0;
    for row in rows {
        let below = top + row.height(&scale);
        let last_line = top + more_lines(PANEL_WIDTH, &row.label, &row.value);
        grid(&mut svg, &scale, &ticks, (last_line, below));
        svg.line((scale.at(1.0), last_line + HEADING_HEIGHT), (scale.at(1.0), below), "one");
        row.draw(&mut svg, &scale, top);
        top = below;
    }
    let words: Vec<&str> = rows.iter().map(|row| &*row.words).collect();
    svg.finish(id, title, &words.join(". "))
}

/// A bar of parts, or of one.
pub struct Bar {
    /// Over it.
    pub name: String,
    /// Right of the name.
    pub value: String,
    /// The parts in their order: length, class, what a pointer shows.
    pub parts: Vec<(f64, String, String)>,
}

impl Bar {
    /// A bar of one part.
    pub fn whole(name: &str, value: String, length: f64, class: &str) -> Bar {
        let part = (length, class.to_owned(), format!("{name}: {value}"));
        Bar { name: name.to_owned(), value, parts: vec![part] }
    }

    fn sum(&self) -> f64 {
        Some(self.parts.iter().map(|part| part.0).sum()).filter(|sum: &f64| sum.is_finite()).unwrap_or(0.0)
    }
}

/// Bars in the width given, with an axis under them where it has a title, and a line through them at `line`.
pub fn bars(
    rows: &[Bar],
    (axis_title, line): (Option<&str>, Option<f64>),
    width: f64,
    (id, title): (&str, &str),
) -> String {
    let low = rows.iter().map(Bar::sum).fold(0.0, f64::min);
    let high = rows.iter().map(Bar::sum).fold(0.0, f64::max);
    let ends = (low, if high > low { high } else { 1.0 });
    // Where the last line of each label begins.
    let tops: Vec<f64> = rows
        .iter()
        .scan(0.0, |below, row| {
            *below += more_lines(width, &row.name, &row.value) + ROW_HEIGHT;
            Some(*below - ROW_HEIGHT)
        })
        .collect();
    let height = tops.last().copied().unwrap_or(0.0) + ROW_HEIGHT;
    let (mut svg, scale) = match axis_title {
        Some(title) => {
            let (scale, ticks) = axis(high, width);
            let mut svg = Svg::new(width, height + AXIS_HEIGHT);
            for &top in &tops {
                grid(&mut svg, &scale, &ticks, (top, top + ROW_HEIGHT));
            }
            lower_axis(&mut svg, &scale, &ticks, (width, height), title);
            (svg, scale)
        }
        None => (Svg::new(width, height), Scale::linear(ends, (LEFT, width - RIGHT))),
    };
    for (&top, row) in tops.iter().zip(rows) {
        heading(&mut svg, top - more_lines(width, &row.name, &row.value), width, &row.name, &row.value);
        let mut sum = 0.0;
        for (length, class, tip) in row.parts.iter().filter(|part| part.0.is_finite() && part.0 != 0.0) {
            let (from, to) = (scale.at(sum), scale.at(sum + length));
            svg.rect((from.min(to), top + 21.0), ((to - from).abs().max(1.0), BAR_HEIGHT), class, tip);
            sum += length;
        }
    }
    for (at, class) in line.map(|at| (at, "one")).into_iter().chain((low < 0.0).then_some((0.0, "ax"))) {
        for &top in &tops {
            svg.line((scale.at(at), top + HEADING_HEIGHT), (scale.at(at), top + 24.0 + BAR_HEIGHT), class);
        }
    }
    let words: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.name, row.value)).collect();
    svg.finish(id, title, &words.join(". "))
}

fn axis(largest: f64, width: f64) -> (Scale, Vec<f64>) {
    let ticks = ticks_from_zero(largest, 5);
    (Scale::linear((0.0, ticks.last().copied().unwrap_or(1.0)), (LEFT, width - RIGHT)), ticks)
}

/// The grid behind the bar of a row, and not through its name, which stands over the bar.
fn grid(svg: &mut Svg, scale: &Scale, ticks: &[f64], (top, below): (f64, f64)) {
    for &value in ticks {
        svg.line((scale.at(value), top + HEADING_HEIGHT), (scale.at(value), below), "g");
    }
}

/// The axis, its outermost labels moved in so that they stay inside the picture.
fn lower_axis(svg: &mut Svg, scale: &Scale, ticks: &[f64], (width, height): (f64, f64), title: &str) {
    let place = |value: f64| {
        let label = tick(value);
        let half = text_width(&label, LABEL_SIZE) / 2.0;
        (scale.at(value).clamp(half, width - half), label)
    };
    let labels: Vec<(f64, String)> = ticks.iter().map(|&v| place(v)).collect();
    let plot = Plot { left: LEFT, right: width - RIGHT, top: 0.0, bottom: height + 2.0 };
    plot.x_axis(svg, &labels, title);
}

/// The lines of a label; its value stands right of the last.
fn label_lines(width: f64, label: &str, value: &str) -> Vec<String> {
    let room = width - LEFT - RIGHT;
    lines(label, (room, room - text_width(value, LABEL_SIZE) - 8.0), LABEL_SIZE)
}

/// What the lines of a label take beyond the first.
fn more_lines(width: f64, label: &str, value: &str) -> f64 {
    (label_lines(width, label, value).len() - 1) as f64 * LINE_HEIGHT
}

/// Label and value over the bar of a row, whose upper edge is at `top`; where the last line of the label begins.
pub fn heading(svg: &mut Svg, mut top: f64, width: f64, label: &str, value: &str) -> f64 {
    for (number, line) in label_lines(width, label, value).iter().enumerate() {
        top += if number == 0 { 0.0 } else { LINE_HEIGHT };
        svg.text((LEFT, top + 15.0), Anchor::Start, "lab", line);
    }
    svg.text((width - LEFT, top + 15.0), Anchor::End, "val", value);
    top
}
