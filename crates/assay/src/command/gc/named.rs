//! The logs that were named: found, and refused where they are none.

use crate::arguments::GcReadArguments;
use crate::failure::Failure;
use assay_gclog::input::{self, Found, InputError};
use assay_gcstudy::{AnalysisOptions, Requests};
use assay_model::GcReport;
use std::path::PathBuf;

/// Files that are named one after the other in a message; the rest is counted.
pub const NAMED_MAX: usize = 8;

/// Finds the sets, and says on standard error what was skipped and what lies beside.
pub fn find(logs: &[PathBuf], join: bool) -> Result<Found, Failure> {
    let found = input::find(logs, join)?;
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

/// How a log is read.
pub fn options(arguments: &GcReadArguments) -> AnalysisOptions {
    let total = arguments.requests.map(Requests::Total);
    AnalysisOptions {
        requests: total.or(arguments.requests_per_second.map(Requests::PerSecond)),
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
        None => "none of its first lines is of a known form".to_owned(),
    };
    Err(Failure::input(format!(
        "{name} is not a GC log: {why}\n  logs of -Xlog:gc*, of -XX:+PrintGCDetails (JDK 8) and of -verbose:gc (OpenJ9) are read"
    )))
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
