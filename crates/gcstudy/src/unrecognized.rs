//! Lines that no rule accounts for, counted by their shape.

use assay_gclog::{At, shortened};
use assay_model::{NotUnderstood, UnrecognizedLines};
use std::collections::HashMap;

/// Shapes that are kept; lines of further ones are counted only.
const SHAPES_MAX: usize = 32;
/// Characters of a quote.
const QUOTE_MAX: usize = 200;
/// Characters of a line that its shape is taken from.
const SHAPE_MAX: usize = 200;

/// What was not understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Unrecognized {
    lines: u64,
    lines_of_pauses: u64,
    /// By shape; the order of finding them is kept beside.
    index_by_shape: HashMap<String, usize>,
    shapes: Vec<UnrecognizedLines>,
}

impl Unrecognized {
    /// Counts a line.
    pub fn add(&mut self, at: At, text: &str) {
        self.lines += 1;
        self.lines_of_pauses += u64::from(looks_like_pause(text));
        let shape = shape_of(text);
        if let Some(index) = self.index_by_shape.get(&shape) {
            self.shapes[*index].lines += 1;
        } else if self.shapes.len() < SHAPES_MAX {
            self.index_by_shape.insert(shape, self.shapes.len());
            let quote = shortened(text, QUOTE_MAX);
            self.shapes.push(UnrecognizedLines { lines: 1, quote, at: (at.source, at.line) });
        }
    }

    /// The stored form, the most frequent first, then in the order of the log.
    pub fn not_understood(&self) -> NotUnderstood {
        let mut shapes = self.shapes.clone();
        shapes.sort_by(|a, b| b.lines.cmp(&a.lines).then(a.at.cmp(&b.at)));
        NotUnderstood { lines: self.lines, lines_of_pauses: self.lines_of_pauses, shapes }
    }
}

/// Whether a line has the words of a pause, in unified logging or before.
fn looks_like_pause(text: &str) -> bool {
    text.contains("Pause") || text.contains("secs]")
}

/// A line with each run of digits made one `0`: times, numbers and sizes do not make it another.
fn shape_of(text: &str) -> String {
    let mut shape = String::with_capacity(text.len().min(SHAPE_MAX));
    let mut is_in_number = false;
    for c in text.chars().take(SHAPE_MAX) {
        let is_digit = c.is_ascii_digit();
        if !is_digit {
            shape.push(c);
        } else if !is_in_number {
            shape.push('0');
        }
        is_in_number = is_digit;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_figures_are_one_shape_and_shapes_are_bounded() {
        let mut unrecognized = Unrecognized::default();
        for line in 1..=1_000 {
            unrecognized.add(At { source: 0, line }, &format!("[{}.{line}s] odd\u{7} thing", line * 7));
        }
        for line in 1..=100 {
            unrecognized.add(At { source: 1, line }, &"x".repeat(line as usize));
        }
        let got = unrecognized.not_understood();
        assert_eq!((got.lines, got.shapes.len(), got.lines_of_pauses), (1_100, SHAPES_MAX, 0));
        for text in ["GC(1) Pause Young 1?2 ms", "[GC 1K->1K(2K), 0?1 secs]", "Concurrent Mark 1?2 ms"] {
            unrecognized.add(At { source: 2, line: 1 }, text);
        }
        assert_eq!(unrecognized.not_understood().lines_of_pauses, 2);
        let first = UnrecognizedLines { lines: 1_000, quote: "[7.1s] odd thing".to_owned(), at: (0, 1) };
        assert_eq!(got.shapes[0], first);
    }
}
