//! Differences of sizes that fit where they are stored.

/// Sizes from a file may be anything; no process has 2^63 bytes.
pub(super) fn bounded(bytes: u64) -> u64 {
    bytes.min(i64::MAX as u64)
}

pub(super) fn difference(before: u64, after: u64) -> i64 {
    bounded(after).cast_signed() - bounded(before).cast_signed()
}
