//! `assay report` on the folder of `assay capacity --out`: its page, text or stored form again.

use crate::arguments::{ReportArguments, ReportFormat};
use crate::command::capacity::STORED;
use crate::command::read_stored;
use crate::failure::Failure;
use crate::output;
use crate::output_file::write_result;
use assay_model::{CapacityReport, file, schema};
use assay_report::{render_capacity_html, render_capacity_terminal};
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
    let out = arguments.out.as_deref().filter(|path| path.as_os_str() != "-");
    match format {
        ReportFormat::Html if arguments.out.is_some() && out.is_none() => {
            output::print(|mut out| render_capacity_html(&capacity, &mut out))?;
        }
        ReportFormat::Html => {
            let path = out.map_or_else(|| stored.with_file_name(file::REPORT), Path::to_owned);
            write_result(&path, |mut out| render_capacity_html(&capacity, &mut out))?;
        }
        ReportFormat::Table | ReportFormat::Json if out.is_some() => {
            return Err(Failure::input(
                "--out takes the page of a capacity; other forms go to standard output",
            ));
        }
        ReportFormat::Json => output::print_json(&capacity)?,
        ReportFormat::Table => {
            output::print_text(&render_capacity_terminal(&capacity, output::view()))?;
        }
        ReportFormat::Md | ReportFormat::Csv => {
            return Err(Failure::input(
                "a capacity has the forms html, table and json; its page carries the windows as CSV",
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<CapacityReport, Failure> {
    let schema_of = |report: &CapacityReport| report.schema.clone();
    let report = read_stored(path, schema::CAPACITY, schema_of, "a stored capacity")?;
    // What is written again has the keys of this version, so it says that it is of this version.
    Ok(CapacityReport { schema: schema::CAPACITY.to_owned(), ..report })
}
