//! A report as it was asked for: its form, and where it goes.

use crate::arguments::{Form, Format, ReportArguments, ReportFormat};
use crate::failure::Failure;
use crate::forms::{Described, write};
use crate::output;
use crate::output_file::{write_file, write_result};
use std::path::Path;

/// Writes a result as it was asked for; its page goes to `page` where no other place was named.
pub fn show(result: &impl Described, page: &Path, arguments: &ReportArguments) -> Result<(), Failure> {
    match (arguments.file(), arguments.form()) {
        (Some(path), None) => write_result(path, |out| result.document().write_html(out)),
        (Some(path), Some(form)) => write_result(path, |out| write(result, form, out)),
        (None, None) if arguments.out.is_some() => output::print(|out| result.document().write_html(out)),
        (None, None) => {
            write_file(page, |out| result.document().write_html(out))?;
            output::print(|out| writeln!(out, "{}", page.display()))
        }
        (None, Some(form)) => output::print(|out| write(result, form, out)),
    }
}

impl ReportArguments {
    /// The file that was named; `-` is standard output.
    pub fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The form that was asked for; none for the page.
    fn form(&self) -> Option<Form> {
        let format = match self.format {
            _ if self.json => Some(Format::Json),
            ReportFormat::Html => None,
            ReportFormat::Md => Some(Format::Md),
            ReportFormat::Csv => Some(Format::Csv),
            ReportFormat::Json => Some(Format::Json),
            ReportFormat::Table => Some(Format::Table),
            ReportFormat::Ndjson => Some(Format::Ndjson),
        };
        format.map(|format| Form { format, extent: self.extent.extent() })
    }
}
