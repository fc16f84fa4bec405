//! The result of a walk over an allocator, the same for all allocators.

use crate::Blocks;
use assay_model::{Allocator, ArenaFacts, Problem};
use std::ops::Range;

/// Beside the reason why the allocator could not be read.
pub(crate) const NO_PREDICTION: &str = "how much a trim would give back cannot be predicted";

/// The use of a memory range by its allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapKind {
    /// Grown by `brk`.
    Main,
    /// A heap of a secondary arena, or an extent.
    Secondary,
    /// One large block of its own mapping.
    Mapped,
    /// The allocator's own tables.
    Metadata,
}

/// A memory range that belongs to the allocator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapRange {
    /// Addresses.
    pub addresses: Range<u64>,
    /// Its use.
    pub kind: HeapKind,
}

/// One arena, with where its own structure lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arena {
    /// Address of the arena's structure.
    pub address: u64,
    /// Its figures; `freed_resident_bytes` and `trim_gain_bytes` are from the page map. glibc: freed bytes are those of
    /// whole chunks, headers included, as in its own `malloc_info`; bytes in use are what callers may use.
    pub facts: ArenaFacts,
}

/// The whole allocator of a process.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Absent when none was found.
    pub allocator: Option<Allocator>,
    /// Its version, where that is known.
    pub version: Option<String>,
    /// All memory that belongs to it, sorted, without overlap. Bytes in no block are the allocator's own overhead.
    pub ranges: Vec<HeapRange>,
    /// Blocks, sorted by address, without overlap, all inside `ranges`.
    pub blocks: Blocks,
    /// Arenas.
    pub arenas: Vec<Arena>,
    /// Parts of `ranges` that could not be walked: torn by a running thread, or not understood.
    pub not_walkable: Vec<Range<u64>>,
    /// How often a walk met what a running thread had changed meanwhile, and was taken back some blocks. glibc alone.
    pub retries: u64,
    /// Bytes that were read once more for that.
    pub read_again_bytes: u64,
    /// By how much the RSS falls if the process trims its heap now; absent when the allocator cannot, or it is not known.
    pub trim_gain_bytes: Option<u64>,
    /// Mappings that look like the allocator's but were not counted, checks that failed, and the like.
    pub problems: Vec<Problem>,
}

impl Survey {
    /// Whether there is an allocator of which not a single block is known: any memory without a name may be its.
    pub fn is_unread(&self) -> bool {
        self.allocator.is_some() && self.blocks.is_empty()
    }
}
