//! The heaps of the code cache, block by block.

use super::blobs::BlobLayout;
use super::{CodeCache, CodeHeap};
use crate::Hotspot;
use assay_model::FigureSource;
use std::ops::Range;

/// Heaps of a segmented code cache: three.
const HEAPS_MAX: u64 = 16;
/// A code cache has at most 2 GB, a segment at least 64 bytes, a blob some segments.
const BLOCKS_MAX: u64 = 8 << 20;
/// Segments have 64 to 4096 bytes.
const SEGMENT_LOG2_MAX: u64 = 16;
/// Bytes of a `CodeHeap` among which its name is looked for.
const HEAP_BYTES: u64 = 512;
const NAME_BYTES_MAX: usize = 64;
const PROBLEM: &str = "code cache";

/// Where `VirtualSpace` has its bounds.
#[derive(Debug, Clone, Copy)]
struct SpaceLayout {
    low_boundary: u64,
    high_boundary: u64,
    low: u64,
    high: u64,
}

/// What is exported of a code heap.
#[derive(Debug, Clone, Copy)]
struct HeapLayout {
    memory: u64,
    segment_map: u64,
    segment_log2: u64,
    space: SpaceLayout,
    /// `HeapBlock`: its size, length in segments (with the bytes of that number), and whether it is used.
    block_bytes: u64,
    length: u64,
    length_bytes: u64,
    used: u64,
}

