//! A load as Markdown: the answer, then the tables of its page.

use super::{tables, words};
use assay_kit::MarkdownDocument;
use assay_kit::text::clean;
use assay_model::{LoadResult, Problem};

/// What was measured; `target` is the address that was loaded.
pub fn render(result: &LoadResult, target: &str) -> String {
    let warning = if result.valid { "" } else { "Not valid: do not use these figures." };
    let answer = [warning.to_owned(), words::answer(result), words::next_step(result).to_owned()];
    MarkdownDocument {
        lines: vec![clean(&words::subject(result))],
        tables: vec![
            tables::times(result),
            tables::operations(result),
            tables::rates(result),
            tables::figures(result),
            tables::injectors(result),
        ],
        problems: Problem::listed(&result.problems),
        ..MarkdownDocument::new(clean(target), answer)
    }
    .markdown()
}
