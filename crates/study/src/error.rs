//! The errors of a study, in the kinds for which the program has exit codes.

use assay_results::RunDirError;
use assay_text::redact::Redactor;
use std::fmt;
use std::path::PathBuf;

/// A mistake in a file, or something that is missing, with its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// File as the user named it.
    pub file: PathBuf,
    /// Line, counted from 1, where there is one.
    pub line: Option<usize>,
    /// The mistake, and a correct form.
    pub message: String,
    /// Whether the environment lacks something; otherwise the file is wrong.
    pub environment: bool,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.line {
            Some(line) => write!(f, "{file}:{line}: {}", self.message),
            None => write!(f, "{file}: {}", self.message),
        }
    }
}

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The study file or what it names is wrong: all mistakes that were found.
    #[error("{}", lines_of(.0))]
    Diagnostics(Vec<Diagnostic>),
    /// Wrong use: the user can correct it.
    #[error("{0}")]
    Use(String),
    /// The environment lacks something; the message names what adds it.
    #[error("{0}")]
    Environment(String),
    /// Another run is changing settings of this machine. Nothing was begun.
    #[error("{0}")]
    Busy(String),
    /// Every trial failed. Partial results are kept.
    #[error("every trial failed; partial results: {}\n{reason}", .dir.display())]
    NoTrial {
        /// The run directory.
        dir: PathBuf,
        /// Why, for each variant.
        reason: String,
    },
    /// The user stopped the run. Finished trials are kept.
    #[error("interrupted: {done} of {trials} launches are complete in {}; go on with --resume --out {}", .dir.display(), .dir.display())]
    Interrupted {
        /// The run directory.
        dir: PathBuf,
        /// Whole trials.
        done: usize,
        /// Planned trials.
        trials: usize,
    },
    /// An error of Assay itself.
    #[error("{0}")]
    Internal(String),
}

impl From<RunDirError> for StudyError {
    fn from(error: RunDirError) -> Self {
        match error {
            RunDirError::Use(text) => StudyError::Use(text),
            RunDirError::Environment(text) => StudyError::Environment(text),
            RunDirError::Internal(text) => StudyError::Internal(text),
        }
    }
}

impl StudyError {
    /// Settings of this machine could not be changed.
    pub(crate) fn of_changes(error: std::io::Error) -> StudyError {
        match error.kind() {
            std::io::ErrorKind::WouldBlock => StudyError::Busy(error.to_string()),
            _ => error.into(),
        }
    }

    /// The same without secrets, since it is printed and may be kept.
    pub(crate) fn redacted(self, redactor: &Redactor) -> StudyError {
        let clean = |text: String| redactor.text(&text).into_owned();
        match self {
            StudyError::Diagnostics(found) => {
                let clean = |d: Diagnostic| Diagnostic { message: clean(d.message), ..d };
                StudyError::Diagnostics(found.into_iter().map(clean).collect())
            }
            StudyError::Use(text) => StudyError::Use(clean(text)),
            StudyError::Environment(text) => StudyError::Environment(clean(text)),
            StudyError::Busy(text) => StudyError::Busy(clean(text)),
            StudyError::Internal(text) => StudyError::Internal(clean(text)),
            StudyError::NoTrial { dir, reason } => StudyError::NoTrial { dir, reason: clean(reason) },
            interrupted @ StudyError::Interrupted { .. } => interrupted,
        }
    }

    /// Whether the environment, not the user's input, is the cause.
    pub fn is_environment(&self) -> bool {
        match self {
            StudyError::Environment(_) | StudyError::Busy(_) | StudyError::NoTrial { .. } => true,
            StudyError::Diagnostics(list) => list.iter().all(|d| d.environment),
            _ => false,
        }
    }
}

/// A file could not be read or written.
impl From<std::io::Error> for StudyError {
    fn from(error: std::io::Error) -> Self {
        RunDirError::from(error).into()
    }
}

/// Mistakes that are listed: a file that is something else has one on each of its lines.
const LISTED_MAX: usize = 20;

fn lines_of(list: &[Diagnostic]) -> String {
    let mut lines: Vec<String> = list.iter().take(LISTED_MAX).map(Diagnostic::to_string).collect();
    match list.len().saturating_sub(LISTED_MAX) {
        0 => {}
        1 => lines.push("1 more mistake".to_owned()),
        more => lines.push(format!("{more} more mistakes")),
    }
    lines.join("\n")
}
