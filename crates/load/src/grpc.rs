//! What an answer of gRPC says of itself: the status, which stands behind its message.

/// Names of the statuses, by code.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];
/// Longest message of a status that is kept, bytes.
const MESSAGE_BYTES_MAX: usize = 1024;
/// Longest name of an encoding that is kept, bytes.
const ENCODING_BYTES_MAX: usize = 64;

/// A status of gRPC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GrpcStatus {
    /// 0 where all went well; absent where the answer says nothing of it.
    pub code: Option<u16>,
    message: Vec<u8>,
    /// How its message is compressed, where it is; empty where the answer does not say it.
    pub encoding: Vec<u8>,
}

impl GrpcStatus {
    /// Nothing was said yet.
    pub fn clear(&mut self) {
        self.code = None;
        self.message.clear();
        self.encoding.clear();
    }

    /// A header came, before the body or behind it.
    pub fn header(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"grpc-status" => {
                let code = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
                // Codes that nobody knows count as UNKNOWN.
                self.code = Some(code.filter(|code| usize::from(*code) < NAMES.len()).unwrap_or(2));
            }
            b"grpc-message" => {
                self.message.clear();
                self.message.extend_from_slice(&value[..value.len().min(MESSAGE_BYTES_MAX)]);
            }
            b"grpc-encoding" => {
                self.encoding.clear();
                self.encoding.extend_from_slice(&value[..value.len().min(ENCODING_BYTES_MAX)]);
            }
            _ => (),
        }
    }

    /// What the server says of an error: percent-encoded, as it comes.
    pub fn message(&self) -> String {
        let mut text = Vec::new();
        let mut rest = self.message.as_slice();
        while let Some((byte, more)) = rest.split_first() {
            let encoded = more.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            let decoded = encoded.and_then(|hex| u8::from_str_radix(hex, 16).ok());
            match decoded.filter(|_| *byte == b'%') {
                Some(decoded) => {
                    text.push(decoded);
                    rest = &more[2..];
                }
                None => {
                    text.push(*byte);
                    rest = more;
                }
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// The name of a status.
pub(crate) fn name(code: u16) -> Option<&'static str> {
    NAMES.get(usize::from(code)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_a_name_and_a_message_in_plain_text() {
        let mut status = GrpcStatus::default();
        status.header(b"grpc-status", b"5");
        status.header(b"grpc-message", b"no order 7%2F8: 100% %C3%A9");
        assert_eq!((status.code, name(5)), (Some(5), Some("NOT_FOUND")));
        assert_eq!(status.message(), "no order 7/8: 100% é");
        status.clear();
        assert_eq!(status, GrpcStatus::default());
    }

    #[test]
    fn a_code_that_is_none_is_unknown() {
        for code in ["17", "-1", "none", ""] {
            let mut status = GrpcStatus::default();
            status.header(b"grpc-status", code.as_bytes());
            assert_eq!(status.code.and_then(name), Some("UNKNOWN"), "{code:?}");
        }
    }
}
