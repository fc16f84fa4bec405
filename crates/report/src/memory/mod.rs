//! Resident memory of one process for people: a tree for the terminal, a page with a tree map, what changed, what a
//! limit should be, and the rows of a live picture.

mod advice_page;
mod change;
mod csv;
mod facts;
mod markdown;
mod over_time;
mod page;
mod page_tables;
mod terminal;
mod tree;
mod watch;

pub use advice_page::render as render_advice_html;
pub use change::{
    render_advice_terminal, render_html as render_change_html, render_terminal as render_change_terminal,
};
pub use csv::{
    advice as render_advice_csv, change as render_change_csv, running as render_running_csv,
    snapshot as render_memory_csv,
};
pub use facts::owners_left_out as owners_left_out_sentence;
pub use markdown::{
    advice as render_advice_markdown, change as render_change_markdown, running as render_running_markdown,
    snapshot as render_memory_markdown,
};
pub use page::render as render_memory_html;
pub use terminal::render as render_memory_terminal;
pub use watch::{Watch, WatchEntry, WatchOrder, WatchRow};

use assay_kit::tree_map;
use assay_model::MemoryReport;

/// A small tree map of all resident memory, an SVG element, for a page that shows several.
pub fn small_map(report: &MemoryReport, id: &str, title: &str) -> String {
    let tiles = tree::tiles(&tree::areas(report));
    tree_map::picture(&tree::map(&tiles, report.rss_bytes), tree_map::SMALL, id, title)
}
