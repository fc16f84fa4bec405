//! Several logs: read on all processors, printed in their order, or as a table with the worst first.

use super::named::{NAMED_MAX, is_log};
use super::read::read_set;
use super::shown::form;
use crate::arguments::{Format, GcReadArguments};
use crate::command::gate;
use crate::failure::Failure;
use crate::forms::{Described, GcLog};
use crate::output;
use assay_gclog::input::LogSet;
use assay_model::{GateCase, GcReport};
use assay_report::Data;
use assay_report::gc::{LogRow, log_row, several};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Exit code for wrong use or bad input, where there was also something to print.
const BAD_INPUT: u8 = 2;
/// Reports that are held at once, for each processor.
const HELD_FOR_EACH: usize = 4;

/// What is to be said of all of them.
#[derive(Default)]
struct All {
    rows: Vec<LogRow>,
    data: Option<Data>,
    cases: Vec<GateCase>,
    is_bad: bool,
}

/// Reads them all.
pub fn read(sets: &[LogSet], arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
    if arguments.html.is_some() || arguments.events.is_some() {
        let names: Vec<&str> = sets.iter().map(|s| s.name.as_str()).take(NAMED_MAX).collect();
        return Err(Failure::input(format!(
            "--html and --events are about one log, and these are {}: {}\n  name one, or read them as one with --join",
            sets.len(),
            names.join(", ")
        )));
    }
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut all = All::default();
    for sets in sets.chunks(threads * HELD_FOR_EACH) {
        for (set, report) in sets.iter().zip(at_once(sets, threads, arguments)) {
            all.take(set, &report?, arguments)?;
        }
    }
    all.end(arguments)
}

/// The reports of these logs, in their order.
fn at_once(sets: &[LogSet], threads: usize, arguments: &GcReadArguments) -> Vec<Result<GcReport, Failure>> {
    let next = AtomicUsize::new(0);
    let read = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.min(sets.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(set) = sets.get(at) else { break };
                    let report = read_set(set, arguments);
                    if let Ok(mut read) = read.lock() {
                        read.push((at, report));
                    }
                }
            });
        }
    });
    let mut read = read.into_inner().unwrap_or_default();
    read.sort_by_key(|(at, _)| *at);
    read.into_iter().map(|(_, report)| report).collect()
}

impl All {
    fn take(&mut self, set: &LogSet, report: &GcReport, arguments: &GcReadArguments) -> Result<(), Failure> {
        if let Err(failure) = is_log(report, &set.name) {
            say!("error: {}", failure.message);
            self.is_bad = true;
            return Ok(());
        }
        self.cases.extend(arguments.fail_if.iter().map(|one| one.judge(&set.name, report)));
        self.rows.push(log_row(report, &set.name));
        let log = GcLog { report, name: &set.name };
        match form(arguments).format {
            Format::Table | Format::Md => Ok(()),
            Format::Json => output::print(|out| {
                serde_json::to_writer(&mut *out, report)?;
                writeln!(out)
            }),
            Format::Ndjson => {
                output::note(&report.problems);
                output::print(|out| log.data().write_json_lines(out))
            }
            Format::Csv => {
                output::note(&report.problems);
                let data = log.data().with_about();
                match &mut self.data {
                    Some(all) => all.rows.extend(data.rows),
                    None => self.data = Some(data),
                }
                Ok(())
            }
        }
    }

    fn end(self, arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
        let markdown = || several(self.rows.clone()).markdown();
        if let Some(data) = &self.data {
            output::print(|out| data.write_csv(out))?;
        }
        match form(arguments).format {
            Format::Table if !self.rows.is_empty() => {
                let text = several(self.rows.clone()).terminal(output::view(form(arguments).extent));
                output::print_text(&text)?;
            }
            Format::Md if !self.rows.is_empty() => output::print_text(&markdown())?,
            _ => {}
        }
        gate::tell(&self.cases);
        let bad = self.is_bad.then(|| "not every file is a GC log".to_owned());
        gate::write_cases(&arguments.gate_files, ("GC logs", bad), &self.cases, &markdown)?;
        Ok(if self.is_bad { ExitCode::from(BAD_INPUT) } else { gate::exit_code(true, &self.cases) })
    }
}
