//! Resident memory of one process: a snapshot, what changed between two, the limit that the process needs, the JVMs that run, reports
//! of other tools, and the rows of a live picture.

mod advice;
mod area_rows;
mod change;
mod data;
mod entries;
mod facts;
mod growth;
mod live;
mod map;
mod over_time;
mod running;
mod snapshot;
mod tool_report;
mod tree;
mod watch;
mod words;

pub use advice::document as advice;
pub use change::document as change;
pub use data::{
    advice as advice_data, change as change_data, running as running_data, snapshot as data,
    tool_report as tool_report_data,
};
pub use growth::{end_sentence, sentence as growth_sentence};
pub use running::document as running;
pub use snapshot::document;
pub use tool_report::document as tool_report;
pub use watch::{Watch, WatchEntry, WatchOrder, WatchRow};
pub use words::owners_left_out as owners_left_out_sentence;

use assay_kit::tree_map;
use assay_model::{Area, MemoryReport};

const STYLE: &str = include_str!("../../../../web/memory.css");
const SCRIPT: &str = include_str!("../../../../web/memory.js");

/// Rows of a table: a page with more is of no use to anybody; the stored form has all.
const ROWS_MAX: usize = 1_500;

/// RSS against the Java heap, in a sentence without its full stop.
pub fn headline(report: &MemoryReport) -> String {
    words::headline(report, tree::area_bytes(&tree::areas(report), Area::JavaHeap))
}

/// A small tree map of all resident memory, an SVG element, for a page that shows several.
pub(crate) fn small_map(report: &MemoryReport, id: &str, title: &str) -> String {
    let tiles = tree::tiles(&tree::areas(report));
    tree_map::picture(&tree::map(&tiles, report.rss_bytes), tree_map::SMALL, id, title)
}
