//! Resident memory of one process for people: a tree for the terminal, a page with a tree map, what changed, what a
//! limit should be, and a view that lives.

mod change;
mod facts;
mod over_time;
mod page;
mod page_tables;
mod terminal;
mod tree;
mod watch;

pub use watch::Watch;

use assay_kit::{TerminalView, tree_map};
use assay_model::{Advice, MemoryChange, MemoryReport, OwnersLeftOut};
use std::io;

/// Why a look tells less than it could, and the command that tells the rest.
pub fn owners_left_out_sentence(left_out: &OwnersLeftOut) -> String {
    facts::owners_left_out(left_out)
}

/// The tree of one look: areas, leaves, the line that says that they add up, and what follows from them. Its lines are
/// at most as wide as the terminal, from 72 columns on.
pub fn render_memory_terminal(report: &MemoryReport, view: TerminalView) -> String {
    terminal::render(report, view)
}

/// A small tree map of all resident memory, an SVG element, for a page that shows several.
pub fn small_map(report: &MemoryReport, id: &str, title: &str) -> String {
    let tiles = tree::tiles(&tree::areas(report));
    tree_map::picture(&tree::map(&tiles, report.rss_bytes), tree_map::SMALL, id, title)
}

/// The page of one look, as one HTML file that opens without a network: a tree map to walk through, areas over the
/// `looks` of a record (empty for none), findings, the limit that the process needs, every leaf.
///
/// # Errors
/// Those of the writer.
pub fn render_memory_html(
    report: &MemoryReport,
    looks: &[MemoryReport],
    advice: Option<&Advice>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    page::render(report, looks, advice, out)
}

/// Growth between two looks by cause, the biggest first.
pub fn render_change_terminal(change: &MemoryChange, view: TerminalView) -> String {
    change::render_terminal(change, view)
}

/// The same as one HTML file, with areas over the `looks` between (empty for none).
///
/// # Errors
/// Those of the writer.
pub fn render_change_html(
    change: &MemoryChange,
    looks: &[MemoryReport],
    out: &mut impl io::Write,
) -> io::Result<()> {
    change::render_html(change, looks, out)
}

/// The limit that a process needs, with its arithmetic and the settings that would lower it.
pub fn render_advice_terminal(advice: &Advice, view: TerminalView) -> String {
    change::render_advice_terminal(advice, view)
}
