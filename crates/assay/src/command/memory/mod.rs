//! `assay memory`: every resident byte of a process.

mod advise;
mod diff;
#[cfg(test)]
#[path = "../../../../report/tests/kafka/mod.rs"]
#[expect(dead_code, reason = "the tests of the report use the rest of it")]
mod kafka;
mod list;
mod look;
mod read;
mod series;
mod trim;
mod watch;

use crate::arguments::{LookArguments, MemoryArguments, MemoryCommand};
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::output_file::can_be_written;
use std::process::ExitCode;

/// Does what was asked for.
pub fn memory(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let files = [&arguments.look.html, &arguments.look.record];
    files.into_iter().flatten().try_for_each(|path| can_be_written(path))?;
    let pid = arguments.look.pid.as_ref().map(pid_of).transpose()?;
    match (&arguments.command, pid) {
        (Some(MemoryCommand::Diff(diff)), _) => diff::diff(diff),
        (Some(MemoryCommand::Advise(advise)), _) => advise::advise(advise),
        (None, None) => list::list(arguments.look.json),
        (None, Some(pid)) if arguments.look.trim => trim::trim(pid, arguments.look.json),
        (None, Some(pid)) if is_series(&arguments.look) => series::series(pid, &arguments.look),
        (None, Some(pid)) => look::look(pid, &arguments.look),
    }
}

fn is_series(look: &LookArguments) -> bool {
    look.watch.is_some() || look.record.is_some()
}
