//! GC logs as Markdown: the answer, then the tables of the page.

use super::{diff, diff_page, page_tables, words};
use assay_findings::{next_step, table};
use assay_kit::text::clean;
use assay_kit::{MarkdownDocument, Table};
use assay_model::{GcComparison, GcDurations, GcReport, GcRow, Problem};

/// JVMs that are named under the heading.
const JVMS_SHOWN: usize = 1;

/// What a log says; `name` is what the log is called.
pub fn report(report: &GcReport, name: &str) -> String {
    let found = words::told(report);
    let lengths: [(&str, &str, &[GcRow], Option<&GcDurations>); 7] = [
        ("Pauses by kind", "Kind", &report.pauses_by_phase, Some(&report.pauses)),
        ("Pauses by cause", "Cause", &report.pauses_by_cause, None),
        ("Full collections by cause", "Cause", &report.full_by_cause, None),
        ("Concurrent cycles", "Cycle", &report.cycles_by_phase, None),
        ("Concurrent phases", "Phase", &report.concurrent_by_phase, None),
        ("Threads that waited for memory", "Wait", &report.stalls_by_phase, None),
        ("Safepoints by operation", "Operation", &report.safepoints_by_operation, None),
    ];
    let figures = Table::of("Memory and time", words::figures(report))
        .words("Figure", |(name, _)| (*name).to_owned())
        .words("Value", |(_, value)| value.clone())
        .table();
    let mut tables = vec![table("Findings", &found)];
    let lengths = lengths.iter().filter(|(_, _, rows, _)| !rows.is_empty());
    tables.extend(
        lengths.map(|(title, first, rows, all)| page_tables::lengths(title, first, report, rows, *all)),
    );
    tables.extend([page_tables::mmu(report), figures, page_tables::sources(report)]);
    let mut lines = vec![words::subject(report)];
    lines.extend(report.jvms.iter().take(JVMS_SHOWN).map(|jvm| words::jvm(jvm).join(" · ")));
    let answer = [words::headline(report), next_step(&found, ""), words::not_understood(report)];
    MarkdownDocument {
        lines,
        tables,
        problems: Problem::listed(&report.problems),
        ..MarkdownDocument::new(clean(name), answer)
    }
    .markdown()
}

/// What differs between two logs.
pub fn comparison(comparison: &GcComparison) -> String {
    let differ = "The JVMs or their settings differ: what follows may come from that alone.";
    let differ = if diff::differ(comparison) { differ } else { "" };
    MarkdownDocument {
        lines: vec![
            format!("before: {}", clean(&comparison.before)),
            format!("after: {}", clean(&comparison.after)),
        ],
        tables: vec![diff_page::table(comparison)],
        ..MarkdownDocument::new(
            "What differs between two GC logs",
            [diff_page::headline(comparison), differ.to_owned()],
        )
    }
    .markdown()
}
