//! `assay report` on the folder of `assay capacity --out`: its page, text or stored form again.

use crate::arguments::{ReportArguments, ReportFormat};
use crate::command::capacity::STORED;
use crate::command::read_stored;
use crate::failure::Failure;
use crate::output;
use crate::output_file::write_result;
use assay_model::{CapacityReport, file, schema};
use assay_report::{
    render_capacity_csv, render_capacity_html, render_capacity_markdown, render_capacity_terminal,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The stored capacity in a folder, if there is one.
pub fn stored(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(STORED)).filter(|path| path.is_file())
}

/// Reads it and writes it in the form asked for: a page beside it unless told otherwise.
pub fn report(stored: &Path, arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let capacity = read(stored)?;
    let format = if arguments.json { ReportFormat::Json } else { arguments.format };
    match (&arguments.out, format) {
        (Some(path), _) if path.as_os_str() != "-" => {
            write_result(path, |out| write(&capacity, format, out))?;
        }
        (None, ReportFormat::Html) => {
            write_result(&stored.with_file_name(file::REPORT), |out| write(&capacity, format, out))?;
        }
        _ => output::print(|out| write(&capacity, format, out))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(capacity: &CapacityReport, format: ReportFormat, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        ReportFormat::Html => render_capacity_html(capacity, &mut out),
        ReportFormat::Md => out.write_all(render_capacity_markdown(capacity).as_bytes()),
        ReportFormat::Csv => render_capacity_csv(capacity, out),
        ReportFormat::Table => out.write_all(render_capacity_terminal(capacity, output::view()).as_bytes()),
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut out, capacity)?;
            writeln!(out)
        }
    }
}

fn read(path: &Path) -> Result<CapacityReport, Failure> {
    let schema_of = |report: &CapacityReport| report.schema.clone();
    let report = read_stored(path, schema::CAPACITY, schema_of, "a stored capacity")?;
    // What is written again has the keys of this version, so it says that it is of this version.
    Ok(CapacityReport { schema: schema::CAPACITY.to_owned(), ..report })
}
