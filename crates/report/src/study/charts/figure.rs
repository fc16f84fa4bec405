//! A figure of a study's page, and what the charts make theirs with: panels, widths, keys.

use super::super::grid::{Grid, LOOKS};
use assay_kit::Table;
use assay_kit::key::{self, line_mark, marks};
use assay_kit::stack::fill_class;
use assay_model::Area;

/// Width of a panel in user units; the page shows about as many pixels.
pub const PANEL_WIDTH: f64 = 370.0;

/// Width of a panel with curves, where there is room for their names beside them.
pub const WIDE_WIDTH: f64 = 540.0;

/// Room for the names at the right ends of curves.
const NAMES_WIDTH: f64 = 192.0;

/// Width of the small panels that show one variant over time.
pub const SMALL_WIDTH: f64 = 340.0;

/// One drawing of a figure.
pub struct Panel {
    /// Heading over it; empty for none.
    pub heading: String,
    /// The SVG element.
    pub svg: String,
    /// The same for narrow screens, where the page shows it instead.
    pub narrow: Option<String>,
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
    /// Class of the panels: `wide`, `small`, or empty for [`PANEL_WIDTH`].
    pub size: &'static str,
    /// The figures behind the drawings.
    pub tables: Vec<Table>,
    /// Why there is nothing to draw; the rest is then empty.
    pub absent: Option<String>,
}

impl Figure {
    /// A figure that cannot be drawn, and why.
    pub fn absent(id: &str, title: &str, why: impl Into<String>) -> Self {
        Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            key: String::new(),
            notes: Vec::new(),
            panels: Vec::new(),
            size: "",
            tables: Vec::new(),
            absent: Some(why.into()),
        }
    }
}

/// Panels of a figure with curves: for screens and paper, and for a phone, where the key alone names the lines.
pub fn curve_panel(heading: String, id: &str, draw: impl Fn(f64, f64, &str) -> String) -> Panel {
    let narrow = draw(PANEL_WIDTH, 0.0, &format!("{id}-narrow"));
    Panel { heading, svg: draw(WIDE_WIDTH, NAMES_WIDTH, id), narrow: Some(narrow) }
}

/// Key of the series: colour, marker and dash by level of the first factor.
pub fn series_key(grid: &Grid) -> String {
    let item = |(index, level): (usize, &String)| (line_mark(index % LOOKS, false), level.clone());
    marks(&grid.series.iter().enumerate().map(item).collect::<Vec<_>>())
}

/// Key of the areas that occur: colour and pattern.
pub fn area_key(occurs: impl Fn(&Area) -> bool) -> String {
    let areas = Area::ALL.into_iter().filter(|area| occurs(area));
    key::fills(areas.map(|area| (fill_class(area.look()), area.title())))
}
