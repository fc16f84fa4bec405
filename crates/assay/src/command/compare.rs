//! `assay compare`: two runs side by side.

use crate::arguments::CompareArguments;
use crate::command::report::load;
use crate::failure::Failure;
use crate::output::{self, Forms};
use crate::output_file::{can_be_written, write_result};
use assay_report::{
    render_run_comparison_csv, render_run_comparison_html, render_run_comparison_markdown,
    render_run_comparison_terminal,
};
use std::process::ExitCode;

/// Compares two run directories.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let (before, after) = (load(&arguments.before)?, load(&arguments.after)?);
    let (before_name, after_name) =
        (arguments.before.display().to_string(), arguments.after.display().to_string());
    let comparison = assay_study::compare_runs((&before_name, &before), (&after_name, &after));
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_run_comparison_html(&comparison, &mut out))?;
    }
    let forms = Forms {
        table: &|view| render_run_comparison_terminal(&comparison, view),
        csv: &|out| render_run_comparison_csv(&comparison, out),
        markdown: &|| render_run_comparison_markdown(&comparison),
        problems: &comparison.problems,
    };
    output::print_as(arguments.format.form_beside(arguments.html.is_some()), &comparison, &forms)?;
    Ok(ExitCode::SUCCESS)
}
