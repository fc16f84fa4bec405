//! A stored run: the answer first, then charts, tables, what was left out and the conditions.
//!
//! # How it is put together
//! [`grid`] lays the variants out in series and groups; [`answer`] (with [`sentence`]), [`results`] and [`conditions`] turn the run
//! into sentences and tables; [`charts`] draws pictures; [`document()`] puts them together.
//!
//! # How to add a chart
//! 1. Write `charts/NAME.rs` with `pub fn figure(grid: &Grid) -> Chart`: panels made with [`assay_kit::svg::Svg`],
//!    about 400 units wide (the page scales them to its columns), a caption that says what is shown, from where and in
//!    which unit, and a data table. Where there is nothing to draw return a chart whose `absent` says why.
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
mod data;
mod decisions;
mod document;
mod duet;
mod estimate;
mod faults;
mod grid;
mod hosts;
mod late;
mod operations;
mod ready_made;
mod results;
mod roles;
mod scaling;
mod sentence;
mod users;

pub use claims::of_plan as claims_of_plan;
pub use data::data;
pub use document::document;
pub use ready_made::{data as ready_made_data, document as ready_made};
