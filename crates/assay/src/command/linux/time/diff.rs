//! `assay time diff`: what changed between two stored accounts.

use crate::arguments::TimeDiffArguments;
use crate::command::read_stored;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use assay_model::{TimeReport, schema};
use std::path::Path;
use std::process::ExitCode;

/// Compares two accounts.
pub fn diff(arguments: &TimeDiffArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let change = assay_counters::change_of(&read(&arguments.before)?, &read(&arguments.after)?);
    show_as_asked(&change, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<TimeReport, Failure> {
    read_stored(path, schema::TIME, "an account of CPU time").map_err(|failure| {
        let hint = "make one with: assay time PID --json > FILE";
        Failure::input(format!("{}\n  {hint}", failure.message))
    })
}
