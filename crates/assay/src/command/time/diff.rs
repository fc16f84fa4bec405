//! `assay time diff`: what changed between two stored accounts.

use crate::arguments::TimeDiffArguments;
use crate::command::read_stored;
use crate::failure::Failure;
use crate::output::{self, Forms};
use crate::output_file::{can_be_written, write_result};
use assay_model::{TimeReport, schema};
use assay_processreport::{
    render_time_change_csv, render_time_change_html, render_time_change_markdown, render_time_change_terminal,
};
use std::path::Path;
use std::process::ExitCode;

/// Compares two accounts.
pub fn diff(arguments: &TimeDiffArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let change = assay_counters::change_of(&read(&arguments.before)?, &read(&arguments.after)?);
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_time_change_html(&change, &mut out))?;
    }
    let forms = Forms {
        table: &|view| render_time_change_terminal(&change, view),
        csv: &|out| render_time_change_csv(&change, out),
        markdown: &|| render_time_change_markdown(&change),
        problems: &change.problems,
    };
    output::print_as(arguments.format.form_beside(arguments.html.is_some()), &change, &forms)?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<TimeReport, Failure> {
    let schema_of = |report: &TimeReport| report.schema.clone();
    read_stored(path, schema::TIME, schema_of, "an account of CPU time").map_err(|failure| {
        let hint = "make one with: assay time PID --json > FILE";
        Failure::input(format!("{}\n  {hint}", failure.message))
    })
}
