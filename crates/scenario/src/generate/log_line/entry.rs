//! A request of an access log.

/// A request, as a line says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::generate) struct Entry {
    /// Since 1970, ns.
    pub time_ns: i128,
    /// The time says no part of its second.
    pub is_whole_second: bool,
    pub method: String,
    /// Path with query.
    pub target: String,
    pub status: Option<u16>,
}
