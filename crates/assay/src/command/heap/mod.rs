//! `assay heap`: what objects occupy in each reference mode, and which mode a heap size gets.

mod dump;
mod layout;
#[cfg(target_os = "linux")]
mod modes;
mod no_such_class;
mod objects;
mod predict;
#[cfg_attr(not(target_os = "linux"), path = "running_elsewhere.rs")]
mod running;

use crate::arguments::{HeapArguments, HeapCommand};
use crate::failure::Failure;
use std::process::ExitCode;

/// Does what was asked for.
pub fn heap(arguments: &HeapArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        HeapCommand::Predict(predict) => predict::predict(predict),
        HeapCommand::Layout(layout) => layout::layout(layout),
        #[cfg(target_os = "linux")]
        HeapCommand::Modes(modes) => modes::modes(modes),
    }
}
