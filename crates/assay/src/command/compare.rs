//! `assay compare`: two runs side by side.

use crate::arguments::CompareArguments;
use crate::command::report::load;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use std::process::ExitCode;

/// Compares two run directories.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let (before, after) = (load(&arguments.before)?, load(&arguments.after)?);
    let (before_name, after_name) =
        (arguments.before.display().to_string(), arguments.after.display().to_string());
    let comparison = assay_results::compare_runs((&before_name, &before), (&after_name, &after));
    show_as_asked(&comparison, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}
