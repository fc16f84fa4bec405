//! Lanes over sizes on a logarithmic axis: each a bar of adjacent segments, with lines of text above and below.

use crate::axes::LABEL_SIZE;
use crate::letters::text_width;
use crate::number::xmx;
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};

const LINE: f64 = 16.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
/// How far the grid reaches beyond a bar.
const GRID_BEYOND: f64 = 2.0;
const AXIS: f64 = 42.0;
/// A segment shorter than this has no room for its name.
const NAME_FROM: f64 = 60.0;

/// A segment of a bar, in bytes.
pub struct LaneSegment {
    /// Class of its fill, as `f0`.
    pub class: &'static str,
    /// The name in it.
    pub name: &'static str,
    /// What a pointer shows.
    pub tip: String,
    /// Where it begins.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

/// One bar: its lines of text, and its segments.
pub struct Lane {
    /// Lines over it, as wide as the picture.
    pub above: Vec<String>,
    /// Lines under it.
    pub below: Vec<String>,
    /// What is in it.
    pub segments: Vec<LaneSegment>,
}

impl Lane {
    fn height(&self) -> f64 {
        (self.above.len() + self.below.len()) as f64 * LINE + BAR + GAP
    }
}

/// The drawing in the width given, over powers of two from `low` to `high`, with the title of its axis.
pub fn draw(
    lanes: &[Lane],
    (low, high): (u64, u64),
    width: f64,
    (id, title, axis_title): (&str, &str, &str),
) -> String {
    let x = Scale::logarithmic((low as f64, high as f64), (4.0, width - 4.0));
    let bottom: f64 = lanes.iter().map(Lane::height).sum::<f64>() + 4.0;
    let mut svg = Svg::new(width, bottom + AXIS);
    axis(&mut svg, &x, (low, high), bottom, width);
    svg.text((width / 2.0, bottom + 34.0), Anchor::Middle, "at", axis_title);
    let mut top = 4.0;
    for lane in lanes {
        for line in &lane.above {
            svg.text((4.0, top + 12.0), Anchor::Start, "lab head-name", line);
            top += LINE;
        }
        grid(&mut svg, &x, (low, high), top);
        for segment in &lane.segments {
            let (left, right) = (x.at(segment.from as f64), x.at(segment.to as f64));
            let class = format!("{} area", segment.class);
            svg.rect((left, top), ((right - left).max(1.0), BAR), &class, &segment.tip);
            if right - left >= NAME_FROM.max(text_width(segment.name, LABEL_SIZE)) {
                svg.text(((left + right) / 2.0, top + 13.0), Anchor::Middle, "lab", segment.name);
            }
        }
        top += BAR;
        for line in &lane.below {
            svg.text((4.0, top + 13.0), Anchor::Start, "t lab", line);
            top += LINE;
        }
        top += GAP;
    }
    let words: Vec<String> =
        lanes.iter().map(|l| format!("{} {}", l.above.join(" "), l.below.join(" "))).collect();
    svg.finish(id, title, &words.join(". "))
}

fn axis(svg: &mut Svg, x: &Scale, (low, high): (u64, u64), bottom: f64, width: f64) {
    svg.line((4.0, bottom), (width - 4.0, bottom), "ax");
    let octaves = (high.ilog2() - low.ilog2()).max(1);
    let step = (f64::from(octaves) * 44.0 / width).ceil().max(1.0) as usize;
    for power in (low.ilog2()..=high.ilog2()).rev() {
        let at = x.at((1u64 << power) as f64);
        if ((high.ilog2() - power) as usize).is_multiple_of(step) {
            let label = xmx(1 << power);
            let half = text_width(&label, LABEL_SIZE) / 2.0 + 3.0;
            svg.line((at, bottom), (at, bottom + 4.0), "ax");
            svg.text((at.clamp(half, width - half), bottom + 17.0), Anchor::Middle, "t", &label);
        }
    }
}

/// The grid behind a bar, and not through the lines of text above and below it.
fn grid(svg: &mut Svg, x: &Scale, (low, high): (u64, u64), top: f64) {
    for power in low.ilog2()..=high.ilog2() {
        let at = x.at((1u64 << power) as f64);
        svg.line((at, top - GRID_BEYOND), (at, top + BAR + GRID_BEYOND), "g");
    }
}
