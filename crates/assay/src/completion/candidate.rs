//! A value that a shell offers.

use clap_complete::CompletionCandidate;

/// With its help, where there is any.
pub(super) fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.to_owned().into()))
}
