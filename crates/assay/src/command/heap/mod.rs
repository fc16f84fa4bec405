//! `assay heap`: what objects weigh in each reference mode, and which mode a heap size gets.

mod dump;
mod layout;
mod modes;
mod predict;

use crate::arguments::{HeapArguments, HeapCommand};
use crate::failure::Failure;
use crate::output;
use assay_heap::predict::ClassNotFound;
use assay_report::{LeavesShown, TerminalView};
use std::process::ExitCode;

/// Does what was asked for.
pub fn heap(arguments: &HeapArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        HeapCommand::Predict(predict) => predict::predict(predict),
        HeapCommand::Layout(layout) => layout::layout(layout),
        HeapCommand::Modes(modes) => modes::modes(modes),
    }
}

/// The terminal that standard output is.
fn view() -> TerminalView {
    TerminalView { width: output::width(), color: output::is_coloured(), leaves: LeavesShown::All }
}

/// A class that is not there is wrong use; where it was looked for is said with it.
fn no_such_class(source: &str, error: &ClassNotFound) -> Failure {
    let hint = if error.near.is_empty() {
        "\n  write it as Java does, with its package: 'java.util.HashMap$Node' (in quotes: a shell reads $Node otherwise)"
    } else {
        ""
    };
    Failure::input(format!("{source}: {error}{hint}"))
}
