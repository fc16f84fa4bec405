//! A chart of several panels, and the widths of panels.

use crate::Table;
use crate::document::{Figure, Shown};
use crate::text::html;
use std::fmt::Write as _;

/// Width of a panel in user units; the page shows about as many pixels.
pub const PANEL_WIDTH: f64 = 370.0;

/// Width of a panel with curves, where there is room for their names beside them.
pub const WIDE_WIDTH: f64 = 540.0;

/// Width of a panel that has a row to itself.
pub const WHOLE_WIDTH: f64 = 1150.0;

/// Room for the names at the right ends of curves.
const NAMES_WIDTH: f64 = 192.0;

/// Width of the small panels that show one variant over time.
pub const SMALL_WIDTH: f64 = 340.0;

/// One drawing of a chart.
pub struct Panel {
    /// Heading over it; empty for none.
    pub heading: String,
    /// The SVG element.
    pub svg: String,
    /// The same for narrow screens, where the page shows it instead.
    pub narrow: Option<String>,
}

/// A chart: drawings that share a caption, and the data behind them.
pub struct Chart {
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
    /// Class of the panels: `whole`, `wide`, `small`, or empty for [`PANEL_WIDTH`].
    pub size: &'static str,
    /// The figures behind the drawings.
    pub tables: Vec<Table>,
    /// Why there is nothing to draw; the rest is then empty.
    pub absent: Option<String>,
}

impl Chart {
    /// A chart without drawings.
    pub fn new(id: &str, title: &str) -> Self {
        Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            key: String::new(),
            notes: Vec::new(),
            panels: Vec::new(),
            size: "",
            tables: Vec::new(),
            absent: None,
        }
    }

    /// A chart that cannot be drawn, and why.
    pub fn absent(id: &str, title: &str, why: impl Into<String>) -> Self {
        Chart { absent: Some(why.into()), ..Chart::new(id, title) }
    }
}

/// Panels of a chart with curves: for screens and paper, and for a phone, where the key alone names the lines.
pub fn curve_panel(heading: String, id: &str, draw: impl Fn(f64, f64, &str) -> String) -> Panel {
    let narrow = draw(PANEL_WIDTH, 0.0, &format!("{id}-narrow"));
    Panel { heading, svg: draw(WIDE_WIDTH, NAMES_WIDTH, id), narrow: Some(narrow) }
}

/// As a block of a document, under its title.
impl From<Chart> for Figure {
    fn from(chart: Chart) -> Self {
        let mut drawings = format!("<div class=\"panels {}\">", chart.size);
        for panel in &chart.panels {
            drawings += "<div class=\"panel\">";
            if !panel.heading.is_empty() {
                let _ = write!(drawings, "<p class=\"panel-name\"><bdi>{}</bdi></p>", html(&panel.heading));
            }
            match &panel.narrow {
                Some(narrow) => {
                    let _ = write!(
                        drawings,
                        "<div class=\"on-wide\">{}</div><div class=\"on-narrow\">{narrow}</div>",
                        panel.svg
                    );
                }
                None => drawings += &panel.svg,
            }
            drawings += "</div>\n";
        }
        Figure {
            key: chart.key,
            caption: chart.caption,
            notes: chart.notes,
            absent: chart.absent,
            ..Figure::new(chart.id, chart.title, drawings + "</div>")
                .titled()
                .behind(chart.tables, Shown::PageOnly)
        }
    }
}
