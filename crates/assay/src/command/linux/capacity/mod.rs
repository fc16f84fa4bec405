//! `assay capacity`: how many requests a second a server sustains within response-time limits.

mod study;
mod wanted;

use crate::arguments::{CapacityArguments, Format};
use crate::command::gate;
use crate::command::linux::plan::search_text;
use crate::failure::Failure;
use crate::forms::{Described, show, write};
use crate::output_file::{can_be_written, write_file};
use crate::{output, stop};
use assay_model::{CapacityReport, GateCase, file};
use assay_text::redact;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Finds a capacity and prints it. The exit code is 1 when the result is not valid, unless that is allowed, or a capacity is lower than
/// `--at-least` asks for, and 3 when that cannot be decided.
pub fn capacity(arguments: &CapacityArguments) -> Result<ExitCode, Failure> {
    check_wanted(arguments)?;
    if arguments.plan {
        return plan(arguments);
    }
    gate::check_files(&arguments.gate_files)?;
    let stored = arguments.out.as_deref().map(new_file).transpose()?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let stop = stop::flag_on_signal()?;
    let report = study::find(&study::wanted(arguments)?, arguments, &stop)?;
    if let Some(path) = &stored {
        write_file(path, |out| write(&report, Format::Json, out))?;
    }
    show(&report, arguments.format.form(), arguments.html.as_deref())?;
    end(arguments, &report, &stop)
}

/// Says what a search would do.
fn plan(arguments: &CapacityArguments) -> Result<ExitCode, Failure> {
    let is_json = arguments.format.is_json("--plan")?;
    let wanted = study::wanted(arguments)?;
    if is_json {
        output::print_json(wanted.plan())?;
    } else {
        let target = arguments.url.as_deref().or(arguments.workload.as_deref()).unwrap_or_default();
        let target = redact::text(target);
        output::print_text(&search_text(&target, wanted.plan(), output::width().into()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_wanted(arguments: &CapacityArguments) -> Result<(), Failure> {
    for wanted in &arguments.at_least {
        if !arguments.limits.contain(&wanted.limit) {
            let what = format!(
                "--at-least names {}, which is not among --limits: give it to both, as in --limits 30 --at-least 500@30",
                wanted.limit
            );
            return Err(Failure::input(what));
        }
    }
    Ok(())
}

/// Makes the folder before anything is measured, and refuses to write over an earlier result.
fn new_file(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(file::CAPACITY);
    if path.exists() {
        let what = format!("{} is there already: give --out another folder", path.display());
        return Err(Failure::input(what));
    }
    fs_err::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .map_err(|e| Failure::input(format!("{e}; give --out a folder that can be written")))?;
    Ok(path)
}

fn end(
    arguments: &CapacityArguments,
    report: &CapacityReport,
    stop: &AtomicBool,
) -> Result<ExitCode, Failure> {
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(stop::INTERRUPTED));
    }
    let is_allowed = arguments.allow_invalid || report.valid == Some(true);
    let cases: Vec<GateCase> =
        arguments.at_least.iter().map(|wanted| wanted::judge(&report.limits, wanted, is_allowed)).collect();
    gate::tell(&cases);
    let is_good = arguments.allow_invalid || report.valid != Some(false);
    let bad = (!is_good).then(|| "it is not valid".to_owned());
    gate::write_cases(&arguments.gate_files, (&report.target, bad), &cases, &|| {
        report.document().markdown()
    })?;
    Ok(gate::exit_code(is_good, &cases))
}
