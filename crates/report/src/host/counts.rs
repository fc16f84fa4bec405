//! Bars of how many there are of each kind.

use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::Figure;
use assay_kit::number::count;
use assay_kit::page::drawings;

/// A bar for each kind: name, how many there are, style. Where all are zero, `none` says why.
pub fn figure(rows: &[(&str, usize, &str)], (id, name): (&str, &str), caption: &str, none: &str) -> Figure {
    let anchor = format!("{id}-figure");
    if rows.iter().all(|(_, number, _)| *number == 0) {
        return Figure::absent(anchor, name, none);
    }
    let bar = |(name, number, class): &(&str, usize, &str)| {
        Bar::whole(name, count(*number as u64), *number as f64, class)
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    let pictures = drawings(id, |width, id| bar_rows::bars(&bars, (None, None), width, (id, name)));
    Figure::new(anchor, name, pictures).caption(caption)
}
