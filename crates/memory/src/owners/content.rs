//! Owners from the content of blocks: headers of native memory tracking, C++ objects, symbols, chunks of arenas, the table of strings; and
//! where their pointers lead. All blocks are read once, in the order of their addresses.

use super::bits::Bits;
use super::graph::Graph;
use super::index::{BlockIndex, Target};
use super::room::Room;
use super::rules::{Owner, of_name, of_tag};
use super::scan::{BlockBytes, for_each_used_block, words_of};
use super::table::{Owners, Slack};
use crate::entry_table::{EntryId, EntryTable};
use crate::jvm::Jvm;
use assay_linux::MemorySource;
use assay_model::{Area, FigureSource};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// What one pass over the blocks gave.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) owners: Owners,
    pub(crate) slack: Slack,
    /// Chunks of arenas, and symbols in nodes of their table: only the pointer to the next one is followed, not their content.
    pub(crate) chained: Bits,
    /// Pointers to what a program sees as the start of a block.
    pub(crate) starts: Graph,
    /// Pointers to anywhere else in a block.
    pub(crate) insides: Graph,
}

/// What identifies a block by its contents, with the entries ready.
struct Inspector<'a, 'm> {
    source: &'a dyn MemorySource,
    jvm: &'a Jvm<'m>,
    /// Sorted.
    pooled: Vec<u64>,
    hide_tags: bool,
    header_bytes: u64,
    of_tags: Vec<EntryId>,
    /// Of chunks whose owner is shown by pointers.
    arena_tag: Option<u8>,
    of_vtables: HashMap<u64, Option<EntryId>>,
    symbols: EntryId,
    strings: EntryId,
    locks: EntryId,
    pool: EntryId,
}

/// Sizes of `Mutex` and `Monitor` in 17 and 25, 64-bit and 32-bit.
const LOCK_BYTES: RangeInclusive<usize> = 64..=136;
const LOCK_NAME_BYTES_MAX: usize = 64;
/// `PTHREAD_MUTEX_NORMAL` as glibc keeps it when it was asked for.
const MUTEX_KIND: u64 = 0x200;
/// Of a block that is looked at for its tag: the longest symbol is as long.
const HEAD_BYTES: u64 = 64 << 10;
/// No program maps memory below.
const POINTERS_START: u64 = 1 << 16;

/// How much of the blocks' content is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentDepth {
    /// The tags of native memory tracking, and a block's first bytes: nothing else of it is read.
    Tags,
    /// Where its pointers lead, too.
    Pointers {
        /// As if there were no tags.
        hide_tags: bool,
    },
}

/// Reads all blocks in use.
pub(crate) fn inspect_blocks(
    source: &dyn MemorySource,
    jvm: Option<&Jvm<'_>>,
    index: &BlockIndex<'_>,
    wanted: ContentDepth,
    room: Room,
    entries: &mut EntryTable,
) -> Contents {
    let blocks = index.blocks();
    let mut contents = Contents {
        owners: Owners::new(blocks.len()),
        chained: Bits::new(blocks.len()),
        starts: Graph::new(blocks.len(), room.graph_bytes),
        insides: Graph::new(blocks.len(), room.graph_bytes),
        ..Contents::default()
    };
    let mut inspector = jvm.map(|jvm| Inspector::new(source, jvm, wanted, entries));
    if inspector.as_ref().is_some_and(|l| l.header_bytes != 0) {
        contents.slack = Slack::new(blocks.len());
    }
    let tracked_header_bytes = inspector.as_ref().map_or(0, |l| l.header_bytes);
    let word_bytes = source.word_bytes();
    let reach_bytes = if wanted == ContentDepth::Tags { HEAD_BYTES } else { u64::MAX };
    for_each_used_block(source, blocks, reach_bytes, |piece| {
        let BlockBytes { index: from, block, .. } = *piece;
        if let Some(inspector) = &mut inspector
            && piece.address == block.address
        {
            inspector.inspect(piece, &mut contents, entries);
        }
        if wanted == ContentDepth::Tags {
            return;
        }
        let is_chained = inspector.is_some() && contents.chained.is_set(from);
        // Only what the JVM itself allocates has a header: a library's block begins with what the library wrote.
        let header_bytes = contents.slack.get(from).map_or(0, |_| tracked_header_bytes);
        words_of(piece.bytes, piece.address, word_bytes, index.filter(), &mut |address, word| {
            let Some(offset) = (address - block.address).checked_sub(header_bytes) else { return };
            if is_chained && offset != 0 {
                return;
            }
            match index.target(word) {
                Some(Target::Start(to)) if to != from => contents.starts.push(from, to),
                Some(Target::Inside(to)) if to != from => contents.insides.push(from, to),
                _ => {}
            }
        });
    });
    contents
}

