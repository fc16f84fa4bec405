//! `assay run` and `assay demo`: a study from its file to its report.

use crate::arguments::{DemoArguments, RunArguments};
use crate::failure::Failure;
use assay_model::StoredRun;
use std::path::Path;
use std::process::ExitCode;

pub fn demo(_: &DemoArguments) -> Result<ExitCode, Failure> {
    Err(Failure::internal("x"))
}
pub fn run(_: &RunArguments) -> Result<ExitCode, Failure> {
    Err(Failure::internal("x"))
}
pub fn load(_: &Path) -> Result<StoredRun, Failure> {
    Err(Failure::internal("x"))
}
