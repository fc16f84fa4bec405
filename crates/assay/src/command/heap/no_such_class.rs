//! A class that was named and is not there.

use crate::failure::Failure;
use assay_heap::predict::ClassNotFound;

/// A class that is not there is wrong use; where it was looked for is said with it.
pub(super) fn no_such_class(source: &str, error: &ClassNotFound) -> Failure {
    let hint = if error.near.is_empty() {
        "\n  write it as Java does, with its package: 'java.util.HashMap$Node' (in quotes: a shell reads $Node otherwise)"
    } else {
        ""
    };
    Failure::input(format!("{source}: {error}{hint}"))
}
