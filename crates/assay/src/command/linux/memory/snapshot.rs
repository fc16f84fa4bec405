//! One snapshot: a tree, JSON, a page.

use super::read::{options, read};
use crate::arguments::{Format, SnapshotArguments};
use crate::failure::Failure;
use crate::forms::{Snapshot, show_as_asked};
use std::process::ExitCode;

/// Takes a snapshot and shows it.
pub fn snapshot(pid: u32, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    if arguments.ranges && arguments.format.form() != Format::Json {
        return Err(Failure::input("only JSON has address ranges: give --json with --ranges"));
    }
    let report = read(pid, &options(arguments))?;
    let shown = Snapshot { report: &report, earlier: &[], entries: arguments.entries };
    show_as_asked(&shown, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}
