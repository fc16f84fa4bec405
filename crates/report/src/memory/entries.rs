//! Every entry of a snapshot under its area, and what the unknown bytes look like.

use super::tree::{AreaNode, Node};
use super::{ROWS_MAX, words};
use assay_kit::number::{bytes, count, percent};
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::MemoryReport;

/// Less than this part of the RSS, 0.1 %, is folded on a page.
const SMALL_DIVISOR: u64 = 1_000;

/// Every entry under its area.
pub fn table(areas: &[AreaNode], report: &MemoryReport) -> Table {
    let mut rows = Vec::new();
    for area in areas {
        push(&mut rows, &area.node, Some(words::explanation(area.area, report)), &[]);
    }
    let caption = match rows.len().saturating_sub(ROWS_MAX) {
        0 => "Every entry, the biggest area first".to_owned(),
        left => format!("The first {ROWS_MAX} rows. {left} more are in the stored form (--json)"),
    };
    let rss_bytes = report.rss_bytes;
    let share = |node: &Node| node.bytes as f64 / rss_bytes.max(1) as f64;
    let table = Table::of(caption, rows.into_iter().take(ROWS_MAX))
        .words("Area and entry", |row| Cell::Path(row.path.clone()))
        .figures("Resident", |row| bytes(row.node.bytes))
        .figures("Share of RSS", |row| percent(row.node.bytes, rss_bytes))
        .bars(|row| (row.path.len() == 1).then(|| share(row.node)))
        .figures("Number", |row| row.node.count.map_or_else(String::new, count))
        .if_room();
    // Snapshots of earlier versions have none.
    let table = match areas.iter().any(|area| area.node.pages.is_some()) {
        true => table.words("Pages", |row| Cell::looks(pages(row.node), Look::Dim)).if_room(),
        false => table,
    };
    table
        .words("Source", |row| Cell::looks(source(row.node), Look::Dim))
        .if_room()
        .words("What it is", |row| explained(row))
        .below()
        .folded(|row| row.node.bytes < rss_bytes / SMALL_DIVISOR)
        .tree(|row| (row.node.rank, row.node.bytes), bytes)
        .class("entries")
}

fn pages(node: &Node) -> String {
    node.pages.map_or_else(String::new, words::kinds_of_pages)
}

fn source(node: &Node) -> &'static str {
    if node.is_entry() { node.source.title() } else { "total" }
}

/// What a row is; and how much memory that is, where the process maps it several times.
fn explained(row: &Row<'_>) -> String {
    let Node { bytes: resident, memory_bytes: memory, .. } = *row.node;
    let again = words::mapped(resident, memory).map(|times| format!("{} of memory, {times}", bytes(memory)));
    let parts: Vec<String> = row.what.map(str::to_owned).into_iter().chain(again).collect();
    parts.join("; ")
}

/// A node with its place in the tree.
struct Row<'a> {
    path: Vec<String>,
    node: &'a Node,
    what: Option<&'a str>,
}

fn push<'a>(rows: &mut Vec<Row<'a>>, node: &'a Node, what: Option<&'a str>, above: &[String]) {
    let path: Vec<String> = above.iter().chain([&node.name]).cloned().collect();
    rows.push(Row { path: path.clone(), node, what: what.or(node.explanation.as_deref()) });
    for child in &node.children {
        if rows.len() > 2 * ROWS_MAX {
            return;
        }
        push(rows, child, None, &path);
    }
}

/// What the unknown bytes look like; absent where there are none.
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
