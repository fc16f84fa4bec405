//! Tools that make every report, and nothing about the subjects of reports: numbers for people, texts from outside made
//! safe, tables, static SVG with axes and bars, the frame of a terminal's lines, and the one page that all reports fill.
//!
//! No type of `assay-model` is known here: reports hand over numbers, texts and sections.

pub mod axes;
pub mod bar_rows;
pub mod byte_rows;
mod cell;
pub mod chart;
pub mod csv_rows;
pub mod curves;
pub mod document;
pub mod flame;
pub mod forest;
pub mod histogram;
pub mod ink;
pub mod joined;
pub mod key;
pub mod lanes;
pub mod letters;
pub mod number;
pub mod openmetrics;
pub mod page;
pub mod percentile_curve;
pub mod quantity;
pub mod sawtooth;
pub mod scale;
pub mod share_curve;
pub mod squarify;
pub mod stack;
pub mod stacks;
pub mod strip;
pub mod svg;
pub mod table;
pub mod terminal;
pub mod text;
pub mod time_axis;
pub mod tree_map;

pub use document::Document;
pub use table::{Cell, Table};
pub use terminal::{Extent, Terminal, TerminalView};
