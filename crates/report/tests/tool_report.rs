//! What a report of another tool shows: golden files, and figures that it lacks.

use crate::golden;
use assay_model::*;
use assay_report::*;

const MIB: u64 = 1 << 20;

fn report(tool: MemoryTool, entries: Vec<ReportedEntry>) -> MemoryToolReport {
    let total = entries.iter().map(|entry| entry.memory).reduce(ReportedMemory::and).unwrap_or_default();
    MemoryToolReport {
        schema: schema::MEMORY_TOOL_REPORT.to_owned(),
        assay_version: "0.1.0".to_owned(),
        file: "report.txt".to_owned(),
        tool,
        pid: (tool != MemoryTool::Smaps).then_some(4242),
        total,
        entries,
        call_sites: Vec::new(),
        problems: Vec::new(),
    }
}

fn entry(path: [&str; 2], count: Option<u64>, memory: ReportedMemory) -> ReportedEntry {
    ReportedEntry { path: path.map(str::to_owned).to_vec(), count, memory }
}

fn mapped(path: [&str; 2], resident_mib: u64) -> ReportedEntry {
    let memory = ReportedMemory {
        reserved_bytes: Some(4 * resident_mib * MIB),
        resident_bytes: Some(resident_mib * MIB),
        pss_bytes: Some(resident_mib * MIB / 2),
        swap_bytes: Some(0),
        ..ReportedMemory::default()
    };
    entry(path, Some(1), memory)
}

fn tracked(path: [&str; 2], count: Option<u64>, committed_mib: u64) -> ReportedEntry {
    let memory = ReportedMemory {
        reserved_bytes: Some(2 * committed_mib * MIB),
        committed_bytes: Some(committed_mib * MIB),
        ..ReportedMemory::default()
    };
    entry(path, count, memory)
}

fn of_mappings() -> MemoryToolReport {
    let entries = vec![
        mapped(["anonymous memory", "7f0000000000-7f0040000000 rw-p"], 300),
        mapped(["anonymous memory", "smaller mappings"], 24),
        mapped(["code", "/usr/lib/jvm/lib/server/libjvm.so"], 16),
        mapped(["stacks", "[stack]"], 1),
    ];
    let mut report = report(MemoryTool::Smaps, entries);
    report.problems.push(Problem::new("report.txt", "it is not whole: line 9: Rss: missing"));
    report
}

fn of_nmt() -> MemoryToolReport {
    let entries = vec![
        tracked(["Java Heap", "mmap"], None, 256),
        tracked(["Class", "mmap"], None, 40),
        tracked(["Class", "malloc"], Some(2_345), 2),
    ];
    let mut report = report(MemoryTool::Nmt, entries);
    report.call_sites.push(tracked(
        ["Module", "ModuleEntryTable::locked_create_entry(Handle)"],
        Some(154),
        1,
    ));
    report
}

#[test]
fn the_forms_of_both_kinds_are_the_golden_files() {
    golden::expect("memory/tool-report-mappings", &memory::tool_report(&of_mappings()));
    golden::expect("memory/tool-report-nmt", &memory::tool_report(&of_nmt()));
}

#[test]
fn what_a_tool_does_not_know_has_no_column_and_is_said() {
    let text = memory::tool_report(&of_nmt()).markdown();
    assert!(text.contains("| Committed | Reserved |") && !text.contains("| Resident"), "{text}");
    assert!(text.contains("how much of it is resident"), "{text}");
    let text = memory::tool_report(&of_mappings()).markdown();
    assert!(
        text.contains("the causes of anonymous memory (324.0 MiB)") && !text.contains("Committed"),
        "{text}"
    );
}

#[test]
fn each_entry_and_each_call_site_has_a_row() {
    let mut csv = Vec::new();
    memory::tool_report_data(&of_nmt()).write_csv(&mut csv).expect("written");
    let csv = String::from_utf8(csv).expect("text");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert_eq!(lines[1], "entry,Java Heap / mmap,,268435456,,,536870912,");
    assert!(lines[4].starts_with("call-site,Module / ModuleEntryTable"), "{csv}");
}

#[test]
fn a_report_without_anything_is_still_one() {
    let empty = report(MemoryTool::Pmap, Vec::new());
    let text = memory::tool_report(&empty).markdown();
    assert!(text.contains("Memory of process 4242 by report.txt"), "{text}");
}
