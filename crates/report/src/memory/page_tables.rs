//! The tables of a look's page.

use super::tree::{AreaNode, Node};
use assay_kit::Table;
use assay_kit::number::{bytes, count, percent};
use assay_kit::text::clean;
use assay_model::MemoryReport;

/// Rows of a table: a page with more is of no use to anybody; the stored form has all.
pub const ROWS_MAX: usize = 1_500;
const THREADS_SHOWN: usize = 120;

/// Every leaf under its area.
pub fn leaves(areas: &[AreaNode], rss_bytes: u64) -> Table {
    let columns = ["Area and leaf", "Resident", "Share of RSS", "Number", "Established by", "What it is"];
    let mut table = Table::new("Every leaf, the biggest area first", &columns, 1);
    table.class = "leaves";
    table.text_from = 4;
    for area in areas {
        push(&mut table, &area.node, Some(area.area.explanation()), "", rss_bytes);
    }
    let left = table.rows.len().saturating_sub(ROWS_MAX);
    if left > 0 {
        table.rows.truncate(ROWS_MAX);
        table.caption = format!("The first {ROWS_MAX} rows; {left} more are in the stored form (--json)");
    }
    table
}

fn push(table: &mut Table, node: &Node, what: Option<&str>, above: &str, rss_bytes: u64) {
    // Names of the branches above are part of the name: a row must be understood alone.
    let name = if above.is_empty() { node.name.clone() } else { format!("{above} › {}", node.name) };
    let what = what.map(str::to_owned).or_else(|| node.explanation.clone()).unwrap_or_default();
    table.rows.push(vec![
        name.clone(),
        bytes(node.bytes),
        percent(node.bytes, rss_bytes),
        node.count.map_or_else(String::new, count),
        if node.is_leaf() { node.tier.title().to_owned() } else { "Σ".to_owned() },
        what,
    ]);
    for child in &node.children {
        if table.rows.len() > 2 * ROWS_MAX {
            return;
        }
        push(table, child, None, &name, rss_bytes);
    }
}

/// The unknown, described; absent where there is nothing.
pub fn unknown(report: &MemoryReport) -> Option<Table> {
    let columns = ["Kind", "Resident", "Number", "Where or which size", "Contents"];
    let mut table = Table::new("What the unknown bytes look like", &columns, 1);
    table.text_from = 3;
    for piece in &report.unknown {
        table.rows.push(vec![
            clean(&piece.kind),
            bytes(piece.resident_bytes),
            piece.count.map_or_else(String::new, count),
            clean(&piece.what),
            clean(&piece.contents),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Share by tier.
pub fn tiers(report: &MemoryReport) -> Table {
    let columns = ["Established by", "Resident", "Share of RSS", "Kind"];
    let mut table = Table::new("Resident bytes by what established them", &columns, 1);
    table.text_from = 3;
    for tier in &report.tiers {
        let kind = if tier.tier.is_inference() { "inferred" } else { "read from somebody's books" };
        table.rows.push(vec![
            tier.tier.title().to_owned(),
            bytes(tier.resident_bytes),
            percent(tier.resident_bytes, report.rss_bytes),
            kind.to_owned(),
        ]);
    }
    table
}

/// Flags that matter to memory.
pub fn flags(report: &MemoryReport) -> Option<Table> {
    let flags = &report.jvm.as_ref()?.flags;
    let mut table = Table::new("Flags of the JVM that matter to memory", &["Flag", "Value"], 1);
    table.rows = flags.iter().map(|(name, value)| vec![clean(name), clean(value)]).collect();
    (!table.rows.is_empty()).then_some(table)
}

/// Threads and their stacks, with a sentence over them.
pub fn threads(report: &MemoryReport) -> Option<(String, Table)> {
    let columns = ["Thread", "Kind", "Tid", "Resident", "Of it left from deeper calls", "Reserved"];
    let mut table = Table::new("Stacks of threads, the biggest first", &columns, 2);
    for thread in report.threads.iter().take(THREADS_SHOWN) {
        let optional = |value: Option<u64>| value.map_or("not available".to_owned(), bytes);
        table.rows.push(vec![
            clean(&thread.name),
            clean(&thread.kind),
            thread.tid.to_string(),
            bytes(thread.stack_resident_bytes),
            optional(thread.stack_stale_bytes),
            optional(thread.stack_bytes),
        ]);
    }
    let sum = report.threads.iter().fold(0u64, |sum, t| sum.saturating_add(t.stack_resident_bytes));
    let all = report.beside_rss.threads.map_or_else(String::new, |n| format!(" of {}", count(n)));
    let listed = format!("{}{all} threads are listed; their stacks hold {}.", table.rows.len(), bytes(sum));
    (!table.rows.is_empty()).then_some((listed, table))
}
