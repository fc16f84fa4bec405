//! One snapshot: a tree, JSON, a page.

use super::read::{options, read};
use crate::arguments::SnapshotArguments;
use crate::failure::Failure;
use crate::output::{self, Forms};
use crate::output_file::write_result;
use assay_model::MemoryReport;
use assay_report::TerminalView;
use std::path::Path;
use std::process::ExitCode;

/// Takes a snapshot and shows it.
pub fn snapshot(pid: u32, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    let report = read(pid, &options(arguments))?;
    if let Some(path) = &arguments.html {
        write_page(path, &report, &[])?;
    }
    let shown = |view| TerminalView { entries: arguments.entries, ..view };
    let forms = Forms {
        table: &|view| assay_report::render_memory_terminal(&report, shown(view)),
        csv: &|out| assay_report::render_memory_csv(&report, out),
        markdown: &|| assay_report::render_memory_markdown(&report),
        problems: &report.problems,
    };
    output::print_as(arguments.format.form_beside(arguments.html.is_some()), &report, &forms)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a snapshot and says so; `snapshots` are those that led to it.
pub fn write_page(path: &Path, report: &MemoryReport, snapshots: &[MemoryReport]) -> Result<(), Failure> {
    let all = if snapshots.is_empty() { std::slice::from_ref(report) } else { snapshots };
    // Without owners a limit has no line for direct buffers: better none than one that is wrong.
    let has_owners = all.iter().all(MemoryReport::has_owners);
    let advice = report.jvm.as_ref().filter(|_| has_owners).map(|_| assay_memory::advise(all));
    write_result(path, |mut out| {
        assay_report::render_memory_html(report, snapshots, advice.as_ref(), &mut out)
    })
}
