//! Nodes of metaspace, and the chunks that each is cut into.
//!
//! A node is an array of root chunk areas of one size. Each is cut, by halves and halves again, into chunks, whose
//! descriptors lie in malloc's heap and are linked in the order of their addresses.

use super::{ChunkState, Metachunk, Metaspace, MetaspaceNode, NODES_MAX, lists};
use crate::Hotspot;
use assay_linux::MemorySource;
use assay_model::FigureSource;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Root chunk areas of a node: 4 GB of class space in areas of 4 MB.
const AREAS_MAX: u64 = 1 << 16;
/// Chunks of a root chunk area: 16 MB cut to 1 KB.
const CHUNKS_PER_AREA_MAX: u64 = 1 << 14;
/// All chunks: 1 GB of metadata in the smallest ones.
const CHUNKS_MAX: usize = 1 << 20;
const LEVEL_MAX: u8 = 16;
/// A descriptor is smaller.
const DESCRIPTOR_BYTES: usize = 128;
/// Words of libjvm's data that are looked at when there are no symbols.
const DATA_BYTES_MAX: u64 = 16 << 20;
const PROBLEM: &str = "metaspace";
const NO_NODE: &str = "no node could be found: class metadata is part of the memory in no known region";

const CONTEXTS: [(&str, bool); 2] = [
    ("_ZN9metaspace16MetaspaceContext23_nonclass_space_contextE", false),
    ("_ZN9metaspace16MetaspaceContext20_class_space_contextE", true),
];

/// Private offsets of the structures that are followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    list: u64,
    first_node: u64,
    next_node: u64,
    base: u64,
    words: u64,
    table: u64,
    table_base: u64,
    table_number: u64,
    table_areas: u64,
    area_bytes: u64,
    area_first_chunk: u64,
    chunk_base: u64,
    chunk_used: u64,
    chunk_level: u64,
    chunk_state: u64,
    chunk_next_in_node: u64,
}

impl Layout {
    fn of(hotspot: &Hotspot<'_>) -> Option<Layout> {
        let pack = hotspot.pack()?;
        let node = |field| pack.offset("metaspace::VirtualSpaceNode", field);
        let table = |field| pack.offset("metaspace::RootChunkAreaLUT", field);
        let chunk = |field| pack.offset("metaspace::Metachunk", field);
        Some(Layout {
            list: pack.offset("metaspace::MetaspaceContext", "_vslist")?,
            first_node: pack.offset("metaspace::VirtualSpaceList", "_first_node")?,
            next_node: node("_next")?,
            base: node("_base")?,
            words: node("_word_size")?,
            table: node("_root_chunk_area_lut")?,
            table_base: table("_base")?,
            table_number: table("_num")?,
            table_areas: table("_arr")?,
            area_bytes: pack.size_of("metaspace::RootChunkArea")?,
            area_first_chunk: pack.offset("metaspace::RootChunkArea", "_first_chunk")?,
            chunk_base: chunk("_base")?,
            chunk_used: chunk("_used_words")?,
            chunk_level: chunk("_level")?,
            chunk_state: chunk("_state")?,
            chunk_next_in_node: chunk("_next_in_vs")?,
        })
    }
}

