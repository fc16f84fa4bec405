//! CPU time as Markdown: the answer, then the tables of the page.

use super::{change, page, words};
use assay_findings::{next_step, table, told};
use assay_kit::MarkdownDocument;
use assay_kit::text::clean;
use assay_model::{Problem, TimeChange, TimeReport};

/// An account: threads by role, findings, scheduling, where the figures come from.
pub fn report(report: &TimeReport) -> String {
    let found = told(&report.findings, "");
    let answer = [
        format!("{}.", words::headline(report)),
        next_step(&found, ""),
        words::per_request(report).map(|sentence| format!("{sentence}.")).unwrap_or_default(),
        format!("{}.", words::closure(report)),
    ];
    let mut tables = vec![table("Findings", &found), page::groups(report), page::scheduling(report)];
    tables.extend(page::origins(report));
    MarkdownDocument {
        lines: vec![words::subject(report)],
        tables,
        problems: Problem::listed(&report.problems),
        ..MarkdownDocument::new(format!("CPU time of {} ({})", clean(&report.program), report.pid), answer)
    }
    .markdown()
}

/// What changed between two accounts.
pub fn comparison(of: &TimeChange) -> String {
    let mut tables = vec![change::roles(of)];
    tables.extend(of.stacks.iter().map(change::own));
    MarkdownDocument {
        lines: vec![change::subjects(of)],
        tables,
        problems: Problem::listed(&of.problems),
        ..MarkdownDocument::new(
            format!("CPU time of {}: what changed", clean(&of.after.program)),
            [format!("{}.", change::headline(of))],
        )
    }
    .markdown()
}
