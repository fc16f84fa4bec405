//! A stored run to one self-contained HTML file, Markdown, CSV and terminal tables.
//!
//! Every function here is a pure function of the [`StoredRun`]: no clock, no random draw, no file. The same run
//! gives the same bytes.
//!
//! # How it is put together
//! [`grid`] lays the variants out in series and groups; [`answer`], [`results`] and [`conditions`] turn the run
//! into sentences and tables, which all outputs share; [`charts`] draws pictures as static SVG; [`page`] puts
//! them into the template. Styles and the small script are in `web/`.
//!
//! # How to add a chart
//! 1. Write `charts/NAME.rs` with `pub fn figure(grid: &Grid) -> Figure`: panels made with [`svg::Svg`], about
//!    400 units wide (the page scales them to its columns), a caption that says what is shown, from where and in
//!    which unit, and a data table. Where there is nothing to draw return a figure whose `absent` says why.
//! 2. Add it to the list in `charts/mod.rs`, at the place where the page shall show it.
//! 3. Take colours from the classes in `web/report.css`; give series their marker (`svg.marker`) besides.
//! 4. Run `web/test/run` and look at the pictures that it leaves: it fails on text that overlaps or leaves the
//!    picture, in light and dark and at phone width.

mod answer;
mod capacity;
mod charts;
mod claims;
mod conditions;
mod csv;
mod gc;
mod grid;
mod heap;
mod markdown;
mod memory;
mod number;
mod page;
mod results;
mod scale;
mod svg;
mod table;
mod terminal;
mod text;

pub use capacity::{render_capacity_html, render_capacity_terminal};
pub use claims::{check_claims, render_claims_terminal};
pub use gc::{
    OPENMETRICS_CONTENT_TYPE, render_gc_csv, render_gc_diff_terminal, render_gc_html, render_gc_line,
    render_gc_openmetrics, render_gc_screen, render_gc_terminal,
};
pub use heap::{
    heap_layout_text, heap_layouts_page, heap_modes_page, heap_modes_text, heap_prediction_csv,
    heap_prediction_page, heap_prediction_text,
};
pub use memory::{
    LeavesShown, TerminalView, Watch, owners_left_out_sentence, render_advice_terminal, render_change_html,
    render_change_terminal, render_memory_html, render_memory_terminal,
};

use assay_model::StoredRun;
use grid::Grid;
use std::io;

/// Writes the report as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render_html(run: &StoredRun, out: &mut impl io::Write) -> io::Result<()> {
    page::render(&Grid::of(run), out)
}

/// Writes the report as Markdown: everything but the pictures.
///
/// # Errors
/// Those of the writer.
pub fn render_markdown(run: &StoredRun, out: &mut impl io::Write) -> io::Result<()> {
    markdown::render(&Grid::of(run), out)
}

/// Writes the results as tidy CSV: one row for each variant and metric, with the comparison in the same row.
///
/// # Errors
/// Those of the writer.
pub fn render_csv(run: &StoredRun, out: &mut impl io::Write) -> io::Result<()> {
    csv::render(&Grid::of(run), out)
}

/// The results as aligned tables for a terminal `width` columns wide. The caller decides on colour (`NO_COLOR`,
/// a pipe).
pub fn render_terminal(run: &StoredRun, width: u16, color: bool) -> String {
    terminal::render(&Grid::of(run), width, color)
}
