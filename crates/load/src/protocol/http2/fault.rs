//! What a server can do wrong, and the codes by which both sides name it (RFC 9113 section 7).

use crate::protocol::Failure;

/// Why bytes are not HTTP/2, or not what is allowed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the server answers with HTTP/1.1: it does not speak HTTP/2 at this port, or only over TLS")]
    Http1,
    #[error("the server does not begin with SETTINGS: it does not speak HTTP/2")]
    Preface,
    #[error("a frame is longer than 16 KiB")]
    FrameTooLong,
    #[error("a frame of the wrong length")]
    FrameLength,
    #[error("padding that is longer than its frame")]
    Padding,
    #[error("a frame for a stream that was not opened")]
    Stream,
    #[error("a header block that other frames interrupt")]
    Interrupted,
    #[error("head longer than 64 KiB, or 1 MiB uncompressed")]
    HeadTooLong,
    #[error("a header block that cannot be decompressed")]
    Compression,
    #[error("a setting out of its range")]
    Setting,
    #[error("more bytes than the window allows")]
    Window,
    #[error("a window beyond 2 GiB, or widened by nothing")]
    WindowUpdate,
    #[error("a pushed answer, which was refused beforehand")]
    Push,
    #[error("too many PING and SETTINGS, whose acknowledgments it does not read")]
    Flood,
    #[error("no memory")]
    Memory,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Protocol(fault.to_string().into())
    }
}

/// Code 7: the server did nothing with the request.
pub(super) const REFUSED_STREAM: u32 = 7;
pub(crate) const NO_ERROR: u32 = 0;
pub(super) const PROTOCOL_ERROR: u32 = 1;
pub(super) const CANCEL: u32 = 8;

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// The name of an error code.
pub(crate) fn name(code: u32) -> &'static str {
    usize::try_from(code).ok().and_then(|at| NAMES.get(at)).copied().unwrap_or("an unknown code")
}
