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
    let columns = [
        first,
        "Collects",
        "Count",
        "Total (ms)",
        "Median (ms)",
        "p90 (ms)",
        "p95 (ms)",
        "p99 (ms)",
        "p99.9 (ms)",
        "Longest (ms)",
        "It ended at",
    ];
    let mut table = Table::new(title, &columns, 2);
    table.class = "lengths";
    table.text_from = 10;
    for row in rows.iter().take(ROWS_MAX) {
        let scope = row.scope.map_or("", words::scope);
        table.rows.push(lengths_row(report, &row.name, scope, &row.durations));
    }
    if let Some(all) = all {
        table.rows.push(lengths_row(report, "all", "", all));
    }
    let left = rows.len().saturating_sub(ROWS_MAX);
    if left > 0 {
        table.caption = format!("{title}: the first {ROWS_MAX}; {left} more are in the stored form (--json)");
    }
    table
}

fn lengths_row(report: &GcReport, name: &str, scope: &str, of: &GcDurations) -> Vec<String> {
    let mut row = vec![clean(name), scope.to_owned(), count(of.count)];
    let total = (of.without_length < of.count).then_some(of.total_ms);
    let figures = [total, of.p50_ms, of.p90_ms, of.p95_ms, of.p99_ms, of.p999_ms, of.max_ms];
    row.extend(figures.map(words::figure));
    row.push(of.max_at.map_or_else(String::new, |at| words::place(report, at)));
    row
}

/// Windows and shares.
pub fn mmu(report: &GcReport) -> Table {
    let columns = ["Any stretch of", "leaves the application at least (%)"];
    let mut table = Table::new("Minimum mutator utilisation", &columns, 1);
    let row =
        |m: &assay_model::GcMmu| vec![words::window(m.window_ms), words::percent(m.utilisation_percent)];
    table.rows = report.mmu.iter().map(row).collect();
    table
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
        let columns = ["Part", "After the last collection", "Largest", "Largest capacity"];
        let mut table = Table::new("Parts of the heap, and metaspace", &columns, 1);
        let bytes = |v: Option<u64>| v.map_or_else(|| "-".to_owned(), size);
        for (space, of) in &report.spaces {
            let name = words::space(*space).to_owned();
            let row = vec![name, bytes(of.last_bytes), bytes(of.max_bytes), bytes(of.capacity_bytes_max)];
            table.rows.push(row);
        }
        out += &table.html();
    }
    out
}

/// Each JVM with its flags and settings.
pub fn jvms(report: &GcReport) -> String {
    if report.jvms.is_empty() {
        return absent("the log does not say which JVM wrote it");
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
            let mut table =
                Table::new(format!("What JVM {number} says at its start besides"), &["Setting", "Value"], 2);
            table.rows =
                jvm.settings.iter().take(ROWS_MAX).map(|(name, v)| vec![clean(name), clean(v)]).collect();
            let _ = write!(out, "<details><summary>Settings</summary>{}</details>", table.html());
        }
    }
    out
}

/// Every file.
pub fn sources(report: &GcReport) -> Table {
    let columns = ["File", "Form", "Size", "Lines", "Not understood", "Messages dropped", "Note"];
    let mut table = Table::new("Files in the order of time", &columns, 2);
    table.text_from = 6;
    for source in report.sources.iter().take(ROWS_MAX) {
        table.rows.push(vec![
            clean(&source.name),
            source.dialect.as_ref().map_or_else(|| "none".to_owned(), |d| clean(d)),
            size(source.bytes),
            count(source.lines),
            count(source.lines_not_understood),
            count(source.messages_dropped),
            if source.is_torn { "its last line breaks off".to_owned() } else { String::new() },
        ]);
    }
    table
}

/// Lines that no rule accounts for.
pub fn strange(report: &GcReport) -> Table {
    let columns = ["Where the first is", "Lines", "The first of them"];
    let mut table = Table::new("Lines that no rule accounts for, by shape", &columns, 1);
    table.text_from = 2;
    table.class = "strange";
    for shape in report.not_understood.shapes.iter().take(ROWS_MAX) {
        table.rows.push(vec![words::place(report, shape.at), count(shape.lines), clean(&shape.quote)]);
    }
    table
}

/// What the log says of itself.
pub fn reconciliations(report: &GcReport) -> Table {
    let columns = ["Figure", "The log says", "Was read", "Rounding", "Where", "Agree"];
    let mut table = Table::new("Figures that the log gives itself", &columns, 1);
    table.text_from = 4;
    for r in report.reconciliations.iter().take(ROWS_MAX) {
        let agree = if words::agrees(r) { "yes" } else { "no" };
        table.rows.push(vec![
            clean(&r.what),
            tick(r.said),
            tick(r.read),
            tick(r.rounding),
            words::place(report, r.at),
            agree.to_owned(),
        ]);
    }
    table
}
