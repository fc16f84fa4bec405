//! `assay time diff`: what changed between two stored accounts.

use crate::arguments::TimeDiffArguments;
use crate::command::read_stored;
use crate::failure::Failure;
use crate::output;
use crate::output_file::{can_be_written, write_result};
use assay_model::{TimeReport, schema};
use assay_processreport::{render_time_change_html, render_time_change_terminal};
use std::path::Path;
use std::process::ExitCode;

/// Compares two accounts.
pub fn diff(arguments: &TimeDiffArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let change = assay_counters::change_of(&read(&arguments.before)?, &read(&arguments.after)?);
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_time_change_html(&change, &mut out))?;
    }
    if arguments.json {
        output::print_json(&change)?;
    } else if arguments.html.is_none() {
        output::print_text(&render_time_change_terminal(&change, output::view()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<TimeReport, Failure> {
    let schema_of = |report: &TimeReport| report.schema.clone();
    read_stored(path, schema::TIME, schema_of, "an account of CPU time").map_err(|failure| {
        let hint = "make one with: assay time PID --json > FILE";
        Failure::input(format!("{}\n  {hint}", failure.message))
    })
}
