//! The code cache: its heaps, and the blobs in them.

mod blobs;
mod heaps;

use assay_model::FigureSource;
use std::ops::Range;
use std::sync::Arc;

/// Kind of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKind {
    /// A compiled method.
    Method,
    /// The wrapper of a native method.
    NativeMethod,
    /// Adapters between calling conventions, and method handle intrinsics.
    Adapter,
    /// The JVM's own stubs: runtime, deoptimisation, exceptions, safepoints.
    Stub,
    /// A compiler's work buffer.
    Buffer,
}

/// A blob that is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlob {
    /// Addresses, the heap's own block header included.
    pub addresses: Range<u64>,
    /// Its kind.
    pub kind: BlobKind,
    /// Where the parts of it begin that the JVM allocates with malloc: oop maps, exception cache, and since JDK 23
    /// relocations, metadata and debug information. Where native memory tracking is on, its header lies before them.
    pub malloc_parts: Vec<u64>,
    /// The JVM's name of it: `nmethod`, `I2C/C2I adapters`, `StubRoutines (1)`...; not more than 64 bytes of it.
    pub name: Arc<str>,
}

/// A heap of the code cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeHeap {
    /// `non-nmethods`, `profiled nmethods`, `non-profiled nmethods`, or `CodeCache` when it is not segmented.
    pub name: String,
    /// Reserved addresses.
    pub reserved: Range<u64>,
    /// Committed part.
    pub committed: Range<u64>,
    /// Its segment map, which is outside of it.
    pub segment_map: Range<u64>,
    /// Blobs in use, sorted by address; the memory between them is free.
    pub blobs: Vec<CodeBlob>,
    /// Bytes in blocks in use, their headers included: what `jcmd Compiler.codecache` calls used.
    pub used_bytes: u64,
    /// End of what was ever handed out; from here to the end of `committed` nothing was.
    pub frontier: u64,
}

/// The code cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCache {
    /// Its heaps.
    pub heaps: Vec<CodeHeap>,
    /// How they were found.
    pub known_from: FigureSource,
}
