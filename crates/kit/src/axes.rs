//! What the charts share: ticks, grid lines, axis titles, labels at the ends of lines.

use crate::letters::text_width;
use crate::number::tick;
use crate::scale::{Scale, spread, ticks_from_zero, ticks_logarithmic};
use crate::svg::{Anchor, Svg, chars_that_fit};
use crate::text::shorten;

/// Size of labels in user units; the styles set the same.
pub const LABEL_SIZE: f64 = 12.5;

/// The rectangle in which marks lie.
#[derive(Clone, Copy)]
pub struct Plot {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub top: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Plot {
    /// Grid lines, tick labels on the left and the axis' title over them.
    pub fn y_axis(&self, svg: &mut Svg, scale: &Scale, ticks: &[f64], title: &str) {
        for &value in ticks {
            let y = scale.at(value);
            svg.line((self.left, y), (self.right, y), "g");
            svg.text((self.left - 5.0, y + 4.0), Anchor::End, "t", &tick(value));
        }
        svg.text((2.0, self.top - 9.0), Anchor::Start, "at", title);
    }

    /// The same from zero to a round value from `highest` on, with about so many grid lines.
    pub fn y_from_zero(&self, svg: &mut Svg, highest: f64, wanted: usize, title: &str) -> Scale {
        let ticks = ticks_from_zero(highest, wanted);
        let end = ticks.last().copied().unwrap_or(1.0);
        let scale = Scale::linear((0.0, end), (self.bottom, self.top));
        self.y_axis(svg, &scale, &ticks, title);
        scale
    }

    /// The same on a logarithmic scale that encloses the values.
    pub fn y_logarithmic(&self, svg: &mut Svg, values: impl Iterator<Item = f64>, title: &str) -> Scale {
        self.y_logarithmic_with_ticks(svg, values, title).0
    }

    /// The same, with the values at which lines of the grid are.
    pub fn y_logarithmic_with_ticks(
        &self,
        svg: &mut Svg,
        values: impl Iterator<Item = f64>,
        title: &str,
    ) -> (Scale, Vec<f64>) {
        let ends = values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (scale, ticks) = logarithmic(ends, (self.bottom, self.top));
        self.y_axis(svg, &scale, &ticks, title);
        (scale, ticks)
    }

    /// The lower line with tick labels at positions, and the axis' title under them.
    pub fn x_axis(&self, svg: &mut Svg, ticks: &[(f64, String)], title: &str) {
        self.x_axis_with(svg, ticks, &[], title);
    }

    /// The same with a second row of labels, such as the time of day.
    pub fn x_axis_with(&self, svg: &mut Svg, ticks: &[(f64, String)], second: &[(f64, String)], title: &str) {
        svg.line((self.left, self.bottom), (self.right, self.bottom), "ax");
        svg.open_group("ticks", "");
        for (x, label) in ticks {
            svg.line((*x, self.bottom), (*x, self.bottom + 4.0), "ax");
            svg.text((*x, self.bottom + 17.0), Anchor::Middle, "t", label);
        }
        for (x, label) in second {
            svg.text((*x, self.bottom + 31.0), Anchor::Middle, "at", label);
        }
        svg.close_group();
        let middle = (self.left + self.right) / 2.0;
        let below = if second.is_empty() { 34.0 } else { 48.0 };
        svg.text((middle, self.bottom + below), Anchor::Middle, "at", title);
    }

    /// Names at the right ends of lines, moved apart, each tied to its end; none if there is no
    /// `width` for them.
    pub fn end_labels(&self, svg: &mut Svg, ends: &[EndLabel], width: f64) {
        if width <= 0.0 {
            return;
        }
        let room = chars_that_fit(width - 26.0, LABEL_SIZE);
        let lines: Vec<Vec<String>> = ends.iter().map(|e| two_lines(&e.label, room)).collect();
        let heights: Vec<f64> = lines.iter().map(|l| l.len() as f64 * 13.0 + 4.0).collect();
        let wanted: Vec<f64> = ends.iter().map(|e| e.at.1).collect();
        let placed = spread(&wanted, &heights, (self.top - 14.0, self.bottom + 8.0));
        for ((end, lines), y) in ends.iter().zip(&lines).zip(placed) {
            let knee = self.right + 16.0;
            let far = if end.at.0 < self.right - 40.0 { " far" } else { "" };
            svg.polyline(&[end.at, (knee, y), (knee + 4.0, y)], &format!("s{} tie{far}", end.look), "");
            for (index, line) in lines.iter().enumerate() {
                let offset = 4.0 + (index as f64 - (lines.len() as f64 - 1.0) / 2.0) * 13.0;
                svg.text((knee + 7.0, y + offset), Anchor::Start, "lab", line);
            }
        }
    }
}

/// A logarithmic scale whose ends are round, with its ticks.
pub fn logarithmic((low, high): (f64, f64), positions: (f64, f64)) -> (Scale, Vec<f64>) {
    let ticks = ticks_logarithmic(low, high);
    let ends = (ticks.first().copied().unwrap_or(1.0), ticks.last().copied().unwrap_or(10.0));
    (Scale::logarithmic(ends, positions), ticks)
}

/// About so many round labels from zero to `end` for a lower axis; none that would reach beyond `edge`.
pub fn labels(x: &Scale, end: f64, wanted: usize, edge: f64) -> Vec<(f64, String)> {
    let fits = |(at, label): &(f64, String)| at + text_width(label, LABEL_SIZE) / 2.0 <= edge;
    let within = ticks_from_zero(end, wanted).into_iter().filter(|t| *t <= end);
    within.map(|t| (x.at(t), tick(t))).filter(fits).collect()
}

/// Name of a line at its right end.
pub struct EndLabel {
    /// The line's last point.
    pub at: (f64, f64),
    /// Its look.
    pub look: usize,
    /// Its name.
    pub label: String,
}

/// A name in one or two lines of at most `room` characters, broken after a space or hyphen where there is one.
fn two_lines(label: &str, room: usize) -> Vec<String> {
    if label.chars().count() <= room {
        return vec![label.to_owned()];
    }
    let breaks = label.char_indices().filter(|(_, c)| matches!(c, ' ' | '-' | '/'));
    let fitting = breaks.map(|(i, c)| i + c.len_utf8()).rfind(|&i| label[..i].chars().count() <= room);
    match fitting {
        Some(at) => vec![label[..at].trim_end().to_owned(), shorten(&label[at..], room)],
        None => vec![shorten(label, room)],
    }
}

#[cfg(test)]
mod tests {
    use super::two_lines;

    #[test]
    fn long_names_break_at_a_hyphen_and_are_cut_in_the_middle_of_the_rest() {
        assert_eq!(two_lines("compressed-unscaled", 14), ["compressed-", "unscaled"]);
        assert_eq!(two_lines("compressed-zero-based", 19), ["compressed-zero-", "based"]);
        assert_eq!(two_lines("abcdefghijklmnopqrstuvwxyz", 9), ["abcd…wxyz"]);
    }
}
