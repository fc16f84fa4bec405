//! GC logs for people: for the terminal and as a page the verdict first, then the tables it rests on, then what was not understood;
//! as CSV and OpenMetrics for programs.

mod csv;
mod diff;
mod digest;
mod length_pictures;
mod live;
mod openmetrics;
mod page;
mod page_tables;
mod terminal;
mod timeline_picture;
mod words;

pub use openmetrics::CONTENT_TYPE as OPENMETRICS_CONTENT_TYPE;

use assay_kit::TerminalView;
use assay_model::{GcComparison, GcReport};
use std::io;

/// What a log says: who wrote it, the verdict, findings with their lines, tables of pauses, what was not understood. `name` is what
/// the log is called. Its lines are at most as wide as the terminal, from 72 columns on.
pub fn render_gc_terminal(report: &GcReport, name: &str, view: TerminalView) -> String {
    terminal::render(report, name, view)
}

/// The figures of a log that tell most, with their names, and its findings: rule, severity, claim, evidence, change.
pub fn digest(report: &GcReport) -> (Vec<(&'static str, String)>, Vec<[String; 5]>) {
    (digest::figures(report), digest::findings(report))
}

/// The screen of a log that is followed: at most `rows` lines.
pub fn render_gc_screen(report: &GcReport, name: &str, rows: u16, view: TerminalView) -> Vec<String> {
    live::screen(report, name, rows, view)
}

/// A line for each look at a log that is followed, for a pipe.
pub fn render_gc_line(report: &GcReport) -> String {
    live::line(report)
}

/// What a log says as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render_gc_html(report: &GcReport, name: &str, out: &mut impl io::Write) -> io::Result<()> {
    page::render(report, name, out)
}

/// What a log says as CSV: a row for each figure, with its unit and, where there is one, its interval.
///
/// # Errors
/// Those of the writer.
pub fn render_gc_csv(report: &GcReport, out: &mut dyn io::Write) -> io::Result<()> {
    csv::render(report, out)
}

/// What a log says by now, as OpenMetrics text.
pub fn render_gc_openmetrics(report: &GcReport) -> String {
    openmetrics::render(report)
}

/// What differs between two logs.
pub fn render_gc_diff_terminal(comparison: &GcComparison, view: TerminalView) -> String {
    diff::render(comparison, view)
}
