//! Arenas of the JIT compilers and of the JVM, recognised among malloc blocks: chunks, arena objects, and the pool in which
//! the JVM keeps chunks for the next time.
//!
//! An arena is a chain of chunks, each a malloc block of its own that begins with a header: next chunk, length of what
//! follows, and since JDK 24 a stamp. All addresses here are those of chunks as the JVM sees them: where native memory
//! tracking is on, its header lies before them.

use crate::{Hotspot, Symbols};
use assay_linux::MemorySource;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// The smallest chunk that the JVM makes holds 216 bytes, 108 on 32-bit JVMs.
const LENGTH_BYTES_MIN: u64 = 96;
/// No chunk is larger: an arena that needs this much has long ended the process.
const LENGTH_BYTES_MAX: u64 = 16 << 30;
/// Bytes that allocators leave behind a request that is not a whole size class.
const ROUNDING_BYTES_MAX: u64 = 64;
/// Chunks that idle in the pools: the JVM frees them after five seconds.
const POOLED_MAX: usize = 1 << 18;
/// Pools of chunks of one size: four.
const POOLS_MAX: u64 = 16;
/// Sizes of their chunks: 216 bytes to 32 KiB on 64-bit JVMs.
const POOL_BYTES: RangeInclusive<u64> = 96..=32 << 10;
const TAGS_MAX: u64 = 64;
const TAG_NAME_BYTES_MAX: usize = 64;
const PROBLEM: &str = "arenas";

/// JDK 21 and later: a table of pools, each the first chunk and the size.
const POOLS: &str = "_ZN9ChunkPool6_poolsE";
/// Before: pointers to pools, each first chunk, number, number in use, size. The size of JDK 8 to 16 includes the chunk's header.
const POOL_POINTERS: [&str; 4] = [
    "_ZN9ChunkPool11_large_poolE",
    "_ZN9ChunkPool12_medium_poolE",
    "_ZN9ChunkPool11_small_poolE",
    "_ZN9ChunkPool10_tiny_poolE",
];
const TAG_NAMES: &str = "_ZN5Arena8tag_nameE";

/// A chunk of an arena: a malloc block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArenaChunk {
    /// Where its header is.
    pub address: u64,
    /// The next chunk of the same arena, or 0.
    pub next: u64,
    /// What can be allocated in it.
    pub bytes: u64,
    /// Its header, which is before that.
    pub header_bytes: u64,
}

impl ArenaChunk {
    /// The end of what can be allocated in it.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.header_bytes).saturating_add(self.bytes)
    }
}

/// An `Arena` object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaObject {
    /// Where it is.
    pub address: u64,
    /// Its first chunk.
    pub first: u64,
    /// The chunk in which it allocates.
    pub chunk: u64,
    /// Next free byte in that chunk.
    pub hwm: u64,
    /// End of that chunk.
    pub max: u64,
    /// Bytes of all its chunks, by its own count.
    pub bytes: u64,
    /// Index of its tag in [`crate::Nmt::tags`].
    pub memory_tag: u8,
    /// What a compiler uses it for (JDK 24 and later), as the JVM spells it: `node`, `ra`, `comp`...
    pub tag: Option<String>,
}

/// What is needed to recognise arenas.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arenas {
    pooled: Vec<u64>,
    word_bytes: u64,
    /// Sizes of a chunk's header that are tried.
    header_sizes: Vec<u64>,
    /// Layouts of an arena object that are tried.
    layouts: Vec<Layout>,
    tags: Vec<String>,
}

/// Where an arena object has its fields. The tag of its memory is its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    bytes: u64,
    first: u64,
    chunk: u64,
    hwm: u64,
    max: u64,
    tag: Option<u64>,
}

impl Layout {
    /// JDK 8 to 21: memory tag, first, chunk, hwm, max, bytes.
    fn old(word: u64) -> Layout {
        Layout { first: word, chunk: 2 * word, hwm: 3 * word, max: 4 * word, bytes: 5 * word, tag: None }
    }

    /// JDK 24 and later: memory tag, tag, bytes, first, chunk, hwm, max.
    fn new(word: u64) -> Layout {
        Layout { bytes: word, first: 2 * word, chunk: 3 * word, hwm: 4 * word, max: 5 * word, tag: Some(1) }
    }
}

