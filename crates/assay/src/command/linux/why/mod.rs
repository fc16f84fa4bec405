//! `assay why`: what is wrong with a process or in a file, by every reader that can say.

mod file;
mod next;
mod process;
mod ranked;

use crate::arguments::{ProcessName, WhyArguments};
use crate::command::process::pid_of;
use crate::failure::{Failure, Kind};
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use std::path::Path;
use std::process::ExitCode;

/// No reader could answer.
const NO_ANSWER: u8 = 3;

/// Asks every reader, and shows what they found, the costliest first.
pub fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let report = match subject_of(&arguments.subject)? {
        Subject::Process(pid) => process::ask(pid, arguments.duration)?,
        Subject::File(path) => file::ask(path)?,
    };
    show_as_asked(&report, &arguments.format, arguments.html.as_deref())?;
    let has_answer =
        report.memory.is_some() || report.gc.is_some() || report.time.is_some() || report.host.is_some();
    Ok(if has_answer { ExitCode::SUCCESS } else { ExitCode::from(NO_ANSWER) })
}

/// What was asked about.
enum Subject<'a> {
    Process(u32),
    File(&'a Path),
}

/// A number is a PID; a name is a file if there is one, else a program's.
fn subject_of(named: &Path) -> Result<Subject<'_>, Failure> {
    let text = named.to_str().unwrap_or_default();
    if let Some(pid) = text.parse().ok().filter(|pid| 0 < *pid) {
        return Ok(Subject::Process(pid));
    }
    if named.exists() {
        return Ok(Subject::File(named));
    }
    if named.components().count() != 1 {
        return Err(Failure::input(format!("there is no file {}", named.display())));
    }
    pid_of(&ProcessName::Program(text.to_owned())).map(Subject::Process).map_err(|failure| {
        match failure.kind {
            Kind::Input => {
                Failure::input(format!("{}\n  and there is no file of that name", failure.message))
            }
            _ => failure,
        }
    })
}
