//! Whether an answer is right.

use crate::measured::ErrorKind;
use crate::protocol::Answer;
use crate::scenario::Operation;
use crate::tally::shortened;

/// Whether an answer is what its operation expects; if not, why.
pub(crate) fn checked<'a>(
    operation: &'a Operation,
    answer: &'a Answer,
) -> Result<(), (ErrorKind, impl FnOnce() -> String + use<'a>)> {
    let (status, body) = (answer.status, answer.body.as_slice());
    let kind = if !operation.expects(status) {
        ErrorKind::Status
    } else if operation.contains.as_ref().is_some_and(|text| text.find(body).is_none()) {
        ErrorKind::Content
    } else {
        return Ok(());
    };
    Err((kind, move || {
        let text =
            operation.contains.as_ref().map(|text| String::from_utf8_lossy(text.needle()).into_owned());
        match (kind, text) {
            (ErrorKind::Content, Some(text)) => {
                format!("answered {status} without {text:?}: {}", shortened(body))
            }
            _ if !answer.location.is_empty() => {
                let to = shortened(&answer.location);
                let more =
                    if operation.follow_redirects { "which leads too far" } else { "which is not followed" };
                format!("answered {status} to {to}, {more}")
            }
            _ if body.is_empty() => format!("answered {status}"),
            _ => format!("answered {status}: {}", shortened(body)),
        }
    }))
}
