//! `assay merge`: parts of a run, made on several machines, as one.

use super::report::write_page;
use crate::arguments::MergeArguments;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use std::process::ExitCode;

/// Puts parts together, and shows the whole.
pub fn merge(arguments: &MergeArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let dir = assay_study::merge(&arguments.runs, &arguments.out, arguments.partial)?;
    let run = assay_study::load_run(&dir)?;
    let page = write_page(&run, &dir)?;
    show_as_asked(&run, &arguments.format, arguments.html.as_deref())?;
    say!("\nreport: {}", page.display());
    Ok(ExitCode::SUCCESS)
}
