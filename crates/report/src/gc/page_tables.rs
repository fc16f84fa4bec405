//! The tables of a GC log's page.

use super::words;
use assay_kit::Table;
use assay_kit::number::{count, size, tick};
use assay_kit::page::{absent, list};
use assay_kit::text::{clean, html, shorten};
use assay_model::{GcDurations, GcReport, GcRow};
use std::fmt::Write as _;

/// Rows of a table; the stored form has all.
const ROWS_MAX: usize = 400;
const FLAGS_CHARS: usize = 1_900;

/// How many, their sum, percentiles, the longest and where it ended.
pub fn lengths(
    title: &str,
    first: &str,
    report: &GcReport,
    rows: &[GcRow],
    all: Option<&GcDurations>,
) -> Table {
    let left = rows.len().saturating_sub(ROWS_MAX);
    let caption = match left {
        0 => title.to_owned(),
        _ => format!("{title}: the first {ROWS_MAX}; {left} more are in the stored form (--json)"),
    };
    let scope = |row: &GcRow| row.scope.map_or("", words::scope);
    let rows = rows.iter().take(ROWS_MAX).map(|row| (clean(&row.name), scope(row), &row.durations));
    Table::of(caption, rows.chain(all.map(|all| ("all".to_owned(), "", all))))
        .words(first, |r| r.0.clone())
        .words("Collects", |r| r.1.to_owned())
        .figures("Count", |r| count(r.2.count))
        .figures("Total (ms)", |r| words::figure((r.2.without_length < r.2.count).then_some(r.2.total_ms)))
        .figures("Median (ms)", |r| words::figure(r.2.p50_ms))
        .figures("p90 (ms)", |r| words::figure(r.2.p90_ms))
        .figures("p95 (ms)", |r| words::figure(r.2.p95_ms))
        .figures("p99 (ms)", |r| words::figure(r.2.p99_ms))
        .figures("p99.9 (ms)", |r| words::figure(r.2.p999_ms))
        .figures("Longest (ms)", |r| words::figure(r.2.max_ms))
        .words("It ended at", |r| r.2.max_at.map_or_else(String::new, |at| words::place(report, at)))
        .class("lengths")
}

/// Windows and shares.
pub fn mmu(report: &GcReport) -> Table {
    Table::of("Minimum mutator utilisation", &report.mmu)
        .words("Any window of", |m| words::window(m.window_ms))
        .figures("is without pauses to at least (%)", |m| words::percent(m.utilisation_percent))
        .table()
}

/// Single figures as a list, and the parts of the heap.
pub fn figures(report: &GcReport) -> String {
    let rows = words::figures(report);
    let mut out = String::new();
    if rows.is_empty() && report.spaces.is_empty() {
        return absent("the log has no sizes");
    }
    if !rows.is_empty() {
        out += &list(rows.iter().map(|(name, words)| (*name, words.clone())));
    }
    if !report.spaces.is_empty() {
        let bytes = |v: Option<u64>| v.map_or_else(|| "-".to_owned(), size);
        let table = Table::of("Parts of the heap, and metaspace", &report.spaces)
            .words("Part", |(space, _)| words::space(**space).to_owned())
            .figures("After the last collection", |(_, of)| bytes(of.last_bytes))
            .figures("Largest", |(_, of)| bytes(of.max_bytes))
            .figures("Largest capacity", |(_, of)| bytes(of.capacity_bytes_max))
            .table();
        out += &table.html();
    }
    out
}

/// Each JVM with its flags and settings.
pub fn jvms(report: &GcReport) -> String {
    if report.jvms.is_empty() {
        return absent("the log does not name its JVM");
    }
    let mut out = String::new();
    for (number, jvm) in (1_usize..).zip(report.jvms.iter().take(ROWS_MAX)) {
        if report.jvms.len() > 1 {
            let begun = words::place(report, (jvm.source, jvm.line));
            let _ = write!(out, "<h3>{number} of {}, from {}</h3>", report.jvms.len(), html(&begun));
        }
        let mut rows = vec![("JVM", words::jvm(jvm).join(" · "))];
        if let Some(mode) = &jvm.mode {
            rows.push(("shown by", clean(&mode.evidence)));
        }
        if !jvm.flags.is_empty() {
            rows.push(("flags", shorten(&clean(&jvm.flags.join(" ")), FLAGS_CHARS)));
        }
        out += &list(rows);
        if !jvm.settings.is_empty() {
            let caption = format!("What JVM {number} says at its start besides");
            let table = Table::of(caption, jvm.settings.iter().take(ROWS_MAX))
                .words("Setting", |(name, _)| clean(name))
                .words("Value", |(_, value)| clean(value))
                .table();
            let _ = write!(out, "<details><summary>Settings</summary>{}</details>", table.html());
        }
    }
    out
}

/// Every file.
pub fn sources(report: &GcReport) -> Table {
    Table::of("Files in the order of time", report.sources.iter().take(ROWS_MAX))
        .words("File", |s| clean(&s.name))
        .words("Form", |s| s.dialect.as_ref().map_or_else(|| "none".to_owned(), |d| clean(d)))
        .figures("Size", |s| size(s.bytes))
        .figures("Lines", |s| count(s.lines))
        .figures("Not understood", |s| count(s.lines_not_understood))
        .figures("Messages dropped", |s| count(s.messages_dropped))
        .words("Note", |s| if s.is_torn { "its last line breaks off" } else { "" }.to_owned())
        .table()
}

/// Lines that no rule accounts for.
pub fn strange(report: &GcReport) -> Table {
    Table::of("Lines that were not recognized, by shape", report.not_understood.shapes.iter().take(ROWS_MAX))
        .words("Where the first is", |shape| words::place(report, shape.at))
        .figures("Lines", |shape| count(shape.lines))
        .words("The first of them", |shape| clean(&shape.quote))
        .class("strange")
}

/// What the log says of itself.
pub fn reconciliations(report: &GcReport) -> Table {
    Table::of("Figures that the log gives itself", report.reconciliations.iter().take(ROWS_MAX))
        .words("Figure", |r| clean(&r.what))
        .figures("The log says", |r| tick(r.logged))
        .figures("Was read", |r| tick(r.read))
        .figures("Rounding", |r| tick(r.rounding))
        .words("Where", |r| words::place(report, r.at))
        .words("Agree", |r| if words::agrees(r) { "yes" } else { "no" }.to_owned())
        .table()
}
