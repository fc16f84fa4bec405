//! Resident memory as Markdown: the answer, then the tables of the page.

use super::change::{causes, explained, largest_growth, sentence};
use super::{facts, page_tables, tree};
use assay_findings::{next_step, table, told};
use assay_kit::number::bytes;
use assay_kit::text::clean;
use assay_kit::{MarkdownDocument, Table};
use assay_model::{Advice, Area, MemoryChange, MemoryReport, Problem, RunningJvms};

/// What changed between two snapshots, by cause.
pub fn change(change: &MemoryChange) -> String {
    let of = change.pid.map_or_else(String::new, |pid| format!(" of {pid}"));
    let answer =
        [format!("{}.", sentence(change)), format!("{}.", explained(change)), largest_growth(change)];
    MarkdownDocument {
        tables: vec![causes(change)],
        problems: Problem::listed(&change.problems),
        ..MarkdownDocument::new(format!("What changed in the memory{of}"), answer)
    }
    .markdown()
}

/// A snapshot: every entry under its area, findings, where the figures come from.
pub fn snapshot(report: &MemoryReport) -> String {
    let areas = tree::areas(report);
    let found = told(&report.findings, "gives back");
    let answer = [
        format!("{}.", facts::headline(report, tree::area_bytes(&areas, Area::JavaHeap))),
        next_step(&found, ""),
        report.owners_left_out.as_ref().map(facts::owners_left_out).unwrap_or_default(),
        format!("{}.", facts::closure(report, tree::sum_of_entries(report))),
    ];
    let mut tables = vec![page_tables::entries(&areas, report.rss_bytes), table("Potential savings", &found)];
    tables.extend(page_tables::unknown(report));
    tables.push(page_tables::sources(report));
    MarkdownDocument {
        lines: vec![facts::subject(report)],
        tables,
        problems: Problem::listed(&report.problems),
        ..MarkdownDocument::new(format!("Memory of {} ({})", clean(&report.program), report.pid), answer)
    }
    .markdown()
}

/// The limit that a process needs, with its arithmetic and the settings that would lower it.
pub fn advice(advice: &Advice) -> String {
    let settings = told(&advice.settings, "lowers it by");
    let heading = format!("Memory limit of {} ({})", clean(&advice.program), advice.pid);
    MarkdownDocument {
        tables: vec![facts::advice(advice), table("Settings that would lower it", &settings)],
        problems: Problem::listed(&advice.problems),
        ..MarkdownDocument::new(heading, [facts::advice_sentence(advice), next_step(&settings, "")])
    }
    .markdown()
}

/// The JVMs that run, the biggest first; `not_readable` says which processes could not be read, and why.
pub fn running(found: &RunningJvms, not_readable: Option<&str>) -> String {
    let dash = || "-".to_owned();
    let table: Table = Table::of("JVMs, the largest first", &found.jvms)
        .words("Pid", |jvm| jvm.pid.to_string())
        .figures("RSS", |jvm| jvm.rss_bytes.map_or_else(dash, bytes))
        .words("JVM", |jvm| jvm.version.as_deref().map_or_else(dash, clean))
        .words("Program", |jvm| clean(&jvm.program))
        .table();
    let number = match found.jvms.len() {
        0 => "No JVM runs here that can be seen.".to_owned(),
        1 => "1 JVM runs here.".to_owned(),
        more => format!("{more} JVMs run here."),
    };
    let answer = [number, not_readable.map(clean).unwrap_or_default()];
    MarkdownDocument { tables: vec![table], ..MarkdownDocument::new("Running JVMs", answer) }.markdown()
}
