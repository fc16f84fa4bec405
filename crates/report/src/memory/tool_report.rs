//! What a report of another tool shows of a process's memory, and what it cannot show.

use super::{ROWS_MAX, STYLE};
use assay_kit::document::{Answer, Block, Document, PageParts, Section};
use assay_kit::number::{bytes, count, counted, percent};
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{MemoryTool, MemoryToolReport, Problem, ReportedEntry, ReportedMemory};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Less than this part of all, 0.1 %, is folded on a page.
const SMALL_DIVISOR: u64 = 1_000;
/// Name of the area whose causes mappings do not show, as the reader spells it.
const NOT_TOLD_APART: &str = "anonymous memory";

type Figure = fn(&ReportedMemory) -> Option<u64>;

const FIGURES: [(&str, Figure); 5] = [
    ("Resident", |memory| memory.resident_bytes),
    ("Committed", |memory| memory.committed_bytes),
    ("PSS", |memory| memory.pss_bytes),
    ("Swapped", |memory| memory.swap_bytes),
    ("Reserved", |memory| memory.reserved_bytes),
];

/// The report.
pub fn document(report: &MemoryToolReport) -> Document {
    let entries = table("Every entry, the biggest first", report, &report.entries);
    let sites = table("Code that allocates, the biggest first", report, &report.call_sites);
    let answer = Answer {
        sentence: sentence(report),
        action: "While the process runs, `assay memory PID` shows what is unknown here.".to_owned(),
        rest: vec![Block::Warnings("Unknown from this file".to_owned(), limits(report))],
        ..Answer::default()
    };
    Document {
        sections: vec![
            Section::new("entries", "Entries", entries.map(Block::from)).of_entries(),
            Section::new("call-sites", "Call sites of malloc", sites.map(Block::from)).called("Call sites"),
        ],
        page: PageParts { style: STYLE, made_by: clean(&report.assay_version), ..PageParts::default() },
        ..Document::new("A report of another tool about memory, by Assay", heading(report), answer)
    }
    .with_problems(Problem::listed(&report.problems))
}

fn heading(report: &MemoryToolReport) -> String {
    let process = report.pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
    format!("Memory{process} by {}", clean(&report.file))
}

/// How much it is, and of what most.
fn sentence(report: &MemoryToolReport) -> String {
    let groups = groups(&report.entries);
    let all = report.total.weight_bytes();
    let largest = groups.first().map_or_else(String::new, |(name, group)| {
        let part = group.memory.weight_bytes();
        format!(" The largest part is {}: {} ({}).", clean(name), bytes(part), percent(part, all))
    });
    let total = match (report.total.resident_bytes, report.total.reserved_bytes) {
        (Some(resident), _) => {
            let mappings = report.entries.iter().filter_map(|entry| entry.count).sum();
            format!("{} resident in {}.", bytes(resident), counted(mappings, "mapping", "mappings"))
        }
        (None, Some(reserved)) => {
            format!("The JVM tracks {} committed of {} reserved.", bytes(all), bytes(reserved))
        }
        (None, None) => format!("The JVM tracks {} committed.", bytes(all)),
    };
    format!("{total}{largest}")
}

/// What such a report does not contain.
fn limits(report: &MemoryToolReport) -> Vec<String> {
    if report.tool == MemoryTool::Nmt {
        return vec![
            "how much of it is resident".to_owned(),
            "all memory that the JVM did not request itself: of native libraries, freed memory that malloc keeps, malloc's overhead, mapped \
             files"
                .to_owned(),
        ];
    }
    let apart = groups(&report.entries).into_iter().find(|(name, _)| name == NOT_TOLD_APART);
    let apart = apart.and_then(|(_, group)| group.memory.resident_bytes);
    let part = apart.map_or_else(String::new, |part| format!(" ({})", bytes(part)));
    vec![format!(
        "the causes of {NOT_TOLD_APART}{part}: the Java heap, metaspace, direct buffers, the collector's tables, and memory of malloc, in use \
         or freed"
    )]
}

/// Entries below their areas or categories, the biggest first.
fn groups(entries: &[ReportedEntry]) -> Vec<(String, Group<'_>)> {
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for entry in entries {
        let name = entry.path.first().map_or("", String::as_str);
        let memory = groups.get(name).map_or(entry.memory, |group| group.memory.and(entry.memory));
        let group = groups.entry(name).or_insert_with(|| Group { memory, entries: Vec::new() });
        group.memory = memory;
        group.entries.push(entry);
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(name, group)| (name.to_owned(), group)).collect();
    groups.sort_by_key(|(_, group)| Reverse(group.memory.weight_bytes()));
    groups
}

struct Group<'a> {
    memory: ReportedMemory,
    entries: Vec<&'a ReportedEntry>,
}

/// A row of the tree.
struct Row {
    path: Vec<String>,
    count: Option<u64>,
    memory: ReportedMemory,
    rank: usize,
}

fn table(caption: &str, report: &MemoryToolReport, entries: &[ReportedEntry]) -> Option<Table> {
    let rows = rows(entries);
    let left = rows.len().saturating_sub(ROWS_MAX);
    let caption = match left {
        0 => caption.to_owned(),
        left => format!("The first {ROWS_MAX} rows. {left} more are in the stored form (--json)"),
    };
    let has_count = rows.iter().any(|row| row.count.is_some());
    let figures = FIGURES.into_iter().filter(|(_, of)| rows.iter().any(|row| of(&row.memory).is_some()));
    let figures: Vec<(&str, Figure)> = figures.collect();
    let all = report.total.weight_bytes();
    let mut table = Table::of(caption, rows.into_iter().take(ROWS_MAX))
        .words("Entry", |row| Cell::Path(row.path.clone()))
        .figures("Share", |row| percent(row.memory.weight_bytes(), all));
    for (at, (name, of)) in figures.into_iter().enumerate() {
        table = table.figures(name, |row| of(&row.memory).map(bytes));
        table = if at == 0 { table } else { table.if_room() };
    }
    if has_count {
        table = table.figures("Number", |row| row.count.map(count)).if_room();
    }
    table
        .folded(|row| row.memory.weight_bytes() < all / SMALL_DIVISOR)
        .tree(|row| (row.rank, row.memory.weight_bytes()), bytes)
        .class("entries")
        .unless_empty()
}

fn rows(entries: &[ReportedEntry]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut rank = 0;
    for (name, group) in groups(entries) {
        let name = clean(&name);
        rows.push(Row { path: vec![name.clone()], count: None, memory: group.memory, rank });
        for entry in group.entries {
            let below = clean(&entry.path.get(1..).unwrap_or_default().join(" / "));
            rows.push(Row {
                path: vec![name.clone(), below],
                count: entry.count,
                memory: entry.memory,
                rank,
            });
            rank += 1;
        }
    }
    rows
}
