//! `assay gc`: what GC logs say.

mod diff;
mod follow;
mod metrics_server;
mod named;
mod of_process;
mod read;
mod several;
mod shown;

use crate::arguments::{GcArguments, GcCommand, GcReadArguments};
use crate::command::gate;
use crate::failure::Failure;
use crate::output_file::can_be_written;
use assay_gclog::input::LogSet;
use assay_model::GcReport;
use named::{NAMED_MAX, find, is_log};
use of_process::logs_of;
use read::{read_set, read_whole};
use shown::show;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

/// What the log says that a JVM writes.
pub fn of_process(pid: u32) -> Result<GcReport, Failure> {
    of_files(&logs_of(pid)?)
}

/// What a log says: a file, or the folder of a rotated set.
pub fn of_log(path: &Path) -> Result<GcReport, Failure> {
    of_files(&[path.to_owned()])
}

fn of_files(files: &[PathBuf]) -> Result<GcReport, Failure> {
    let sets = find(files, false)?.sets;
    let [set] = sets.as_slice() else {
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).take(NAMED_MAX).collect();
        return Err(Failure::input(format!(
            "these are {} logs: {}\n  name one of them",
            sets.len(),
            names.join(", ")
        )));
    };
    let report = read_whole(set);
    is_log(&report, &set.name)?;
    Ok(report)
}

/// Mistakes that show before anything is read.
fn check(arguments: &GcReadArguments) -> Result<(), Failure> {
    if let Some(condition) = arguments.fail_if.iter().find(|c| c.is_of_change()) {
        let what =
            format!("`{condition}` is about a change, which takes two logs: assay gc diff BEFORE AFTER");
        return Err(Failure::input(what));
    }
    gate::check_files(&arguments.gate_files)?;
    [&arguments.html, &arguments.events].into_iter().flatten().try_for_each(|path| can_be_written(path))
}

fn read_all(arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
    match find(&arguments.logs, arguments.join)?.sets.as_slice() {
        [only] => read_one(only, arguments),
        sets => several::read(sets, arguments),
    }
}

fn read_one(set: &LogSet, arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
    let report = read_set(set, arguments)?;
    is_log(&report, &set.name)?;
    show(&report, &set.name, arguments)?;
    let cases: Vec<_> = arguments.fail_if.iter().map(|one| one.judge(&set.name, &report)).collect();
    gate::tell(&cases);
    let markdown = || format!("{}\n", assay_report::gc::document(&report, &set.name).markdown());
    gate::write_cases(&arguments.gate_files, (&set.name, None), &cases, &markdown)?;
    Ok(gate::exit_code(true, &cases))
}
