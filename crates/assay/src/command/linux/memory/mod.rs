//! `assay memory`: every resident byte of a process.

mod advise;
mod consent;
mod diff;
#[cfg(test)]
#[path = "../../../../../report/tests/kafka/mod.rs"]
#[expect(dead_code, reason = "the tests of the report use the rest of it")]
mod kafka;
mod list;
mod page_out;
mod read;
mod series;
mod snapshot;
mod tool_report;
mod trim;
mod watch;

use crate::arguments::{MemoryArguments, MemoryCommand, SnapshotArguments};
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::output_file::can_be_written;
use assay_memory::ReadOptions;
use assay_model::MemoryReport;
use std::process::ExitCode;

/// Does what was asked for.
pub fn memory(arguments: MemoryArguments) -> Result<ExitCode, Failure> {
    let MemoryArguments { command, snapshot } = arguments;
    let files = [&snapshot.html, &snapshot.record];
    files.into_iter().flatten().try_for_each(|path| can_be_written(path))?;
    if let Some(path) = tool_report::file_in(&snapshot).filter(|_| command.is_none()) {
        return tool_report::tool_report(path, &snapshot);
    }
    let pid = snapshot.pid.as_ref().map(pid_of).transpose()?;
    let snapshot = match pid {
        Some(pid) => snapshot.of_process(pid),
        None => snapshot,
    };
    match (&command, pid) {
        (Some(MemoryCommand::Diff(diff)), _) => diff::diff(diff),
        (Some(MemoryCommand::Advise(advise)), _) => advise::advise(advise),
        (None, None) => list::list(snapshot.format.form()),
        (None, Some(pid)) if snapshot.trim => trim::trim(pid, &snapshot),
        (None, Some(pid)) if !snapshot.page_out.is_empty() => page_out::page_out(pid, &snapshot),
        (None, Some(pid)) if is_series(&snapshot) => series::series(pid, &snapshot),
        (None, Some(pid)) => snapshot::snapshot(pid, &snapshot),
    }
}

/// A snapshot of a process, as deep as it goes without taking long.
pub fn look(pid: u32) -> Result<MemoryReport, Failure> {
    read::read(pid, &ReadOptions::default())
}

fn is_series(snapshot: &SnapshotArguments) -> bool {
    snapshot.watch.is_some() || snapshot.record.is_some()
}
