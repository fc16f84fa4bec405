//! Why requests fail.

use assay_model::LoadErrorKind;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// No connection could be opened.
    Connect,
    /// No whole answer within the time limit, which counts from getting a connection; or none by the end of draining.
    Timeout,
    /// Too many requests in flight already.
    OverBound,
    /// A status that the scenario does not expect.
    Status,
    /// The expected text is not in the body.
    Content,
    /// No HTTP answer, or the connection closed within it.
    Broken,
}

impl ErrorKind {
    /// Every kind, in the order of `errors_by_kind`.
    pub const ALL: [ErrorKind; 6] = [
        ErrorKind::Connect,
        ErrorKind::Timeout,
        ErrorKind::OverBound,
        ErrorKind::Status,
        ErrorKind::Content,
        ErrorKind::Broken,
    ];

    /// Name in messages.
    pub fn name(self) -> &'static str {
        self.stored().word()
    }

    /// The word of stored forms.
    pub(crate) fn stored(self) -> LoadErrorKind {
        match self {
            ErrorKind::Connect => LoadErrorKind::Connect,
            ErrorKind::Timeout => LoadErrorKind::Timeout,
            ErrorKind::OverBound => LoadErrorKind::OverBound,
            ErrorKind::Status => LoadErrorKind::Status,
            ErrorKind::Content => LoadErrorKind::Content,
            ErrorKind::Broken => LoadErrorKind::Broken,
        }
    }
}
