//! `assay memory FILE`: what a report of another tool shows.

use crate::arguments::{DepthName, ProcessName, SnapshotArguments};
use crate::command::what_file::{FileKind, kind_of};
use crate::failure::Failure;
use crate::forms::{ToolReport, show_as_asked};
use std::path::Path;
use std::process::ExitCode;

/// The file that was named in place of a process, if it is a report of another tool.
pub fn file_in(snapshot: &SnapshotArguments) -> Option<&Path> {
    let Some(ProcessName::Program(name)) = &snapshot.pid else { return None };
    let path = Path::new(name);
    matches!(kind_of(path), Some(FileKind::MemoryToolReport)).then_some(path)
}

/// Reads the file and shows it.
pub fn tool_report(path: &Path, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    if acts_on_a_process(arguments) {
        let why = "is a report of another tool: only options for the output apply to it";
        let fix = "the same of a running process: assay memory PID";
        return Err(Failure::input(format!("{} {why}\n  {fix}", path.display())));
    }
    let report = assay_memory::read_tool_report(path).map_err(|error| Failure::input(error.to_string()))?;
    let shown = ToolReport { report: &report, entries: arguments.entries };
    show_as_asked(&shown, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn acts_on_a_process(arguments: &SnapshotArguments) -> bool {
    let SnapshotArguments { freeze, watch, record, trim, page_out, jcmd, live, ranges, .. } = arguments;
    let is_timed = freeze.is_some() || watch.is_some() || record.is_some();
    is_timed
        || *trim
        || !page_out.is_empty()
        || *jcmd
        || *live
        || *ranges
        || arguments.depth != DepthName::Auto
}
