//! A run as a page and as Markdown, for tests.

use assay_model::StoredRun;
use assay_report::{render_html, render_markdown};

/// The page of a run.
pub fn html(run: &StoredRun) -> String {
    let mut out = Vec::new();
    render_html(run, &mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("the page is UTF-8")
}

/// Its Markdown.
pub fn markdown(run: &StoredRun) -> String {
    let mut out = Vec::new();
    render_markdown(run, &mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("Markdown is UTF-8")
}
