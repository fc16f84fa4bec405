//! What was read, as it was asked for: printed, and as a page.

use crate::arguments::{Format, GcReadArguments};
use crate::failure::Failure;
use crate::output::{self, Forms};
use crate::output_file::write_result;
use assay_model::GcReport;
use assay_report::{render_gc_csv, render_gc_html, render_gc_markdown, render_gc_terminal};

/// Prints a report, and writes its page.
pub fn show(report: &GcReport, name: &str, arguments: &GcReadArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_gc_html(report, name, &mut out))?;
    }
    let forms = Forms {
        table: &|view| render_gc_terminal(report, name, view),
        csv: &|out| render_gc_csv(report, out),
        markdown: &|| render_gc_markdown(report, name),
        problems: &report.problems,
    };
    output::print_as(form(arguments), report, &forms)
}

/// The form that was asked for.
pub fn form(arguments: &GcReadArguments) -> Format {
    if arguments.csv { Format::Csv } else { arguments.format.form() }
}
