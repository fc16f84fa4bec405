//! `assay heap`: what objects occupy in each reference mode, and which mode a heap size gets.

mod dump;
mod layout;
mod modes;
mod no_such_class;
mod predict;

use crate::arguments::{HeapArguments, HeapCommand};
use crate::failure::Failure;
use std::process::ExitCode;

/// Does what was asked for.
pub fn heap(arguments: &HeapArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        HeapCommand::Predict(predict) => predict::predict(predict),
        HeapCommand::Layout(layout) => layout::layout(layout),
        HeapCommand::Modes(modes) => modes::modes(modes),
    }
}
