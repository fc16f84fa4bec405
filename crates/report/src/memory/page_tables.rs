//! The tables of a snapshot's page.

use super::tree::{AreaNode, Node};
use assay_kit::Table;
use assay_kit::number::{bytes, count, percent};
use assay_kit::text::clean;
use assay_model::MemoryReport;

/// Rows of a table: a page with more is of no use to anybody; the stored form has all.
pub const ROWS_MAX: usize = 1_500;
/// Less than this part of the RSS, 0.1 %, is folded.
const SMALL_DIVISOR: u64 = 1_000;
const THREADS_SHOWN: usize = 120;

/// Every entry under its area.
pub fn entries(areas: &[AreaNode], rss_bytes: u64) -> Table {
    let mut rows = Vec::new();
    for area in areas {
        push(&mut rows, &area.node, Some(area.area.explanation()), "");
    }
    let caption = match rows.len().saturating_sub(ROWS_MAX) {
        0 => "Every entry, the biggest area first".to_owned(),
        left => format!("The first {ROWS_MAX} rows; {left} more are in the stored form (--json)"),
    };
    Table::of(caption, rows.into_iter().take(ROWS_MAX))
        .words("Area and entry", |r| r.name.clone())
        .figures("Resident", |r| bytes(r.node.bytes))
        .figures("Share of RSS", |r| percent(r.node.bytes, rss_bytes))
        .figures("Number", |r| r.node.count.map_or_else(String::new, count))
        .words("Source", |r| if r.node.is_entry() { r.node.source.title() } else { "total" }.to_owned())
        .words("What it is", |r| r.what.unwrap_or_default().to_owned())
        .folded(|r| r.node.bytes < rss_bytes / SMALL_DIVISOR)
        .class("entries")
}

/// A row: a node, named with the branches above it, since a row must be understood alone.
struct Row<'a> {
    name: String,
    node: &'a Node,
    what: Option<&'a str>,
}

fn push<'a>(rows: &mut Vec<Row<'a>>, node: &'a Node, what: Option<&'a str>, above: &str) {
    let name = if above.is_empty() { node.name.clone() } else { format!("{above} › {}", node.name) };
    rows.push(Row { name: name.clone(), node, what: what.or(node.explanation.as_deref()) });
    for child in &node.children {
        if rows.len() > 2 * ROWS_MAX {
            return;
        }
        push(rows, child, None, &name);
    }
}

/// The unknown, described; absent where there is nothing.
pub fn unknown(report: &MemoryReport) -> Option<Table> {
    Table::of("What the unknown bytes look like", &report.unknown)
        .words("Kind", |piece| piece.kind.to_string())
        .figures("Resident", |piece| bytes(piece.resident_bytes))
        .figures("Number", |piece| piece.count.map_or_else(String::new, count))
        .words("Where or which size", |piece| clean(&piece.what))
        .words("Contents", |piece| clean(&piece.contents))
        .table()
        .unless_empty()
}

/// Share by source.
pub fn sources(report: &MemoryReport) -> Table {
    let kind = |is_inference| if is_inference { "inferred" } else { "bookkeeping" };
    Table::of("Resident bytes by source", &report.sources)
        .words("Source", |t| t.source.title().to_owned())
        .figures("Resident", |t| bytes(t.resident_bytes))
        .figures("Share of RSS", |t| percent(t.resident_bytes, report.rss_bytes))
        .words("Kind", |t| kind(t.source.is_inference()).to_owned())
        .table()
}

/// Flags that matter to memory.
pub fn flags(report: &MemoryReport) -> Option<Table> {
    Table::of("Flags of the JVM that matter to memory", &report.jvm.as_ref()?.flags)
        .words("Flag", |(name, _)| clean(name))
        .figures("Value", |(_, value)| clean(value))
        .table()
        .unless_empty()
}

/// Threads and their stacks, with a sentence over them.
pub fn threads(report: &MemoryReport) -> Option<(String, Table)> {
    let optional = |value: Option<u64>| value.map_or("not available".to_owned(), bytes);
    let table = Table::of("Stacks of threads, the biggest first", report.threads.iter().take(THREADS_SHOWN))
        .words("Thread", |t| clean(&t.name))
        .words("Kind", |t| t.kind.to_string())
        .figures("Tid", |t| t.tid.to_string())
        .figures("Resident", |t| bytes(t.stack_resident_bytes))
        .figures("Of it stale, below SP", |t| optional(t.stack_stale_bytes))
        .figures("Reserved", |t| optional(t.stack_bytes))
        .table()
        .unless_empty()?;
    let sum = report.threads.iter().fold(0u64, |sum, t| sum.saturating_add(t.stack_resident_bytes));
    let all = report.outside_rss.threads.map_or_else(String::new, |n| format!(" of {}", count(n)));
    let listed = format!("{}{all} threads are listed; their stacks hold {}.", table.rows.len(), bytes(sum));
    Some((listed, table))
}
