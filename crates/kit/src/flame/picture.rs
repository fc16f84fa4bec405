//! The first view of a flame graph, drawn.

use super::{Frame, name};
use crate::svg::{Anchor, Svg};

/// Height of a row.
const ROW: f64 = 18.0;
const LABEL: f64 = 11.5;
/// Rows of the first view, which fits on a screen.
const ROWS_DRAWN: usize = 24;
/// Frames that are narrower are merged with the others of their caller.
const WIDTH_MIN: f64 = 1.0;

/// The picture of all that `whole` called; `merged` is what a pointer shows of so many merged frames of this size.
pub fn draw(
    whole: &Frame,
    merged: &dyn Fn(usize, f64) -> String,
    width: f64,
    (id, title): (&str, &str),
) -> String {
    let rows = whole.depth().clamp(1, ROWS_DRAWN);
    let mut svg = Svg::new(width, ROW * rows as f64);
    calls(&mut svg, whole, merged, (0.0, 0), width);
    let biggest = whole.calls.iter().take(20).map(|call| call.tip.as_str());
    svg.finish(id, title, &biggest.collect::<Vec<_>>().join(". "))
}

fn calls(
    svg: &mut Svg,
    caller: &Frame,
    merged: &dyn Fn(usize, f64) -> String,
    (left, row): (f64, usize),
    width: f64,
) {
    if ROWS_DRAWN <= row {
        return;
    }
    let top = ROW * row as f64;
    let all = caller.size();
    let wide = |size: f64| if all <= 0.0 { 0.0 } else { width * (size / all).min(1.0) };
    let drawn = caller.calls.iter().take_while(|call| WIDTH_MIN <= wide(call.size())).count();
    let mut x = left;
    for call in &caller.calls[..drawn] {
        let own = wide(call.size());
        svg.rect((x, top), (own, ROW - 1.0), &call.class, &call.tip);
        if let Some(label) = name::label(call.sign, &call.name, own - 6.0, LABEL) {
            svg.text((x + 3.0, top + ROW - 5.5), Anchor::Start, "frame", &label);
        }
        calls(svg, call, merged, (x, row + 1), own);
        x += own;
    }
    let rest = &caller.calls[drawn..];
    let size = rest.iter().map(Frame::size).sum();
    if WIDTH_MIN <= wide(size) {
        svg.rect((x, top), (wide(size), ROW - 1.0), "merged", &merged(rest.len(), size));
    }
}
