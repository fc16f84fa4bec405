//! `assay gc`: what GC logs say.

mod diff;
mod follow;
mod metrics_server;
mod named;
mod of_process;
mod shown;

use crate::arguments::{Format, GcArguments, GcCommand, GcReadArguments};
use crate::command::gate;
use crate::failure::Failure;
use crate::output;
use crate::output_file::{can_be_written, write_result};
use assay_gclog::input::{self, LogSet};
use assay_gcstudy::{Analysis, EventsTee};
use assay_model::GcReport;
use named::{NAMED_MAX, find, is_log, options};
use shown::{form, show};
use std::process::ExitCode;

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
    gate::check_files(&arguments.gate_files)?;
    [&arguments.html, &arguments.events].into_iter().flatten().try_for_each(|path| can_be_written(path))
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
    let (mut cases, mut is_bad, mut markdown) = (Vec::new(), false, String::new());
    for (index, set) in found.sets.iter().enumerate() {
        if index > 0 && matches!(form(arguments), Format::Table | Format::Md) {
            output::print(|out| writeln!(out))?;
        }
        let report = read_set(set, arguments)?;
        if let Err(failure) = is_log(&report, &set.name) {
            if is_one {
                return Err(failure);
            }
            say!("error: {}", failure.message);
            is_bad = true;
            continue;
        }
        show(&report, &set.name, arguments)?;
        cases.extend(arguments.fail_if.iter().map(|one| one.judge(&set.name, &report)));
        if arguments.gate_files.summary.is_some() {
            markdown += &format!("{}\n", assay_report::gc::document(&report, &set.name).markdown());
        }
    }
    gate::tell(&cases);
    let suite = found.sets.first().filter(|_| is_one).map_or("GC logs", |set| &set.name);
    let bad = is_bad.then(|| "not every file is a GC log".to_owned());
    gate::write_cases(&arguments.gate_files, (suite, bad), &cases, &|| markdown.clone())?;
    Ok(if is_bad { ExitCode::from(BAD_INPUT) } else { gate::exit_code(true, &cases) })
}

/// Reads a set, with `--events` into its file.
fn read_set(set: &LogSet, arguments: &GcReadArguments) -> Result<GcReport, Failure> {
    let mut analysis = Analysis::new(options(arguments));
    match &arguments.events {
        None => input::read_set(set, &mut analysis),
        Some(path) => write_result(path, |out| {
            let mut tee = EventsTee::new(&mut analysis, Some(out));
            input::read_set(set, &mut tee);
            tee.finish()
        })?,
    }
    Ok(analysis.report())
}
