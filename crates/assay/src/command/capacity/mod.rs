//! `assay capacity`: how many requests a second a server sustains within response-time limits.

mod study;

use crate::arguments::{AtLeast, CapacityArguments};
use crate::failure::Failure;
use crate::output_file::{can_be_written, write_file, write_result};
use crate::{output, stop};
use assay_model::CapacityReport;
use assay_report::{render_capacity_html, render_capacity_terminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the stored form in the folder of `--out`.
pub const STORED: &str = "capacity.json";

/// Finds a capacity and prints it. The exit code is 1 when the result is not valid, unless that is allowed, or does not show what
/// `--at-least` asks for.
pub fn capacity(arguments: &CapacityArguments) -> Result<ExitCode, Failure> {
    check_wanted(arguments)?;
    let stored = arguments.out.as_deref().map(new_file).transpose()?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let stop = stop::flag_on_signal()?;
    let report = study::find(arguments, &stop)?;
    if let Some(path) = &stored {
        store(path, &report)?;
    }
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_capacity_html(&report, &mut out))?;
    }
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print_text(&render_capacity_terminal(&report, output::view()))?;
    }
    Ok(exit_code(arguments, &report, &stop))
}

fn check_wanted(arguments: &CapacityArguments) -> Result<(), Failure> {
    for wanted in &arguments.at_least {
        if !arguments.limits.0.contains(&wanted.limit_ms) {
            let what = format!("--at-least names {} ms, which is not among --limits", wanted.limit_ms);
            return Err(Failure::input(what));
        }
    }
    Ok(())
}

/// Makes the folder before anything is measured, and refuses to write over an earlier result.
fn new_file(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(STORED);
    if path.exists() {
        let what = format!("{} is there already: give --out another folder", path.display());
        return Err(Failure::input(what));
    }
    fs_err::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .map_err(|e| Failure::input(format!("{e}; give --out a folder that can be written")))?;
    Ok(path)
}

/// The file appears whole or not at all.
fn store(path: &Path, report: &CapacityReport) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report).map_err(|e| Failure::internal(e.to_string()))?;
    write_file(path, |out| writeln!(out, "{text}"))
}

fn exit_code(arguments: &CapacityArguments, report: &CapacityReport, stop: &AtomicBool) -> ExitCode {
    if stop.load(Ordering::Relaxed) {
        return ExitCode::from(stop::INTERRUPTED);
    }
    let missed: Vec<&AtLeast> = arguments.at_least.iter().filter(|wanted| !is_met(report, wanted)).collect();
    for wanted in &missed {
        say!("not shown: {} requests a second under {} ms", wanted.rate_per_s, wanted.limit_ms);
    }
    let is_good = missed.is_empty() && (arguments.allow_invalid || report.valid != Some(false));
    if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// A valid result in which the limit is kept up to that rate, or was kept at it where no rate missed it.
fn is_met(report: &CapacityReport, wanted: &AtLeast) -> bool {
    let Some(limit) = report.limits.iter().find(|limit| limit.limit_ms == wanted.limit_ms) else {
        return false;
    };
    let kept = match (limit.rate_per_s, limit.first_failure_per_s) {
        (Some(rate), _) => Some(rate.estimate),
        (None, None) => limit.last_success_per_s,
        (None, Some(_)) => None,
    };
    report.valid == Some(true) && kept.is_some_and(|kept| wanted.rate_per_s <= kept)
}