impl<'a, 'm> Inspector<'a, 'm> {
    fn new(
        source: &'a dyn MemorySource,
        jvm: &'a Jvm<'m>,
        wanted: ContentDepth,
        entries: &mut EntryTable,
    ) -> Self {
        let mut entry = |(area, name): Owner, known_from| entries.entry(area, &[name], known_from);
        let tags = &jvm.nmt.tags;
        let mut pooled = jvm.arenas.pooled().to_vec();
        pooled.sort_unstable();
        // The tag of an arena's chunk says nothing of whose arena it is: a pointer does.
        let needs_pointer = tags.iter().position(|tag| tag == "Arena Chunk" && wanted != ContentDepth::Tags);
        Inspector {
            source,
            jvm,
            pooled,
            hide_tags: wanted == ContentDepth::Pointers { hide_tags: true },
            header_bytes: jvm.tracked_header_bytes(),
            of_tags: tags.iter().map(|tag| entry(of_tag(tag), FigureSource::Nmt)).collect(),
            arena_tag: needs_pointer.and_then(|tag| u8::try_from(tag).ok()),
            of_vtables: HashMap::new(),
            symbols: entry((Area::JvmWork, "symbols"), FigureSource::Content),
            strings: entry((Area::JvmWork, "strings"), FigureSource::Symbols),
            locks: entry((Area::JvmWork, "synchronizer"), FigureSource::Content),
            pool: entry((Area::JitWork, "idle chunk pool"), FigureSource::Symbols),
        }
    }

    /// Looks at the first piece of a block.
    fn inspect(&mut self, piece: &BlockBytes<'_>, contents: &mut Contents, entries: &mut EntryTable) {
        let (block, usable_bytes) = (piece.index, piece.block.bytes);
        let mut payload = piece.bytes;
        let mut payload_bytes = usable_bytes;
        if self.header_bytes != 0
            && let Some(header) =
                self.jvm.nmt.header_of(self.source, piece.address, piece.bytes, usable_bytes)
        {
            payload = &payload[(self.header_bytes as usize).min(payload.len())..];
            payload_bytes = header.asked_bytes;
            let slack = usable_bytes.saturating_sub(self.header_bytes + header.asked_bytes);
            contents.slack.set(block, slack);
            if !self.hide_tags && Some(header.tag) != self.arena_tag {
                let owner = self.of_tags.get(usize::from(header.tag));
                owner.into_iter().for_each(|owner| contents.owners.set(block, *owner));
            }
        }
        let address = piece.address + (piece.bytes.len() - payload.len()) as u64;
        // The tag of strings is that of the symbols' table.
        if self.jvm.strings.has(address..address.saturating_add(payload_bytes)) {
            contents.owners.set(block, self.strings);
            return;
        }
        if self.pooled.binary_search(&address).is_ok() {
            contents.owners.set(block, self.pool);
            contents.chained.set(block);
            return;
        }
        if self.is_arena_chunk(payload, address, payload_bytes) {
            contents.chained.set(block);
            return;
        }
        if !contents.owners.has(block) {
            let whole = payload.get(..usize::try_from(payload_bytes).unwrap_or(usize::MAX));
            let is_symbol = || whole.is_some_and(|bytes| self.jvm.names.is_symbol(bytes));
            let owner = if self.is_lock(whole) {
                Some(self.locks)
            } else if is_symbol() {
                // Its text leads nowhere, and what only looks like one must not give its name to others.
                contents.chained.set(block);
                Some(self.symbols)
            } else {
                self.by_vtable(payload, entries)
            };
            owner.into_iter().for_each(|owner| contents.owners.set(block, owner));
        }
    }

    fn is_arena_chunk(&self, payload: &[u8], address: u64, payload_bytes: u64) -> bool {
        let Some(header) = payload.get(..16) else { return false };
        self.jvm.arenas.chunk_in(self.source, address, header, payload_bytes).is_some()
    }

    /// A lock of the JVM has no vtable, but it holds a mutex of the C library, of a kind that only `pthread_mutexattr_settype`
    /// makes, and a name that says what it is: `Metaspace allocation lock`, `CodeCache_lock`.
    fn is_lock(&self, payload: Option<&[u8]>) -> bool {
        let Some(payload) = payload.filter(|p| LOCK_BYTES.contains(&p.len())) else { return false };
        let words = payload.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let symbols = self.jvm.hotspot.symbols();
        let name = |word| symbols.c_string(self.source, word, LOCK_NAME_BYTES_MAX);
        let is_named = |word| name(word).is_some_and(|name| name.ends_with("lock") || name.ends_with("Lock"));
        words.clone().take(5).any(|word| word == MUTEX_KIND)
            && words.filter(|word| POINTERS_START < *word).any(is_named)
    }

    fn by_vtable(&mut self, payload: &[u8], entries: &mut EntryTable) -> Option<EntryId> {
        let word = u64::from_le_bytes(*payload.first_chunk::<8>()?);
        let symbols = self.jvm.hotspot.symbols();
        // Nearly all blocks begin with something else.
        if !symbols.data_ranges().iter().any(|range| range.contains(&word)) {
            return None;
        }
        *self.of_vtables.entry(word).or_insert_with(|| {
            let (area, name) = of_name(symbols.class_of_vtable(word)?);
            Some(entries.entry(area, &[name], FigureSource::Symbols))
        })
    }
}
