//! Sizes under each other as bars of stacked parts, from zero, each with its name, its size and what it is to another.

use crate::axes::LABEL_SIZE;
use crate::number::size;
use crate::svg::{Anchor, Svg, chars_that_fit, text_width};
use crate::text::shorten;

/// Names stand beside bars on a screen and over them on a phone.
const NAMES_BESIDE_FROM: f64 = 600.0;
const NAME_WIDTH: f64 = 215.0;
const VALUE_WIDTH: f64 = 160.0;
/// Right of the size: its share.
const SHARE_WIDTH: f64 = 72.0;
const BAR_HEIGHT: f64 = 16.0;

/// A bar.
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its name in the picture.
    pub title: String,
    /// Its size.
    pub bytes: u64,
    /// What the size is to another; empty for nothing.
    pub share: String,
    /// Its parts in their order: bytes, class, what a pointer shows.
    pub parts: Vec<(u64, String, String)>,
}

impl Row {
    fn value(&self) -> String {
        let share = if self.share.is_empty() { String::new() } else { format!(", {}", self.share) };
        format!("{}{share}", size(self.bytes))
    }
}

/// The drawing in the width given, with a line through all bars at `line` bytes.
pub fn draw(rows: &[Row], line: Option<u64>, width: f64, (id, title): (&str, &str)) -> String {
    let beside = width >= NAMES_BESIDE_FROM;
    let step = if beside { 27.0 } else { 42.0 };
    let (left, right) = if beside { (NAME_WIDTH, width - VALUE_WIDTH) } else { (2.0, width - 2.0) };
    let height = rows.len().max(1) as f64 * step + 4.0;
    let mut svg = Svg::new(width, height);
    let largest = rows.iter().map(|row| row.bytes).max().unwrap_or(0).max(1) as f64;
    let at = |bytes: u64| left + bytes as f64 / largest * (right - left);
    for (index, row) in rows.iter().enumerate() {
        let top = index as f64 * step + 2.0;
        let bar_top = if beside { top + 4.0 } else { top + 20.0 };
        let text_y = if beside { top + 17.0 } else { top + 14.0 };
        let value = row.value();
        let room = if beside { NAME_WIDTH - 8.0 } else { width - text_width(&value, LABEL_SIZE) - 12.0 };
        let name = shorten(&row.title, chars_that_fit(room, LABEL_SIZE * 0.95));
        svg.text((2.0, text_y), Anchor::Start, "lab", &name);
        if beside {
            svg.text((width - SHARE_WIDTH, text_y), Anchor::End, "val", &size(row.bytes));
            svg.text((width - 2.0, text_y), Anchor::End, "val", &row.share);
        } else {
            svg.text((width - 2.0, text_y), Anchor::End, "val", &value);
        }
        let mut from = 0u64;
        for (bytes, class, tip) in &row.parts {
            let to = from.saturating_add(*bytes);
            if *bytes > 0 {
                svg.rect((at(from), bar_top), (at(to) - at(from), BAR_HEIGHT), class, tip);
            }
            from = to;
        }
        if let Some(x) = line.map(at) {
            // Over the whole row, but not through the text that stands over a bar.
            let below = bar_top + BAR_HEIGHT + 4.0;
            svg.line((x, if beside { top - 2.0 } else { bar_top - 3.0 }), (x, below), "one");
        }
    }
    let words: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.name, row.value())).collect();
    svg.finish(id, title, &words.join(". "))
}
