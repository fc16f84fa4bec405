//! What was read, as it was asked for: printed, and as a page.

use crate::arguments::{Form, Format, GcReadArguments};
use crate::failure::Failure;
use crate::forms::{self, GcLog};
use assay_model::GcReport;

/// Prints a report, and writes its page.
pub fn show(report: &GcReport, name: &str, arguments: &GcReadArguments) -> Result<(), Failure> {
    forms::show(&GcLog { report, name }, form(arguments), arguments.html.as_deref())
}

/// The form that was asked for.
pub fn form(arguments: &GcReadArguments) -> Form {
    if arguments.csv { Format::Csv.into() } else { arguments.format.form() }
}
