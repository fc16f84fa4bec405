//! What rules say of a machine as Markdown, and what differs between two.

use super::page::difference;
use super::tables;
use super::words::{groups, headline, subject, told};
use assay_findings::{FindingText, next_step, table};
use assay_kit::Document;
use assay_kit::text::to_the_second;
use assay_model::{HostComparison, HostReport, HostVerdict, Problem};

/// What is bad and what is unknown; with `all` also what is good, and what does not apply.
pub fn check(report: &HostReport, all: bool) -> String {
    let bad: Vec<FindingText> = groups(report, HostVerdict::Bad).iter().map(|group| told(group)).collect();
    let mut tables = vec![table("What is bad", &bad), tables::rulings(report, HostVerdict::Unknown)];
    if all {
        tables.push(tables::rulings(report, HostVerdict::Good));
        tables.push(tables::rulings(report, HostVerdict::NotApplicable));
    }
    Document {
        lines: vec![subject(report)],
        tables,
        problems: Problem::listed(&report.problems),
        ..Document::new("Check of a machine", [format!("{}.", headline(report)), next_step(&bad, "")])
    }
    .markdown()
}

/// What differs between two machines, or between one before and after.
pub fn comparison(comparison: &HostComparison) -> String {
    let [before, after] = comparison.taken_at.each_ref().map(|at| to_the_second(at));
    Document {
        lines: vec![format!("{before} → {after}")],
        tables: tables::differences(comparison).into(),
        ..Document::new("What differs between two machines", [difference(comparison)])
    }
    .markdown()
}
