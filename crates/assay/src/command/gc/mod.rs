//! `assay gc`: what GC logs say.

mod diff;
mod follow;
mod metrics_server;

use crate::arguments::{GcArguments, GcCommand, GcReadArguments};
use crate::failure::Failure;
use crate::output;
use crate::output_file::{can_be_written, write_file};
use assay_gclog::input::{self, Found, InputError, LogSet};
use assay_gcstudy::{Analysis, AnalysisOptions, Condition, EventsTee, Requests};
use assay_model::GcReport;
use assay_report::{LeavesShown, TerminalView, render_gc_csv, render_gc_html, render_gc_terminal};
use std::path::PathBuf;
use std::process::ExitCode;

/// Files that are named one after the other in a message; the rest is counted.
const NAMED_MAX: usize = 8;
/// Exit code for wrong use or bad input, where there was also something to print.
const BAD_INPUT: u8 = 2;

/// Does what was asked for.
pub fn gc(arguments: &GcArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(GcCommand::Diff(diff)) => diff::diff(diff),
        None => {
            let read = &arguments.read;
            check(read)?;
            if read.follow { follow::follow(read) } else { read_all(read) }
        }
    }
}

/// What can be known to be wrong before anything is read.
fn check(arguments: &GcReadArguments) -> Result<(), Failure> {
    if let Some(condition) = arguments.fail_if.iter().find(|c| c.is_of_change()) {
        let what =
            format!("`{condition}` is about a change, which takes two logs: assay gc diff BEFORE AFTER");
        return Err(Failure::input(what));
    }
    [&arguments.html, &arguments.events].into_iter().flatten().try_for_each(|path| can_be_written(path))
}

fn options(arguments: &GcReadArguments) -> AnalysisOptions {
    let total = arguments.requests.map(Requests::Total);
    AnalysisOptions {
        requests: total.or(arguments.requests_per_second.map(Requests::PerSecond)),
        ..AnalysisOptions::default()
    }
}

fn read_all(arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
    let found = find(&arguments.logs, arguments.join)?;
    let is_one = found.sets.len() == 1;
    if !is_one && (arguments.html.is_some() || arguments.events.is_some()) {
        let names: Vec<&str> = found.sets.iter().map(|s| s.name.as_str()).take(NAMED_MAX).collect();
        return Err(Failure::input(format!(
            "--html and --events are about one log, and these are {}: {}\n  name one, or read them as one with --join",
            found.sets.len(),
            names.join(", ")
        )));
    }
    let (mut has_failed, mut is_bad) = (false, false);
    for (index, set) in found.sets.iter().enumerate() {
        if index > 0 && !arguments.json && !arguments.csv {
            output::print(|out| writeln!(out))?;
        }
        let report = read_set(set, arguments)?;
        if let Err(failure) = is_log(&report, &set.name) {
            if is_one {
                return Err(failure);
            }
            eprintln!("error: {}", failure.message);
            is_bad = true;
            continue;
        }
        show(&report, &set.name, arguments)?;
        has_failed |=
            fails(&arguments.fail_if, &set.name, |c| c.holds(&report), &|c| c.figure().read(&report));
    }
    Ok(match (is_bad, has_failed) {
        (true, _) => ExitCode::from(BAD_INPUT),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Finds the sets, and tells on standard error what was passed over and what lies beside.
fn find(logs: &[PathBuf], join: bool) -> Result<Found, Failure> {
    let found = input::find(logs, join)?;
    for problem in found.passed_over.iter().take(NAMED_MAX) {
        eprintln!("passed over: {}: {}", problem.about, problem.text);
    }
    let more = found.passed_over.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        eprintln!("passed over: {more} more");
    }
    if !found.beside.is_empty() {
        let names: Vec<String> =
            found.beside.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
        eprintln!("note: not read, though named as if of the same log: {}", names.join(", "));
    }
    Ok(found)
}

/// Reads a set, with `--events` into its file.
fn read_set(set: &LogSet, arguments: &GcReadArguments) -> Result<GcReport, Failure> {
    let mut analysis = Analysis::new(options(arguments));
    match &arguments.events {
        None => input::read_set(set, &mut analysis),
        Some(path) => {
            write_file(path, |out| {
                let mut tee = EventsTee::new(&mut analysis, Some(out));
                input::read_set(set, &mut tee);
                tee.finish()
            })?;
            eprintln!("written: {}", path.display());
        }
    }
    Ok(analysis.report())
}

/// Nothing of any known form in it is bad input, with what is known of it.
fn is_log(report: &GcReport, name: &str) -> Result<(), Failure> {
    let unread = report.not_understood.lines_of_pauses;
    if report.pauses.count == 0 && unread > 0 {
        let first = report.not_understood.shapes.first().map_or("", |shape| shape.quote.as_str());
        return Err(Failure::input(format!(
            "{name}: {unread} lines look like pauses and none could be read, for example: {first}\n  \
             please report the log: without them, nothing that is said of its pauses would be true"
        )));
    }
    if report.sources.iter().any(|s| s.dialect.is_some()) {
        return Ok(());
    }
    let bytes: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.bytes));
    let why = match report.problems.first() {
        Some(problem) => problem.text.clone(),
        None if bytes == 0 => "it is empty".to_owned(),
        None => "none of its first lines is of a known form".to_owned(),
    };
    Err(Failure::input(format!(
        "{name} is no GC log: {why}\n  logs of -Xlog:gc*, of -XX:+PrintGCDetails (JDK 8) and of -verbose:gc (OpenJ9) are read"
    )))
}

fn view() -> TerminalView {
    TerminalView { width: output::width(), color: output::is_coloured(), leaves: LeavesShown::All }
}

/// Prints a report, and writes its page.
fn show(report: &GcReport, name: &str, arguments: &GcReadArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.html {
        write_file(path, |mut out| render_gc_html(report, name, &mut out))?;
        eprintln!("written: {}", path.display());
    }
    if arguments.json {
        output::print_json(report)
    } else if arguments.csv {
        output::print(|out| render_gc_csv(report, out))
    } else {
        output::print(|out| out.write_all(render_gc_terminal(report, name, view()).as_bytes()))
    }
}

/// Whether any condition holds, or cannot be told; each is told on standard error.
fn fails(
    conditions: &[Condition],
    name: &str,
    holds: impl Fn(&Condition) -> Option<bool>,
    value: &dyn Fn(&Condition) -> Option<f64>,
) -> bool {
    let mut has_failed = false;
    for condition in conditions {
        let what = match holds(condition) {
            Some(false) => continue,
            Some(true) => {
                let is = value(condition).map_or_else(String::new, |v| format!(" is {v}"));
                format!("fails: {condition}: {}{is}", condition.figure().id)
            }
            None => format!("fails: {condition}: the log does not tell {}", condition.figure().id),
        };
        eprintln!("{what} ({name})");
        has_failed = true;
    }
    has_failed
}

/// What was named is wrong use; what may not be read is the environment's.
impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match &error {
            InputError::Open { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                Failure::environment(error.to_string())
            }
            _ => Failure::input(error.to_string()),
        }
    }
}
