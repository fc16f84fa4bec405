//! Horizontal bars under each other, each with its name over it and its value at the right; to both sides of a line
//! where values may be negative.

use crate::axes::LABEL_SIZE;
use crate::svg::{Anchor, Svg, chars_that_fit, text_width};
use crate::text::shorten;

const ROW: f64 = 38.0;

/// A bar.
pub struct Bar {
    /// Name over it.
    pub name: String,
    /// Its length, to the left where it is negative.
    pub value: f64,
    /// The value in words.
    pub text: String,
    /// Class of its fill.
    pub class: String,
}

/// The drawing, in the width given.
pub fn draw(bars: &[Bar], width: f64, id: &str, title: &str) -> String {
    let mut svg = Svg::new(width, bars.len().max(1) as f64 * ROW);
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let low = bars.iter().map(|b| finite(b.value)).fold(0.0, f64::min);
    let high = bars.iter().map(|b| finite(b.value)).fold(0.0, f64::max);
    let span = if high - low > 0.0 { high - low } else { 1.0 };
    let at = |value: f64| 2.0 + (finite(value) - low) / span * (width - 4.0);
    for (index, bar) in bars.iter().enumerate() {
        let top = index as f64 * ROW;
        let room = width - text_width(&bar.text, LABEL_SIZE) - 14.0;
        let name = shorten(&bar.name, chars_that_fit(room, LABEL_SIZE));
        svg.text((2.0, top + 14.0), Anchor::Start, "lab", &name);
        svg.text((width - 2.0, top + 14.0), Anchor::End, "val", &bar.text);
        let (from, to) = (at(bar.value.min(0.0)), at(bar.value.max(0.0)));
        let tip = format!("{}: {}", bar.name, bar.text);
        svg.rect((from, top + 20.0), ((to - from).max(1.0), 12.0), &bar.class, &tip);
    }
    if low < 0.0 {
        svg.line((at(0.0), 0.0), (at(0.0), bars.len() as f64 * ROW), "ax");
    }
    let words: Vec<String> = bars.iter().take(12).map(|b| format!("{}: {}", b.name, b.text)).collect();
    svg.finish(id, title, &words.join(". "))
}