impl Hotspot<'_> {
    /// Class metadata: nodes with their chunks and loaders, and the archive; of releases before JDK 16, which made metaspace anew, nodes
    /// without chunks. `None`: the structure is not known, or none of it could be read; a problem says which.
    pub fn metaspace(&self) -> Option<Metaspace> {
        if let Some(layout) = lists::Layout::of(self) {
            return self.listed_metaspace(&layout).or_else(|| {
                self.problem(PROBLEM, NO_NODE);
                self.only_archive()
            });
        }
        let Some(layout) = Layout::of(self) else {
            self.problem(PROBLEM, "its layout in this release is not known: class metadata is part of the memory in no known region");
            return self.only_archive();
        };
        let (contexts, known_from) = self.metaspace_contexts(&layout);
        let (loaders, loader_of) = self.loaders();
        let mut nodes = Vec::new();
        for (context, is_class_space) in contexts {
            for node in self.nodes_of(context, &layout) {
                let chunks = self.chunks_of(node, &layout, &loader_of);
                nodes.extend(self.node_range(node, &layout).map(|addresses| MetaspaceNode {
                    addresses,
                    is_class_space,
                    chunks,
                }));
            }
        }
        if nodes.is_empty() {
            self.problem(PROBLEM, NO_NODE);
            return self.only_archive();
        }
        nodes.sort_by_key(|node| node.addresses.start);
        Some(Metaspace { nodes, archive: self.archive_ranges(), loaders, known_from })
    }

    fn only_archive(&self) -> Option<Metaspace> {
        let archive = self.archive_ranges();
        let (loaders, _) = self.loaders();
        let is_empty = archive.is_empty() && loaders.is_empty();
        (!is_empty).then_some(Metaspace {
            nodes: Vec::new(),
            archive,
            loaders,
            known_from: FigureSource::VmStructs,
        })
    }

    /// Contexts, and whether each is the class space's. Without symbols, the words of libjvm's data are tried: a context
    /// begins with its name.
    fn metaspace_contexts(&self, layout: &Layout) -> (Vec<(u64, bool)>, FigureSource) {
        let (symbols, source) = (self.symbols(), self.source());
        let named = CONTEXTS.iter().filter_map(|(name, is_class)| Some((symbols.address(name)?, *is_class)));
        let named: Vec<_> = named.collect();
        if !named.is_empty() {
            let contexts = named.into_iter().filter_map(|(at, is_class)| {
                Some((symbols.word(source, at).filter(|context| *context != 0)?, is_class))
            });
            return (contexts.collect(), FigureSource::Symbols);
        }
        (self.found_in_data(|context| self.context_by_shape(context, layout)), FigureSource::Content)
    }

    /// Words of libjvm's data that lead to something of a kind, each once, with what that says of itself.
    pub(super) fn found_in_data(&self, what_is_at: impl Fn(u64) -> Option<bool>) -> Vec<(u64, bool)> {
        let (symbols, source) = (self.symbols(), self.source());
        let mut found: Vec<(u64, bool)> = Vec::new();
        let word = source.word_bytes();
        for range in symbols.data_ranges() {
            let bytes = (range.end - range.start).min(DATA_BYTES_MAX);
            let mut data = vec![0; bytes as usize];
            if symbols.read(source, range.start, &mut data).is_err() {
                continue;
            }
            for candidate in data.chunks_exact(word as usize) {
                let candidate = candidate.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                let is_new = candidate != 0
                    && candidate.is_multiple_of(8)
                    && !found.iter().any(|(c, _)| *c == candidate);
                if is_new && let Some(is_class) = what_is_at(candidate) {
                    found.push((candidate, is_class));
                }
            }
        }
        found
    }

    /// Whether a context lies at an address, and which: its name says so, and it leads to a node that fits itself.
    fn context_by_shape(&self, address: u64, layout: &Layout) -> Option<bool> {
        let source = self.source();
        let data = self.symbols().data_ranges();
        if data.iter().any(|range| range.contains(&address)) {
            return None;
        }
        let name = source.word(address)?;
        let name = self.symbols().c_string(source, name, 64)?;
        let is_class = match name.as_str() {
            "class-space" => true,
            "non-class-space" => false,
            _ => return None,
        };
        let node = self.nodes_of(address, layout).into_iter().next()?;
        self.node_range(node, layout).map(|_| is_class)
    }

    fn nodes_of(&self, context: u64, layout: &Layout) -> Vec<u64> {
        let source = self.source();
        let at = |address: u64, offset: u64| source.word(address.checked_add(offset)?);
        let first = at(context, layout.list).and_then(|list| at(list, layout.first_node));
        let mut nodes = Vec::new();
        let mut seen = HashSet::new();
        let mut node = first.unwrap_or(0);
        while node != 0 && nodes.len() < NODES_MAX && seen.insert(node) {
            nodes.push(node);
            node = at(node, layout.next_node).unwrap_or(0);
        }
        nodes
    }

    /// A node's addresses, if it fits itself: its table begins where it does.
    fn node_range(&self, node: u64, layout: &Layout) -> Option<Range<u64>> {
        let source = self.source();
        let at = |offset: u64| source.word(node.checked_add(offset)?);
        let base = at(layout.base)?;
        let bytes = at(layout.words)?.checked_mul(source.word_bytes())?;
        let table_base = at(layout.table.checked_add(layout.table_base)?)?;
        let fits = base != 0 && base == table_base && base.is_multiple_of(4096) && bytes != 0;
        if !fits {
            self.problem(PROBLEM, "a node does not fit the layout of this release");
        }
        fits.then_some(base..base.checked_add(bytes)?)
    }

    fn chunks_of(&self, node: u64, layout: &Layout, loader_of: &HashMap<u64, u32>) -> Vec<Metachunk> {
        let mut chunks = Vec::new();
        let mut read = || {
            let source = self.source();
            let addresses = self.node_range(node, layout)?;
            let table = node.checked_add(layout.table)?;
            let areas = u64::from(source.u32(table.checked_add(layout.table_number)?)?);
            let first_area = source.word(table.checked_add(layout.table_areas)?)?;
            let area_bytes = (addresses.end - addresses.start).checked_div(areas)?;
            for area in 0..areas.min(AREAS_MAX) {
                let at = first_area.checked_add(area * layout.area_bytes)?;
                // An area that was never used has no chunk yet.
                let first = source.word(at.checked_add(layout.area_first_chunk)?)?;
                let start = addresses.start + area * area_bytes;
                self.chunks_of_area(first, start..start + area_bytes, layout, loader_of, &mut chunks);
            }
            Some(())
        };
        if read().is_none() {
            self.problem(PROBLEM, "chunks of a node could not be read");
        }
        chunks
    }

    fn chunks_of_area(
        &self,
        first: u64,
        area: Range<u64>,
        layout: &Layout,
        loader_of: &HashMap<u64, u32>,
        chunks: &mut Vec<Metachunk>,
    ) {
        let (mut descriptor, mut reached) = (first, area.start);
        for _ in 0..CHUNKS_PER_AREA_MAX {
            if descriptor == 0 || CHUNKS_MAX <= chunks.len() {
                break;
            }
            let Some((mut chunk, next)) = read_chunk(self.source(), descriptor, &area, layout) else { break };
            if chunk.addresses.start != reached {
                break;
            }
            reached = chunk.addresses.end;
            chunk.loader = loader_of.get(&descriptor).copied();
            chunks.push(chunk);
            descriptor = next;
        }
        // The chunks of an area that was ever used fill it.
        if first != 0 && reached != area.end {
            self.problem(PROBLEM, "chunks of an area do not fill it");
        }
    }
}

