//! A strip from zero on to scale, with filled ranges, some of them numbered over it.

use crate::axes::LABEL_SIZE;
use crate::letters::text_width;
use crate::scale::spread;
use crate::svg::{Anchor, Svg};

/// Height of a strip; numbers stand over it, ticks below.
pub const HEIGHT: f64 = 34.0;
const NUMBER_WIDTH: f64 = 22.0;

/// A segment of a strip.
pub struct StripSegment {
    /// Where it begins.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
    /// Class of its fill.
    pub class: &'static str,
    /// What a pointer shows.
    pub tip: String,
    /// The number over it.
    pub number: Option<usize>,
}

/// A strip.
pub struct Strip {
    /// Where it ends.
    pub to: u64,
    /// Its upper edge in the picture.
    pub top: f64,
    /// Width of the picture.
    pub width: f64,
}

impl Strip {
    /// Position of a value; a value beyond the strip is at its end.
    pub fn at(&self, value: u64) -> f64 {
        2.0 + value.min(self.to) as f64 / self.to as f64 * (self.width - 4.0)
    }

    /// The strip with ranges, in the order given, and ticks at multiples of a unit.
    pub fn draw(&self, svg: &mut Svg, segments: &[StripSegment], unit: (u64, &str), ticks: &[u64]) {
        svg.rect((self.at(0), self.top), (self.at(self.to) - self.at(0), HEIGHT), "pad", "");
        let inside = || segments.iter().filter(|s| s.from < self.to && s.from < s.to);
        for segment in inside() {
            let (left, right) = (self.at(segment.from), self.at(segment.to));
            svg.rect((left, self.top), ((right - left).max(2.0), HEIGHT), segment.class, &segment.tip);
        }
        self.numbers(svg, &inside().filter_map(|s| Some((s, s.number?))).collect::<Vec<_>>());
        self.axis(svg, unit, ticks);
    }

    fn numbers(&self, svg: &mut Svg, numbered: &[(&StripSegment, usize)]) {
        let middle = |s: &StripSegment| (self.at(s.from) + self.at(s.to)) / 2.0;
        let wanted: Vec<f64> = numbered.iter().map(|(s, _)| middle(s)).collect();
        let widths = vec![NUMBER_WIDTH; wanted.len()];
        let placed = spread(&wanted, &widths, (0.0, self.width));
        for ((at, x), (_, number)) in wanted.iter().zip(placed).zip(numbered) {
            svg.text((x, self.top - 11.0), Anchor::Middle, "lab", &number.to_string());
            svg.line((x, self.top - 8.0), (*at, self.top), "ax");
        }
    }

    fn axis(&self, svg: &mut Svg, (unit, unit_name): (u64, &str), ticks: &[u64]) {
        let mut free_from = f64::NEG_INFINITY;
        for tick in ticks {
            let x = self.at(tick * unit);
            svg.line((x, self.top + HEIGHT), (x, self.top + HEIGHT + 4.0), "ax");
            let is_end = tick * unit == self.to;
            let label = if is_end { format!("{tick} {unit_name}") } else { tick.to_string() };
            let half = text_width(&label, LABEL_SIZE) / 2.0;
            let middle = x.clamp(half, self.width - half);
            if middle - half > free_from {
                svg.text((middle, self.top + HEIGHT + 17.0), Anchor::Middle, "t", &label);
                free_from = middle + half + 2.0;
            }
        }
    }
}