impl Hotspot<'_> {
    /// What is needed to recognise arenas, and the chunks that idle in the JVM's pool at the moment.
    pub fn arenas(&self) -> Arenas {
        let word_bytes = self.symbols().word_bytes();
        let pack_header = self.pack().and_then(|pack| pack.size_of("Chunk"));
        let pack_layout = self.pack().and_then(|pack| {
            let at = |field| pack.offset("Arena", field);
            Some(Layout {
                bytes: at("_size_in_bytes")?,
                first: at("_first")?,
                chunk: at("_chunk")?,
                hwm: at("_hwm")?,
                max: at("_max")?,
                tag: at("_tag"),
            })
        });
        let with_stamp = (3 * word_bytes).next_multiple_of(8);
        let mut arenas = Arenas {
            word_bytes,
            header_sizes: pack_header.map_or_else(|| vec![2 * word_bytes, with_stamp], |bytes| vec![bytes]),
            layouts: pack_layout
                .map_or_else(|| vec![Layout::new(word_bytes), Layout::old(word_bytes)], |l| vec![l]),
            tags: tag_names(self.symbols(), self.source()),
            ..Arenas::default()
        };
        let mut pools = arenas.pools(self.symbols(), self.source());
        if pools.is_empty() {
            pools = self.found_among_words(1, |words| arenas.pool_at(self.source(), *words.first()?));
            pools.sort_unstable();
            pools.dedup();
        }
        for (first, length) in &pools {
            arenas.read_pool(self.source(), *first, *length);
        }
        if pools.is_empty() {
            self.problem(
                PROBLEM,
                "libjvm has no symbol of the pools: idle chunks in them cannot be distinguished",
            );
        }
        arenas
    }
}

fn tag_names(symbols: &Symbols, source: &dyn MemorySource) -> Vec<String> {
    let Some(at) = symbols.address(TAG_NAMES) else { return Vec::new() };
    let tags = symbols.size_at(at).unwrap_or(0) / symbols.word_bytes();
    let name = |tag: u64| {
        let text = symbols.word(source, at.checked_add(tag * symbols.word_bytes())?)?;
        symbols.c_string(source, text, TAG_NAME_BYTES_MAX)
    };
    (0..tags.min(TAGS_MAX)).map(|tag| name(tag).unwrap_or_else(|| format!("tag {tag}"))).collect()
}

impl Arenas {
    /// Chunks that idle in the JVM's pools, of any size: their addresses.
    pub fn pooled(&self) -> &[u64] {
        &self.pooled
    }

    /// Names of the tags of compilers' arenas, where the release has them.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Pools by their symbols: the first chunk of each, and the size of its chunks.
    fn pools(&self, symbols: &Symbols, source: &dyn MemorySource) -> Vec<(u64, u64)> {
        let word = self.word_bytes;
        let mut pools = Vec::new();
        if let Some(table) = symbols.address(POOLS) {
            let count = symbols.size_at(table).unwrap_or(0) / (2 * word);
            for at in (0..count.min(POOLS_MAX)).filter_map(|i| table.checked_add(i * 2 * word)) {
                pools.extend(symbols.word(source, at).zip(symbols.word(source, at.saturating_add(word))));
            }
        } else {
            for pointer in POOL_POINTERS.iter().filter_map(|name| symbols.address(name)) {
                let Some(pool) = symbols.word(source, pointer).filter(|pool| *pool != 0) else { continue };
                pools.extend(source.word(pool).zip(source.word(pool.saturating_add(3 * word))));
            }
        }
        pools
    }

    /// The pool at an address, if there is one of JDK 8 to 20: it has as many chunks as it counts, all of its size.
    fn pool_at(&self, source: &dyn MemorySource, address: u64) -> Option<(u64, u64)> {
        if address == 0 || !address.is_multiple_of(self.word_bytes.max(1)) {
            return None;
        }
        let word = |i: u64| source.word(address.checked_add(i * self.word_bytes)?);
        let (first, count, size) = (word(0)?, word(1)?, word(3)?);
        if first == 0 || count == 0 || POOLED_MAX as u64 <= count || !POOL_BYTES.contains(&size) {
            return None;
        }
        let chunks = self.chunks_of_pool(source, first, size, count as usize + 1);
        (chunks.len() as u64 == count).then_some((first, size))
    }

    fn read_pool(&mut self, source: &dyn MemorySource, first: u64, size: u64) {
        let room = POOLED_MAX.saturating_sub(self.pooled.len());
        let chunks = self.chunks_of_pool(source, first, size, room);
        self.pooled.extend(chunks);
    }

    /// Chunks from a pool's first on, as far as they are of its size.
    fn chunks_of_pool(&self, source: &dyn MemorySource, first: u64, size: u64, most: usize) -> Vec<u64> {
        let is_size = |bytes: u64| {
            let with_header = |header: &u64| bytes.checked_add(*header) == Some(size);
            bytes == size || self.header_sizes.iter().any(with_header)
        };
        let (mut seen, mut chunks) = (HashSet::new(), Vec::new());
        let mut chunk = first;
        while chunk != 0 && chunks.len() < most && seen.insert(chunk) {
            let Some([next, _]) = self.header_at(source, chunk).filter(|[_, bytes]| is_size(*bytes)) else {
                break;
            };
            chunks.push(chunk);
            chunk = next;
        }
        chunks
    }

