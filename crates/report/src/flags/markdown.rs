//! What releases make of options as Markdown.

use super::words;
use assay_kit::MarkdownDocument;
use assay_model::FlagsReport;

/// The matrix, then the reasons.
pub fn render(report: &FlagsReport) -> String {
    MarkdownDocument {
        lines: vec![words::subject(report)],
        tables: vec![words::matrix(report), words::why(report), words::sources(report)],
        ..MarkdownDocument::new("JVM options by release", [words::headline(report), words::next_step(report)])
    }
    .markdown()
}
