//! Codes with which a WebSocket is closed (RFC 6455 section 7.4.1, and the registry of IANA).

/// A close frame without a code.
pub(crate) const NO_CODE: u32 = 1005;

const NAMES: [(u32, &str); 13] = [
    (1000, "normal closure"),
    (1001, "going away"),
    (1002, "protocol error"),
    (1003, "unsupported data"),
    (NO_CODE, "no code"),
    (1007, "invalid payload"),
    (1008, "policy violation"),
    (1009, "message too big"),
    (1010, "extension missing"),
    (1011, "internal error"),
    (1012, "service restart"),
    (1013, "try again later"),
    (1014, "bad gateway"),
];

/// What a code means; a server may have codes of its own.
pub(crate) fn name(code: u32) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

/// Whether a server ends with a code what is simply over.
pub(crate) fn is_orderly(code: u32) -> bool {
    matches!(code, 1000 | 1001 | NO_CODE)
}

/// What a code asks for.
pub(crate) fn fix(code: u32) -> Option<&'static str> {
    Some(match code {
        1008 => {
            "a rule of the server, such as a limit or a right that is missing, does not allow what was sent"
        }
        1011 => "it failed: see its log",
        1012 => "it restarted within the run",
        1013 => "it has more than it can do: offer less",
        _ => return None,
    })
}

/// What a close frame says: section 5.5.1.
pub(super) fn said(code: u32, reason: &[u8]) -> String {
    if code == NO_CODE {
        return "the server closed the WebSocket without a code".to_owned();
    }
    let reason: String = String::from_utf8_lossy(reason).chars().filter(|c| !c.is_control()).collect();
    let name = name(code).map(|name| format!(" ({name})")).unwrap_or_default();
    let said = if reason.is_empty() { String::new() } else { format!(", and says {reason:?}") };
    format!("the server closed the WebSocket with code {code}{name}{said}")
}