    /// Next and length of a chunk.
    fn header_at(&self, source: &dyn MemorySource, chunk: u64) -> Option<[u64; 2]> {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..2 * self.word_bytes as usize];
        source.read(chunk, bytes).ok()?;
        self.header_in(bytes)
    }

    fn header_in(&self, bytes: &[u8]) -> Option<[u64; 2]> {
        let word = self.word_bytes as usize;
        Some([word_in(bytes, 0, word)?, word_in(bytes, word, word)?])
    }

    fn is_length(&self, bytes: u64) -> bool {
        (LENGTH_BYTES_MIN..=LENGTH_BYTES_MAX).contains(&bytes) && bytes.is_multiple_of(self.word_bytes.max(1))
    }

    /// The chunk that a block is, if it is one: `address` is where the chunk's header would be, `bytes` what the
    /// block has from there on (the requested size, where native memory tracking records it).
    ///
    /// Recognised by its shape: a length that fills the block but for the allocator's rounding, and a next chunk that has a length
    /// too. Where an allocator rounds by more than 64 bytes, only chunks of the pools' sizes are recognised.
    pub fn chunk_at(&self, source: &dyn MemorySource, address: u64, bytes: u64) -> Option<ArenaChunk> {
        let mut header = [0; 16];
        let header = header.get_mut(..2 * self.word_bytes as usize)?;
        source.read(address, header).ok()?;
        self.chunk_in(source, address, header, bytes)
    }

    /// The same with the block's first 16 bytes at hand: nothing more is read for a block that is not a chunk, and of one
    /// that is, only the header of the next chunk.
    pub fn chunk_in(
        &self,
        source: &dyn MemorySource,
        address: u64,
        first_bytes: &[u8],
        bytes: u64,
    ) -> Option<ArenaChunk> {
        let [next, length] = self.header_in(first_bytes)?;
        if !self.is_length(length) || !next.is_multiple_of(self.word_bytes) || next == address {
            return None;
        }
        let rest = |header: u64| bytes.checked_sub(header)?.checked_sub(length);
        let fits = |header: &&u64| rest(**header).is_some_and(|rest| rest <= ROUNDING_BYTES_MAX);
        // The tightest of the headers that fit.
        let header_bytes = *self.header_sizes.iter().filter(fits).max()?;
        let next_is_chunk = || self.header_at(source, next).is_some_and(|[_, length]| self.is_length(length));
        (next == 0 || next_is_chunk()).then_some(ArenaChunk { address, next, bytes: length, header_bytes })
    }

    /// The arena object that these bytes of an address hold, if they are one: in a stack, a block, or data. Memory is read only
    /// when they look like an arena.
    ///
    /// An arena allocates from its chunk's start to its end, so the end that it holds must be where that chunk's length
    /// puts it; and the chain from its first chunk on must lead to that chunk.
    pub fn arena_in(&self, source: &dyn MemorySource, address: u64, bytes: &[u8]) -> Option<ArenaObject> {
        self.layouts.iter().find_map(|layout| self.arena_by(layout, source, address, bytes))
    }

    fn arena_by(
        &self,
        layout: &Layout,
        source: &dyn MemorySource,
        address: u64,
        bytes: &[u8],
    ) -> Option<ArenaObject> {
        let word = |at: u64| word_in(bytes, usize::try_from(at).ok()?, self.word_bytes as usize);
        let (first, chunk) = (word(layout.first)?, word(layout.chunk)?);
        let (hwm, max) = (word(layout.hwm)?, word(layout.max)?);
        let size = word(layout.bytes)?;
        let in_chunk = max.checked_sub(chunk)?;
        let is_plausible = chunk != 0
            && first != 0
            && (chunk | first | max).is_multiple_of(self.word_bytes)
            && (LENGTH_BYTES_MIN..=LENGTH_BYTES_MAX).contains(&in_chunk)
            && chunk < hwm
            && hwm <= max
            && size <= LENGTH_BYTES_MAX;
        if !is_plausible {
            return None;
        }
        let [_, length] = self.header_at(source, chunk)?;
        let header = in_chunk.checked_sub(length)?;
        let [first_next, first_length] = self.header_at(source, first)?;
        let is_chain = first == chunk || (first_next != 0 && self.is_length(first_length));
        if !self.header_sizes.contains(&header) || !is_chain {
            return None;
        }
        let tag = layout
            .tag
            .and_then(|at| self.tags.get(usize::from(*bytes.get(usize::try_from(at).ok()?)?)).cloned());
        Some(ArenaObject { address, first, chunk, hwm, max, bytes: size, memory_tag: *bytes.first()?, tag })
    }
}

fn word_in(bytes: &[u8], at: usize, word_bytes: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(word_bytes)?)?;
    Some(word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}
