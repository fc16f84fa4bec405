//! The pictures. How to add one stands at the top of this crate.

mod axes;
mod bars;
mod by_heap;
mod gc_time;
mod joined;
mod latency;
mod memory;
mod memory_time;

use crate::grid::{Grid, LOOKS};
use crate::svg::marker_path;
use crate::table::Table;
use crate::text;
use std::fmt::Write as _;

/// Width of a panel in user units; the page shows about as many pixels.
pub const PANEL_WIDTH: f64 = 400.0;

/// Width of the small panels that show one variant over time.
pub const SMALL_WIDTH: f64 = 300.0;

/// One drawing of a figure.
pub struct Panel {
    /// Heading over it; empty for none.
    pub heading: String,
    /// The SVG element.
    pub svg: String,
}

/// A figure: drawings that share a caption, and the data behind them.
pub struct Figure {
    /// Unique in the page; the anchor.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it, with unit and source.
    pub caption: String,
    /// Key of marks, as HTML; empty for none.
    pub key: String,
    /// What is marked in it, in words.
    pub notes: Vec<String>,
    /// Drawings.
    pub panels: Vec<Panel>,
    /// Whether the panels are of [`SMALL_WIDTH`].
    pub small: bool,
    /// The figures behind the drawings.
    pub table: Table,
    /// Why there is nothing to draw; the rest is then empty.
    pub absent: Option<String>,
}

impl Figure {
    /// A figure that cannot be drawn, and why.
    fn absent(id: &str, title: &str, why: impl Into<String>) -> Self {
        Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            key: String::new(),
            notes: Vec::new(),
            panels: Vec::new(),
            small: false,
            table: Table::new("", &[], 0),
            absent: Some(why.into()),
        }
    }
}

/// Every figure in the order of the page.
pub fn figures(grid: &Grid) -> Vec<Figure> {
    let mut figures = bars::figures(grid);
    figures.push(by_heap::figure(grid));
    figures.push(latency::figure(grid));
    figures.push(gc_time::figure(grid));
    figures.push(memory::figure(grid));
    figures.push(memory_time::figure(grid));
    figures
}

/// Key of the series: colour, marker and dash by level of the first factor.
fn series_key(grid: &Grid) -> String {
    let mut out = String::from("<ul class=\"key\">");
    for (index, level) in grid.series.iter().enumerate() {
        let look = index % LOOKS;
        let _ = write!(
            out,
            "<li><svg aria-hidden=\"true\" width=\"30\" height=\"12\" viewBox=\"0 0 30 12\">\
             <path class=\"s{look} ln d{look}\" d=\"M1 6H29\"/><path class=\"s{look} mk\" d=\"{}\"/></svg>\
             <bdi>{}</bdi></li>",
            marker_path(look, (15.0, 6.0), 4.0),
            text::html(level)
        );
    }
    out + "</ul>"
}
