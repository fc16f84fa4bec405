//! What all forms of `assay heap` share.

use crate::failure::Failure;
use crate::output;
use assay_heap::predict::ClassNotFound;
use assay_report::{LeavesShown, TerminalView};

/// The terminal that standard output is.
pub(super) fn view() -> TerminalView {
    TerminalView { width: output::width(), color: output::is_coloured(), leaves: LeavesShown::All }
}

/// A class that is not there is wrong use; where it was looked for is said with it.
pub(super) fn no_such_class(source: &str, error: &ClassNotFound) -> Failure {
    let hint = if error.near.is_empty() {
        "\n  write it as Java does, with its package: 'java.util.HashMap$Node' (in quotes: a shell reads $Node otherwise)"
    } else {
        ""
    };
    Failure::input(format!("{source}: {error}{hint}"))
}
