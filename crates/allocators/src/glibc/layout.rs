//! Where glibc keeps what in its structures, for pointers of 8 and 4 bytes.
//!
//! Which layout holds is decided by validation, never by a version number: distributions port changes back. A layout is
//! right if the ring of arenas closes and the bins' list heads agree with each other (see [`super::arena`]).

/// Lowest bit of a chunk's size: the chunk before it is in use.
pub(crate) const PREV_INUSE: u64 = 1;
/// The chunk is a mapping of its own.
pub(crate) const IS_MMAPPED: u64 = 2;
/// The flags in a chunk's size.
pub(crate) const FLAGS: u64 = 7;
/// List heads in `malloc_state`: the unsorted bin, 62 small and 64 large ones.
pub(crate) const BINS: u64 = 127;
/// Entries of `bins`: forward and backward pointer of each bin.
const BIN_WORDS: u64 = 2 * BINS;
/// `binmap`: 128 bits.
const BINMAP_BYTES: u64 = 16;

/// What follows from the size of a pointer and from the alignment that malloc promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of a pointer, and of `size_t`.
    pub word: u64,
    /// `MALLOC_ALIGNMENT`: 16 on x86-64 and (since 2.26) on i386; 8 on other 32-bit machines.
    pub align: u64,
}

impl Sizes {
    /// The header of a chunk: size of the chunk before it, own size.
    pub(crate) fn header(self) -> u64 {
        2 * self.word
    }

    /// The smallest chunk: header, and two links when it is free.
    pub(crate) fn chunk_min(self) -> u64 {
        4 * self.word
    }

    /// `sizeof (struct malloc_chunk)`: what `malloc_trim` leaves alone at the head of a free chunk.
    pub(crate) fn chunk_struct(self) -> u64 {
        6 * self.word
    }

    /// The size of the chunk that `malloc(bytes)` takes.
    pub(crate) fn chunk_for(self, bytes: u64) -> u64 {
        let padded = bytes.saturating_add(self.word + self.align - 1) & !(self.align - 1);
        padded.max(self.chunk_min())
    }

    /// The first address from `at` on where a chunk may begin: the memory that it hands out is aligned, not the chunk.
    pub(crate) fn first_chunk(self, at: u64) -> Option<u64> {
        at.checked_add(self.header())?.checked_next_multiple_of(self.align).map(|user| user - self.header())
    }

    /// `heap_info.size` and what lies behind it: how far apart the heaps of secondary arenas are aligned
    /// (`HEAP_MAX_SIZE`; larger where `glibc.malloc.hugetlb` gives them huge pages).
    pub(crate) fn heap_spans(self) -> &'static [u64] {
        if self.word == 8 {
            &[64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30, 2 << 30, 4 << 30]
        } else {
            &[1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20]
        }
    }
}

/// Where the fields of `malloc_state` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateLayout {
    /// Offset of `fastbinsY`.
    pub fast: u64,
    /// Its entries; 0 since fast bins are gone (after 2.42).
    pub fast_bins: u64,
    /// Offset of `bins`.
    pub bins: u64,
    /// Bytes of a pointer.
    pub word: u64,
}

impl StateLayout {
    /// The layouts that have been, the newest common one first.
    ///
    /// Before `fastbinsY` are `mutex` and `flags`, and since 2.27 `have_fastchunks`, all of 4 bytes.
    /// `fastbinsY` has 10 entries, 11 on i386, whose chunks are aligned to four pointers.
    pub(crate) fn candidates(word: u64) -> Vec<StateLayout> {
        let state = |fast: u64, fast_bins: u64| StateLayout {
            fast,
            fast_bins,
            bins: fast + (fast_bins + 2) * word,
            word,
        };
        if word == 8 {
            vec![state(16, 10), state(8, 10), state(8, 0)]
        } else {
            vec![state(12, 11), state(12, 10), state(8, 11), state(8, 10), state(8, 0)]
        }
    }

    /// Offset of `top`.
    pub(crate) fn top(self) -> u64 {
        self.bins - 2 * self.word
    }

    /// Offset of `next`, which closes the ring of arenas.
    pub(crate) fn next(self) -> u64 {
        self.bins + BIN_WORDS * self.word + BINMAP_BYTES
    }

    /// Offset of `system_mem`, behind `next`, `next_free` and `attached_threads`.
    pub(crate) fn system_mem(self) -> u64 {
        self.next() + 3 * self.word
    }

    /// Size of the structure: `max_system_mem` is last.
    pub(crate) fn bytes(self) -> u64 {
        self.next() + 5 * self.word
    }

    /// What both pointers of an empty bin hold, for an arena at an address.
    pub(crate) fn empty_bin(self, arena: u64, bin: u64) -> u64 {
        (arena + self.bins + bin * 2 * self.word).wrapping_sub(2 * self.word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets of glibc 2.36's debug information (`ptype /o struct malloc_state`, x86-64).
    #[test]
    fn offsets_are_those_of_the_debug_information() {
        let state = StateLayout::candidates(8)[0];
        assert_eq!((state.fast, state.top(), state.bins), (16, 96, 112));
        assert_eq!((state.next(), state.system_mem(), state.bytes()), (2160, 2184, 2200));
    }

    #[test]
    fn chunks_are_as_large_as_malloc_makes_them() {
        let (long, i386) = (Sizes { word: 8, align: 16 }, Sizes { word: 4, align: 16 });
        assert_eq!([0, 24, 25, 640].map(|b| long.chunk_for(b)), [0x20, 0x20, 0x30, 0x290]);
        assert_eq!([0, 12, 13, 384].map(|b| i386.chunk_for(b)), [0x10, 0x10, 0x20, 0x190]);
        assert_eq!((long.first_chunk(0x1000), long.first_chunk(0x8c8)), (Some(0x1000), Some(0x8d0)));
        assert_eq!(i386.first_chunk(0x1000), Some(0x1008));
    }
}
