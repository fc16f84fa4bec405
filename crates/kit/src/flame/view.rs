//! A graph as HTML: both drawings, and the stacks for the script.

use super::{Frame, Weight, data, picture};
use crate::page::drawings;

/// The graph below `frame`. `merged` says what so many frames stand for that are too narrow to draw, and take so much together.
pub(super) fn view(
    frame: &Frame,
    unit: Weight,
    merged: &dyn Fn(usize, f64) -> String,
    (id, title): (&str, &str),
) -> String {
    let drawn = drawings(id, |width, id| picture::draw(frame, merged, width, (id, title)));
    format!(
        "<div class=\"flames\" id=\"{id}-view\">{drawn}<template>{}</template></div>",
        data::data(frame, unit)
    )
}
