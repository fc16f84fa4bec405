//! The observed sizes of a part, and rounding.

const MIB: u64 = 1 << 20;

/// The sizes of one part over all snapshots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observed {
    pub(super) now_bytes: u64,
    pub(super) peak_bytes: u64,
}

/// To a whole MiB; the largest one that a number can hold stays below.
pub(super) fn round_up(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(MIB).unwrap_or(u64::MAX - (MIB - 1))
}
