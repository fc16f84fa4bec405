//! The logs that were named: found, and refused where they are none.

use super::of_process::logs_of;
use crate::arguments::GcReadArguments;
use crate::command::process::jvm_named;
use crate::command::what_file::{FileKind, kind_of, said_of};
use crate::failure::Failure;
use assay_gclog::input::{self, Found, InputError, STANDARD_INPUT};
use assay_gcstudy::{AnalysisOptions, Requests};
use assay_model::GcReport;
use assay_text::near::nearest;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files that are named one after the other in a message; the rest is counted.
pub const NAMED_MAX: usize = 8;

/// Finds the sets, and says on standard error what was skipped and what lies beside.
pub fn find(logs: &[PathBuf], join: bool) -> Result<Found, Failure> {
    let logs = of_processes(logs)?;
    for log in &logs {
        if let Some(said) = said_of(log).filter(|_| kind_of(log).is_some_and(is_never_a_log)) {
            return Err(Failure::input(format!("{} is not a GC log: {said}", log.display())));
        }
    }
    let found = input::find(&logs, join).map_err(|error| not_found(error, &logs))?;
    for problem in found.passed_over.iter().take(NAMED_MAX) {
        say!("skipped: {}: {}", problem.about, problem.text);
    }
    let more = found.passed_over.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        say!("skipped: {more} more");
    }
    if !found.beside.is_empty() {
        let names: Vec<String> =
            found.beside.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
        say!("note: not read, though named as if of the same log: {}", names.join(", "));
    }
    Ok(found)
}

/// What is not there: a misspelt command, a process that does not run, a file.
fn not_found(error: InputError, logs: &[PathBuf]) -> Failure {
    let said = error.to_string();
    let path = match error {
        InputError::Open { path, source } if source.kind() == ErrorKind::NotFound => path,
        error => return error.into(),
    };
    let first = logs.first().and_then(|log| log.to_str()).unwrap_or_default();
    if !Path::new(first).exists() && nearest(first, ["diff"]).is_some() {
        return Failure::input(format!("{said}\n  did you mean: assay gc diff BEFORE AFTER"));
    }
    let process = match may_name_a_process(Path::new(&path)) {
        true => format!("no running JVM has `{path}` in its name either; to list them: assay memory"),
        false => "of a running JVM: assay gc PID".to_owned(),
    };
    let new = "a new log: start the server with -Xlog:gc*:file=gc.log";
    Failure::input(format!("{said}\n  {process}\n  {new}"))
}

/// Kinds whose bytes no form of a log has. A log that was packed, or emptied while it was written, is binary, too.
fn is_never_a_log(kind: FileKind) -> bool {
    use FileKind::{HeapDump, PortableHeapDump, Program, Recording, Stored};
    matches!(kind, HeapDump | PortableHeapDump | Recording | Program | Stored(_))
}

/// Other text that JVMs write. Standard output of a server may begin with it and hold a log nevertheless.
fn is_of_jvm(kind: FileKind) -> bool {
    matches!(kind, FileKind::ThreadDump | FileKind::CrashLog | FileKind::Javacore)
}

/// The logs, with those of a process in place of its number or name.
fn of_processes(logs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut named = Vec::new();
    for log in logs {
        match process_of(log)? {
            Some(pid) => named.extend(logs_of(pid)?),
            None => named.push(log.clone()),
        }
    }
    Ok(named)
}

/// The process that is meant.
fn process_of(log: &Path) -> Result<Option<u32>, Failure> {
    match log.to_str().filter(|_| may_name_a_process(log)) {
        Some(name) => name.parse().map_or_else(|_| jvm_named(name), |pid| Ok(Some(pid))),
        None => Ok(None),
    }
}

/// A file of that name is a file, and what has folders in it is a path.
fn may_name_a_process(log: &Path) -> bool {
    log.as_os_str() != STANDARD_INPUT && log.components().count() == 1 && !log.exists()
}

/// The log to follow: of a process the file that it writes now.
pub fn followed(log: &Path) -> Result<PathBuf, Failure> {
    let Some(pid) = process_of(log)? else { return Ok(log.to_owned()) };
    let newest =
        logs_of(pid)?.into_iter().max_by_key(|file| file.metadata().and_then(|of| of.modified()).ok());
    newest.ok_or_else(|| Failure::internal(format!("JVM {pid} writes a log without a file")))
}

/// How a log is read.
pub fn options(arguments: &GcReadArguments) -> AnalysisOptions {
    let total = arguments.requests.map(Requests::Total);
    AnalysisOptions {
        requests: total.or(arguments.requests_per_second.map(Requests::PerSecond)),
        begins_later: arguments.from.is_some(),
        ..AnalysisOptions::default()
    }
}

/// Nothing of any known form in it is bad input, with what is known of it.
pub fn is_log(report: &GcReport, name: &str) -> Result<(), Failure> {
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
        None => match said_of(Path::new(name)).filter(|_| kind_of(Path::new(name)).is_some_and(is_of_jvm)) {
            Some(said) => return Err(Failure::input(format!("{name} is not a GC log: {said}"))),
            None => "it has neither a collection nor the lines on the collector that a JVM logs at its start"
                .to_owned(),
        },
    };
    Err(Failure::input(format!(
        "{name} is not a GC log: {why}\n  readable are logs of -Xlog:gc*, -XX:+PrintGCDetails (JDK 8) and \
            -verbose:gc (OpenJ9), and the lines of Elasticsearch, Cassandra and Hadoop about collections"
    )))
}

/// A wrong name is wrong use; a file that may not be read is the environment's.
impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match &error {
            InputError::Open { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
                Failure::environment(error.to_string())
            }
            _ => Failure::input(error.to_string()),
        }
    }
}
