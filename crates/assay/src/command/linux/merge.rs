//! `assay merge`: parts of a run, made on several machines, as one.

use crate::arguments::MergeArguments;
use crate::command::report::{load, write_page};
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use assay_model::file;
use std::process::ExitCode;

/// Puts parts together, and shows the whole.
pub fn merge(arguments: &MergeArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    // What is not a run is named with what it is instead.
    if let Some(wrong) = arguments.runs.iter().find(|run| !run.join(file::PLAN).is_file()) {
        load(wrong)?;
    }
    let dir = assay_results::merge(&arguments.runs, &arguments.out, arguments.partial)?;
    let run = assay_results::load_run(&dir)?;
    let page = write_page(&run, &dir)?;
    show_as_asked(&run, &arguments.format, arguments.html.as_deref())?;
    say!("\nreport: {}", page.display());
    Ok(ExitCode::SUCCESS)
}
