//! Whether an answer is right.

use crate::measured::ErrorKind;
use crate::protocol::Answer;
use crate::tally::shortened;
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
    let shortened = |bytes: &[u8]| shortened(secrets.redacted(&String::from_utf8_lossy(bytes)).as_bytes());
    Err((kind, move || match fault {
        Fault::Without(text) => {
            format!("answered {status} without {:?}: {}", String::from_utf8_lossy(text), shortened(body))
        }
        Fault::Status if !answer.location.is_empty() => {
            let to = shortened(&answer.location);
            let more =
                if operation.follow_redirects { "which leads too far" } else { "which is not followed" };
            format!("answered {status} to {to}, {more}")
        }
        Fault::Status if body.is_empty() => format!("answered {status}"),
        Fault::Status => format!("answered {status}: {}", shortened(body)),
    }))
}
