//! `assay report`: a run directory to a page, Markdown, CSV or tables, again and elsewhere.

mod capacity;

use crate::arguments::{Format, ReportArguments, ReportFormat};
use crate::command::what_file::said_of;
use crate::failure::{Failure, Kind};
use crate::output::{self, Forms};
use crate::output_file::{can_be_written, write_file, write_result};
use assay_model::StoredRun;
use assay_study::StudyError;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Reads the run directory and writes its report.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let path = arguments.out.as_deref().filter(|path| path.as_os_str() != "-");
    path.map_or(Ok(()), can_be_written)?;
    let folder = &arguments.run;
    if let Some(stored) = capacity::stored(folder) {
        return capacity::report(&stored, arguments);
    }
    let run = load(folder)?;
    let format = if arguments.json { ReportFormat::Json } else { arguments.format };
    match (&arguments.out, format) {
        (Some(path), _) if path.as_os_str() != "-" => {
            write_result(path, |out| write(&run, format, out))?;
        }
        (None, ReportFormat::Html) => {
            let path = write_page(&run, folder)?;
            output::print(|out| writeln!(out, "{}", path.display()))?;
        }
        _ => output::print(|mut out| write(&run, format, &mut out))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A run as it was stored.
pub fn load(folder: &Path) -> Result<StoredRun, Failure> {
    assay_study::load_run(folder).map_err(|error| not_a_run(folder, error))
}

/// The error with what the path is instead, and where the folders of runs lie.
pub fn not_a_run(path: &Path, error: StudyError) -> Failure {
    let failure = Failure::from(error);
    let said = said_of(path).filter(|_| !path.is_dir()).map_or_else(String::new, |said| format!("; {said}"));
    let hint = "assay run STUDY makes one, below runs/ unless --out names another place";
    match failure.kind {
        Kind::Input if !path.exists() => {
            Failure::input(format!("there is no folder {}\n  {hint}", path.display()))
        }
        Kind::Input => Failure::input(format!("{}{said}\n  {hint}", failure.message)),
        _ => failure,
    }
}

/// Writes `report.html` into the run directory and returns its path.
pub fn write_page(run: &StoredRun, folder: &Path) -> Result<std::path::PathBuf, Failure> {
    let path = assay_study::report_path(folder);
    write_file(&path, |out| write(run, ReportFormat::Html, out))?;
    Ok(path)
}

fn write(run: &StoredRun, format: ReportFormat, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        ReportFormat::Html => assay_report::render_html(run, &mut out),
        ReportFormat::Md => assay_report::render_markdown(run, &mut out),
        ReportFormat::Csv => assay_report::render_csv(run, &mut out),
        ReportFormat::Table => out.write_all(table(run).as_bytes()),
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &run.summary)?;
            writeln!(out)
        }
    }
}

/// Prints the results of a run.
pub fn print(run: &StoredRun, format: Format) -> Result<(), Failure> {
    let forms = Forms {
        table: &|_| table(run),
        csv: &|mut out| assay_report::render_csv(run, &mut out),
        markdown: &|| markdown(run),
        problems: &[],
    };
    output::print_as(format, &run.summary, &forms)
}

/// The report as Markdown.
pub fn markdown(run: &StoredRun) -> String {
    let mut text = Vec::new();
    // A text in memory takes every line.
    let _ = assay_report::render_markdown(run, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The table for the terminal.
fn table(run: &StoredRun) -> String {
    assay_report::render_terminal(run, output::width(), output::is_coloured())
}
