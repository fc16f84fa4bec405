//! A capacity for people: for the terminal the answer first, then why requests were late, then whether to believe it.

mod blame_picture;
mod csv;
mod curve_picture;
mod lines;
mod page;
mod page_tables;
mod terminal;
mod words;

use assay_kit::TerminalView;
use assay_model::CapacityReport;
use std::io;

/// The answer, the table of limits, what made requests late, and the checks that failed. Its lines are at most as wide as the
/// terminal, from 72 columns on.
pub fn render_capacity_terminal(report: &CapacityReport, view: TerminalView) -> String {
    terminal::render(report, view)
}

/// A capacity as one HTML file that opens without a network: response time and throughput over the rate, limits, what made
/// requests late, checks, every window.
///
/// # Errors
/// Those of the writer.
pub fn render_capacity_html(report: &CapacityReport, out: &mut impl io::Write) -> io::Result<()> {
    page::render(report, out)
}
