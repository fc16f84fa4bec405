//! Two runs side by side as Markdown.

use super::{page, words};
use assay_kit::MarkdownDocument;
use assay_kit::text::clean;
use assay_model::{Problem, RunComparison};

/// How many figures differ, what else does, and every figure.
pub fn render(comparison: &RunComparison) -> String {
    let only = |which: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!("Only {which}: {}.", clean(&names.join(", "))),
    };
    let heading = format!("{}: what differs", clean(&comparison.after.study));
    let answer = [
        words::headline(comparison),
        words::CAUTION.to_owned(),
        only("before", &comparison.only_before),
        only("after", &comparison.only_after),
    ];
    MarkdownDocument {
        lines: vec![
            format!("before: {}", words::run(&comparison.before)),
            format!("after: {}", words::run(&comparison.after)),
        ],
        tables: vec![page::setups(comparison), page::table(comparison)],
        problems: Problem::listed(&comparison.problems),
        ..MarkdownDocument::new(heading, answer)
    }
    .markdown()
}
