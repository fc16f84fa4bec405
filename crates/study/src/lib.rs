//! The runner: from a study file to a run directory.
#![allow(dead_code)]
mod checked;
mod document;
mod error;
mod placeholders;
mod reference_mode;
mod study_file;
mod units;
mod variant;
mod workload;
pub use checked::Checked;
pub use error::{Diagnostic, StudyError};
pub use study_file::{StudyFile, study_schema};