/// A chunk by its descriptor, and the next descriptor of the same area.
fn read_chunk(
    source: &dyn MemorySource,
    descriptor: u64,
    area: &Range<u64>,
    layout: &Layout,
) -> Option<(Metachunk, u64)> {
    let word_bytes = source.word_bytes();
    let mut bytes = [0; DESCRIPTOR_BYTES];
    let needed = usize::try_from(layout.chunk_next_in_node.checked_add(word_bytes)?).ok()?;
    let bytes = bytes.get_mut(..needed)?;
    source.read(descriptor, bytes).ok()?;
    let byte = |at: u64| bytes.get(usize::try_from(at).ok()?).copied();
    let word = |at: u64| {
        let at = usize::try_from(at).ok()?;
        let word = bytes.get(at..at.checked_add(word_bytes as usize)?)?;
        Some(word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    };
    let level = byte(layout.chunk_level)?;
    if LEVEL_MAX < level {
        return None;
    }
    let size_bytes = (area.end - area.start) >> level;
    let start = word(layout.chunk_base)?;
    let end = start.checked_add(size_bytes)?;
    let used_bytes = word(layout.chunk_used)?.checked_mul(word_bytes)?;
    // A damaged number of areas may make areas smaller than their chunks' fractions.
    let fits = start < end && area.start <= start && end <= area.end && used_bytes <= size_bytes;
    let state = match byte(layout.chunk_state)? {
        0 => ChunkState::Free,
        1 => ChunkState::InUse,
        _ => return None,
    };
    let used_bytes = if state == ChunkState::InUse { used_bytes } else { 0 };
    let chunk = Metachunk { addresses: start..end, used_bytes, state, loader: None };
    fits.then_some((chunk, word(layout.chunk_next_in_node)?))
}
