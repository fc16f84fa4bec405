//! Whether an answer is right.

use crate::measured::ErrorKind;
use crate::protocol::Answer;
use crate::quote;
use assay_scenario::{Fault, Operation, Secrets};

/// Whether an answer is what its operation expects; if not, why.
pub(crate) fn checked<'a>(
    operation: &'a Operation,
    answer: &'a Answer,
    secrets: &'a Secrets,
) -> Result<(), (ErrorKind, impl FnOnce() -> String + use<'a>)> {
    let (status, body) = (answer.status, answer.body.as_slice());
    let Err(fault) = operation.check(status, body) else { return Ok(()) };
    let kind = match fault {
        Fault::Status => ErrorKind::Status,
        Fault::Without(_) => ErrorKind::Content,
    };
    // A server may answer with what it was sent; what is cut off could not be recognized any more.
    let shown = |bytes: &[u8]| secrets.redacted(&String::from_utf8_lossy(bytes)).into_owned();
    let start_of = move |bytes: &[u8]| quote::start_of(shown(bytes).as_bytes());
    Err((kind, move || match fault {
        Fault::Without(text) => {
            let instead = quote::instead_of(text, shown(body).as_bytes());
            format!("answered {status} without {:?}: {instead}", String::from_utf8_lossy(text))
        }
        Fault::Status if !answer.location.is_empty() => {
            let to = start_of(&answer.location);
            let more =
                if operation.follow_redirects { "which leads too far" } else { "which is not followed" };
            format!("answered {status} to {to}, {more}")
        }
        Fault::Status if body.is_empty() => format!("answered {status}"),
        Fault::Status => format!("answered {status}: {}", start_of(body)),
    }))
}
