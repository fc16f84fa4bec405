//! The runner: from a study file to a run directory.
#![allow(dead_code)]
mod checked;
mod document;
mod error;
mod http;
mod jvm_choice;
mod placeholders;
mod plan;
mod prepare;
mod process;
mod reference_mode;
mod run_dir;
mod runtime_folder;
mod server_log;
mod study_file;
mod summary;
mod units;
mod variant;
mod workload;
pub use checked::Checked;
pub use error::{Diagnostic, StudyError};
pub use run_dir::load_run;
pub use study_file::{StudyFile, study_schema};
