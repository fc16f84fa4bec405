//! Any text as a report of another tool about memory: no panic, and mappings that add up to the total.
//! `crates/memory/tests/tool_report.rs` runs the seeds as a normal test.
#![no_main]

use assay_memory::tool_report;
use assay_model::{MemoryTool, ReportedMemory};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(report) = tool_report(Path::new("seed"), &String::from_utf8_lossy(bytes)) else { return };
    if report.tool != MemoryTool::Nmt {
        let sum = report.entries.iter().map(|entry| entry.memory).reduce(ReportedMemory::and);
        assert_eq!(sum.unwrap_or_default(), report.total);
    }
});
