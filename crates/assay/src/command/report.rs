//! `assay report`: a stored result to a page, Markdown, CSV or tables, again and elsewhere.

mod shown;
mod stored;

use crate::arguments::ReportArguments;
use crate::command::what_file::said_of;
use crate::failure::{Failure, Kind};
use crate::forms::Described;
use crate::output_file::{can_be_written, write_file};
use assay_model::{StoredRun, file};
use assay_results::RunDirError;
use shown::show;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads a run directory, the folder of a capacity or fit, or the file of another result, and writes its report.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    arguments.file().map_or(Ok(()), can_be_written)?;
    let named = &arguments.run;
    // Folders whose result is one file beside the runs that it rests on.
    let of_folder = [file::CAPACITY, file::FIT].map(|name| named.join(name));
    if let Some(result) = of_folder.iter().find(|path| path.is_file()) {
        stored::report(result, &named.join(file::REPORT), arguments)?;
    } else if named.is_file() {
        stored::report(named, &named.with_extension("html"), arguments)?;
    } else {
        show(&load(named)?, &assay_results::report_path(named), arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A run as it was stored.
pub fn load(folder: &Path) -> Result<StoredRun, Failure> {
    assay_results::load_run(folder).map_err(|error| not_a_run(folder, error))
}

/// The error with what the path is instead, and where the folders of runs lie.
pub fn not_a_run(path: &Path, error: RunDirError) -> Failure {
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
pub fn write_page(run: &StoredRun, folder: &Path) -> Result<PathBuf, Failure> {
    let path = assay_results::report_path(folder);
    write_file(&path, |out| run.document().write_html(out))?;
    Ok(path)
}