impl Hotspot<'_> {
    /// The code cache. `None`: its structures are not exported, or could not be read; a problem says so.
    pub fn code_cache(&self) -> Option<CodeCache> {
        let Some(layout) = self.heap_layout() else {
            self.problem(PROBLEM, "this release exports another structure of code heaps");
            return None;
        };
        let blobs = BlobLayout::of(self);
        if blobs.is_none() {
            self.problem(PROBLEM, "this release exports another structure of blobs: kinds are unknown");
        }
        let addresses = self.code_heap_addresses();
        let mut heaps: Vec<_> = addresses
            .iter()
            .filter_map(|address| self.code_heap(*address, &layout, blobs.as_ref()))
            .collect();
        if heaps.len() < addresses.len() || heaps.is_empty() {
            self.problem(PROBLEM, format!("{} of {} heaps could be read", heaps.len(), addresses.len()));
        }
        heaps.sort_by_key(|heap| heap.reserved.start);
        let reserved: Vec<_> = heaps.iter().map(|heap| heap.reserved.clone()).collect();
        let is_inside =
            |address: u64| reserved.iter().any(|range| range.contains(&address) || range.end == address);
        for blob in heaps.iter_mut().flat_map(|heap| &mut heap.blobs) {
            // A part that a blob does not have is a pointer to the blob's own end.
            blob.malloc_parts.retain(|part| *part != 0 && !is_inside(*part));
        }
        (!heaps.is_empty()).then_some(CodeCache { heaps, known_from: FigureSource::VmStructs })
    }

    fn heap_layout(&self) -> Option<HeapLayout> {
        let structs = self.structs();
        let at = |type_name, field| structs.offset(type_name, field);
        let word = self.symbols().word_bytes();
        // Folklore: the length was a `size_t` and became 32 bits with JDK 21; the next field shows which. Held by:
        // `used_bytes_equal_what_the_jvm_says`.
        let (length, used) = (at("HeapBlock::Header", "_length")?, at("HeapBlock::Header", "_used")?);
        Some(HeapLayout {
            memory: at("CodeHeap", "_memory")?,
            segment_map: at("CodeHeap", "_segmap")?,
            segment_log2: at("CodeHeap", "_log2_segment_size")?,
            space: SpaceLayout {
                low_boundary: at("VirtualSpace", "_low_boundary")?,
                high_boundary: at("VirtualSpace", "_high_boundary")?,
                low: at("VirtualSpace", "_low")?,
                high: at("VirtualSpace", "_high")?,
            },
            block_bytes: structs.size_of("HeapBlock").unwrap_or(if used == 4 { 8 } else { 16 }),
            length,
            length_bytes: used.checked_sub(length).filter(|bytes| *bytes == 4).unwrap_or(word),
            used,
        })
    }

    fn code_heap_addresses(&self) -> Vec<u64> {
        let (structs, source) = (self.structs(), self.source());
        // JDK 8: a single heap.
        let single = structs.static_address("CodeCache", "_heap").and_then(|at| source.word(at));
        let array = structs.static_address("CodeCache", "_heaps").and_then(|at| source.word(at));
        let Some(array) = array else { return single.into_iter().collect() };
        let at = |field, usual| {
            let spellings =
                ["GrowableArrayBase", "GenericGrowableArray", "GrowableArray<int>"].map(|name| (name, field));
            structs.first_offset(&spellings).unwrap_or(usual)
        };
        let (length, data) = (at("_len", 0), at("_data", 8));
        let length = array.checked_add(length).and_then(|at| source.u32(at)).map_or(0, u64::from);
        let data = array.checked_add(data).and_then(|at| source.word(at)).unwrap_or(0);
        let word = source.word_bytes();
        (0..length.min(HEAPS_MAX)).filter_map(|i| source.word(data.checked_add(i * word)?)).collect()
    }

    fn code_heap(
        &self,
        address: u64,
        layout: &HeapLayout,
        blob_layout: Option<&BlobLayout>,
    ) -> Option<CodeHeap> {
        let source = self.source();
        let space = |at: u64| {
            let space = address.checked_add(at)?;
            let word = |offset: u64| source.word(space.checked_add(offset)?);
            let reserved = word(layout.space.low_boundary)?..word(layout.space.high_boundary)?;
            let committed = word(layout.space.low)?..word(layout.space.high)?;
            let is_inside = reserved.start <= committed.start && committed.end <= reserved.end;
            (is_inside && committed.start <= committed.end && committed.start != 0)
                .then_some((reserved, committed))
        };
        let (reserved, committed) = space(layout.memory)?;
        let (segment_map, _) = space(layout.segment_map)?;
        let segment_log2 = u64::from(source.u32(address.checked_add(layout.segment_log2)?)?);
        if SEGMENT_LOG2_MAX < segment_log2 {
            return None;
        }
        let mut heap = CodeHeap {
            name: self.code_heap_name(address).unwrap_or_else(|| "CodeCache".to_owned()),
            frontier: committed.start,
            reserved,
            committed,
            segment_map,
            blobs: Vec::new(),
            used_bytes: 0,
        };
        let frontier = self.frontier(address, layout, segment_log2, &heap.committed);
        self.walk(&mut heap, layout, blob_layout, segment_log2, frontier);
        Some(heap)
    }

    /// Follows the blocks from the heap's start to its frontier.
    fn walk(
        &self,
        heap: &mut CodeHeap,
        layout: &HeapLayout,
        blob_layout: Option<&BlobLayout>,
        segment_log2: u64,
        frontier: Option<u64>,
    ) {
        let end = frontier.unwrap_or(heap.committed.end);
        let mut at = heap.committed.start;
        for _ in 0..BLOCKS_MAX {
            if end <= at {
                break;
            }
            let Some((bytes, is_used)) = self.block(at, layout, segment_log2) else { break };
            let Some(next) = at.checked_add(bytes).filter(|next| bytes != 0 && *next <= end) else { break };
            if is_used {
                heap.used_bytes += bytes;
                heap.blobs.extend(blob_layout.and_then(|l| l.blob(self, at..next, at + layout.block_bytes)));
            }
            at = next;
        }
        if frontier.is_some_and(|frontier| frontier != at) {
            self.problem(PROBLEM, format!("blocks of {} do not lead to its frontier", heap.name));
        }
        heap.frontier = frontier.unwrap_or(at);
    }

    /// Bytes of a block, and whether it is in use.
    fn block(&self, at: u64, layout: &HeapLayout, segment_log2: u64) -> Option<(u64, bool)> {
        let source = self.source();
        let length = at.checked_add(layout.length)?;
        let segments =
            if layout.length_bytes == 4 { source.u32(length)?.into() } else { source.word(length)? };
        let bytes = segments.checked_mul(1 << segment_log2)?;
        Some((bytes, source.u8(at.checked_add(layout.used)?)? != 0))
    }

    /// Where never handed out memory begins. The number of segments up to there is not exported; it is the word behind
    /// the segment size in all releases from 8 to 25, and must lie within the heap.
    fn frontier(&self, heap: u64, layout: &HeapLayout, log2: u64, committed: &Range<u64>) -> Option<u64> {
        let word = self.source().word_bytes();
        let at = heap.checked_add(layout.segment_log2)?.checked_add(4)?.checked_next_multiple_of(word)?;
        let bytes = self.source().word(at)?.checked_mul(1 << log2)?;
        committed.start.checked_add(bytes).filter(|frontier| *frontier <= committed.end)
    }

    /// A heap's name is not exported: it is the text that the object points at.
    fn code_heap_name(&self, address: u64) -> Option<String> {
        let (symbols, source) = (self.symbols(), self.source());
        let word = source.word_bytes();
        (0..HEAP_BYTES / word).find_map(|i| {
            let text = source.word(address.checked_add(i * word)?).filter(|text| *text != 0)?;
            let text = symbols.c_string(source, text, NAME_BYTES_MAX)?;
            let name = text.strip_prefix("CodeHeap '").and_then(|rest| rest.strip_suffix('\''));
            name.or_else(|| (text == "CodeCache").then_some("CodeCache")).map(str::to_owned)
        })
    }
}
