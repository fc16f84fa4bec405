//! A run in each form, for tests.

use assay_model::StoredRun;
use assay_report::{Extent, TerminalView, study};

/// The page of a run.
pub fn html(run: &StoredRun) -> String {
    let mut out = Vec::new();
    study::document(run).write_html(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("the page is UTF-8")
}

/// Its Markdown.
pub fn markdown(run: &StoredRun) -> String {
    study::document(run).markdown()
}

/// Its text for a terminal.
pub fn terminal(run: &StoredRun, width: u16, color: bool) -> String {
    study::document(run).terminal(TerminalView { width, color, extent: Extent::All })
}

/// Its rows of raw numbers.
pub fn csv(run: &StoredRun) -> String {
    study::data(run).csv()
}
