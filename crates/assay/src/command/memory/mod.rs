//! `assay memory`: every resident byte of a process.

mod advise;
mod diff;
#[cfg(test)]
#[path = "../../../../report/tests/kafka/mod.rs"]
#[expect(dead_code, reason = "the tests of the report use the rest of it")]
mod kafka;
mod list;
mod read;
mod series;
mod snapshot;
mod trim;
mod watch;

use crate::arguments::{MemoryArguments, MemoryCommand, SnapshotArguments};
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::output_file::can_be_written;
use std::process::ExitCode;

/// Does what was asked for.
pub fn memory(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let files = [&arguments.snapshot.html, &arguments.snapshot.record];
    files.into_iter().flatten().try_for_each(|path| can_be_written(path))?;
    let pid = arguments.snapshot.pid.as_ref().map(pid_of).transpose()?;
    match (&arguments.command, pid) {
        (Some(MemoryCommand::Diff(diff)), _) => diff::diff(diff),
        (Some(MemoryCommand::Advise(advise)), _) => advise::advise(advise),
        (None, None) => list::list(arguments.snapshot.format.form()),
        (None, Some(pid)) if arguments.snapshot.trim => {
            trim::trim(pid, arguments.snapshot.format.is_json("--trim")?)
        }
        (None, Some(pid)) if is_series(&arguments.snapshot) => series::series(pid, &arguments.snapshot),
        (None, Some(pid)) => snapshot::snapshot(pid, &arguments.snapshot),
    }
}

fn is_series(snapshot: &SnapshotArguments) -> bool {
    snapshot.watch.is_some() || snapshot.record.is_some()
}
