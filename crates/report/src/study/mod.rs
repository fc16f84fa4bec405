//! A stored run for people: the answer first, then pictures, tables, what was left out and the conditions; the results
//! as CSV for programs.
//!
//! # How it is put together
//! [`grid`] lays the variants out in series and groups; [`answer`] (with [`sentence`]), [`results`] and [`conditions`] turn the run
//! into sentences and tables, which all outputs share; [`charts`] draws pictures; [`page`] fills the page.
//!
//! # How to add a chart
//! 1. Write `charts/NAME.rs` with `pub fn figure(grid: &Grid) -> Figure`: panels made with [`assay_kit::svg::Svg`],
//!    about 400 units wide (the page scales them to its columns), a caption that says what is shown, from where and in
//!    which unit, and a data table. Where there is nothing to draw return a figure whose `absent` says why.
//! 2. Add it to the list in `charts/mod.rs`, at the place where the page shall show it.
//! 3. Take colours from the classes in `web/report.css`; give series their marker (`svg.marker`) besides.
//! 4. Run `web/test/run` and look at the pictures that it leaves: it fails on text that overlaps or leaves the
//!    picture, in light and dark and at phone width.

mod answer;
mod changes;
mod charts;
mod claims;
mod collections;
mod conditions;
mod csv;
mod estimate;
mod faults;
mod grid;
mod inserts;
mod late;
mod markdown;
mod page;
mod ready_made;
mod results;
mod roles;
mod scaling;
mod sentence;
mod terminal;

pub use claims::of_plan as claims_of_plan;
pub use csv::render as render_csv;
pub use inserts::Inserts;
pub use markdown::render as render_markdown;
pub use page::render as render_html;
pub use ready_made::{csv as render_ready_made_csv, markdown as render_ready_made_markdown};
pub use terminal::render as render_terminal;
