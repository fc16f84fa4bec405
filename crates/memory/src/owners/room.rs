//! How much memory a search may take: what each block takes is given, and what is left is shared out.

/// For all that is kept of blocks and pointers. With what the rest of a snapshot takes it stays below 100 MiB.
const BYTES_MAX: usize = 80 << 20;
/// Each block takes a byte for its place and nearly one for its run, one for its owner, and some bits.
const BLOCK_BYTES: usize = 3;

/// Limits of what is kept; what is beyond is not followed, and a problem says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Bytes of each of the two graphs.
    pub(crate) graph_bytes: usize,
    /// Words of the Java heap for a second snapshot.
    pub(crate) kept_words: usize,
    /// Pointers into blocks, for later.
    pub(crate) postponed: usize,
}

impl Room {
    /// For so many blocks. Tracked ones take a byte more each.
    pub(crate) fn for_blocks(blocks: usize, is_tracked: bool) -> Room {
        let bytes = blocks.saturating_mul(BLOCK_BYTES + usize::from(is_tracked));
        let left = BYTES_MAX.saturating_sub(bytes);
        Room {
            graph_bytes: (left / 4).clamp(1 << 20, 12 << 20),
            // Of 16 bytes each, and of 8.
            kept_words: (left / 64).clamp(1 << 16, 1 << 20),
            postponed: (left / 64).clamp(1 << 16, 1 << 20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stays_within_the_limit() {
        for blocks in [0, 1_000_000, 5_000_000, 20_000_000] {
            for is_tracked in [false, true] {
                let room = Room::for_blocks(blocks, is_tracked);
                let of_blocks = blocks * (BLOCK_BYTES + usize::from(is_tracked));
                let bytes = of_blocks + 2 * room.graph_bytes + 16 * room.kept_words + 8 * room.postponed;
                assert!(bytes <= BYTES_MAX, "{blocks} {is_tracked}: {bytes}");
            }
        }
        let room = Room::for_blocks(1_000_000, true);
        assert_eq!((room.graph_bytes, room.kept_words), (12 << 20, 1 << 20));
    }
}
