//! From spans and blocks to sums: how many resident bytes each entry has.

use crate::SnapshotDepth;
use crate::address_map::{Adding, AddressMap, AddressRange};
use crate::entry_table::{EntryId, EntryKey, EntryTable};
use crate::jvm::Jvm;
use crate::owners::Claims;
use crate::page_kinds::{self, ByKind, KINDS, file_runs, kind_runs};
use crate::ranges::Ranges;
use crate::unknown::UnownedBlocks;
use assay_allocators::{Block, BlockState, Survey};
use assay_linux::{MemorySource, PageMap};
use assay_model::{Area, AreaBytes, FigureSource, MemoryEntry, SourceBytes};
use std::collections::BTreeMap;
use std::ops::Range;

/// Arenas with entries of their own; the rest share one.
const ARENAS_WITH_LEAVES: u16 = 32;

/// The blocks of malloc's heap, with entries for what they are.
pub(crate) struct Parts<'a> {
    survey: &'a Survey,
    claims: &'a Claims,
    /// Bytes of header before a tracked block's content.
    tracked_header_bytes: u64,
    /// By arena and state.
    freed: BTreeMap<(u16, BlockState), EntryId>,
    last_freed: Option<((u16, BlockState), EntryId)>,
    unowned: EntryId,
    tracking: EntryId,
    rounding: EntryId,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(
        survey: &'a Survey,
        claims: &'a Claims,
        jvm: Option<&Jvm<'_>>,
        depth: SnapshotDepth,
        entries: &mut EntryTable,
    ) -> Self {
        let looked_for = depth == SnapshotDepth::Owners;
        let unowned = entries.entry(
            Area::MallocHeap,
            &[if looked_for { "in use" } else { "in use, owners not searched" }],
            FigureSource::Allocator,
        );
        let tracking = entries.explained(
            Area::AllocatorOverhead,
            &["NMT headers"],
            FigureSource::Nmt,
            "what native memory tracking puts before and behind each block",
        );
        let rounding = entries.explained(
            Area::AllocatorOverhead,
            &["rounding"],
            FigureSource::Nmt,
            "bytes of a block beyond those requested",
        );
        let tracked_header_bytes = jvm.map_or(0, Jvm::tracked_header_bytes);
        let (freed, last_freed) = (BTreeMap::new(), None);
        Parts { survey, claims, tracked_header_bytes, freed, last_freed, unowned, tracking, rounding }
    }

    fn freed(&mut self, block: &Block, entries: &mut EntryTable) -> EntryId {
        let key = (block.arena.min(ARENAS_WITH_LEAVES), block.state);
        if let Some((last, entry)) = self.last_freed
            && last == key
        {
            return entry;
        }
        let entry = *self.freed.entry(key).or_insert_with(|| freed_entry(key.0, key.1, entries));
        self.last_freed = Some((key, entry));
        entry
    }

    /// Takes all blocks out of the spans that they lie in: up to three parts each, the header of native memory
    /// tracking, the content, and the rest. Where they lie is kept in `taken`, where that is asked for.
    fn take_all(
        &mut self,
        adding: &mut Adding<'_>,
        blocks: &mut BlockSums,
        entries: &mut EntryTable,
        mut taken: Option<&mut Vec<AddressRange>>,
    ) {
        let mut take = |part: Range<u64>, entry: EntryId| {
            if let Some(taken) = &mut taken {
                taken.push(AddressRange::new(part.clone(), entry));
            }
            adding.take(part, entry)
        };
        let owners_are_known = !self.claims.owners.is_empty();
        for (index, block) in (0..).zip(&self.survey.blocks) {
            let all = block.addresses();
            if block.state != BlockState::Used {
                let entry = self.freed(&block, entries);
                take(all, entry);
                blocks.add(entry, block.bytes);
                blocks.freed_bytes += block.bytes;
                continue;
            }
            let owner = self.claims.owners.get(index);
            let entry = owner.unwrap_or(self.unowned);
            blocks.add(entry, block.bytes);
            (blocks.used_bytes, blocks.used) = (blocks.used_bytes + block.bytes, blocks.used + 1);
            let resident_bytes = match self.claims.slack.get(index) {
                None => take(all, entry),
                Some(slack) => {
                    let content = all.start + self.tracked_header_bytes.min(block.bytes);
                    let end = all.end.saturating_sub(slack).max(content);
                    take(all.start..content, self.tracking)
                        + take(content..end, entry)
                        + take(end..all.end, self.rounding)
                }
            };
            if owner.is_none() && owners_are_known {
                blocks.unowned.add(&block, resident_bytes);
            }
        }
    }
}

fn freed_entry(arena: u16, state: BlockState, entries: &mut EntryTable) -> EntryId {
    let arena = match arena {
        0 => "main arena".to_owned(),
        ARENAS_WITH_LEAVES => "further arenas".to_owned(),
        number => format!("arena {number}"),
    };
    let (kind, explanation) = match state {
        BlockState::Binned | BlockState::Used => ("bins", "freed; a trim gives back its whole pages"),
        BlockState::Fast => ("fast bins", "freed small blocks, kept for the next of their size"),
        BlockState::ThreadCache => ("thread caches", "freed small blocks that a thread keeps for itself"),
        BlockState::Top => {
            ("top", "the end of an arena, touched before and free now; a trim leaves it there")
        }
    };
    entries.explained(Area::FreedResident, &[&arena, kind], FigureSource::Allocator, explanation)
}

/// Bytes of all blocks of malloc's heap together, resident or not.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    /// Bytes and number, indexed by [`EntryId`].
    by_entry: Vec<(u64, u64)>,
    /// Blocks in use.
    pub(crate) used: u64,
    pub(crate) used_bytes: u64,
    pub(crate) freed_bytes: u64,
    /// Those in use without an owner, where owners were looked for.
    pub(crate) unowned: UnownedBlocks,
}

impl BlockSums {
    fn add(&mut self, entry: EntryId, block_bytes: u64) {
        if self.by_entry.len() <= entry.index() {
            self.by_entry.resize(entry.index() + 1, (0, 0));
        }
        let (bytes, count) = &mut self.by_entry[entry.index()];
        (*bytes, *count) = (bytes.saturating_add(block_bytes), *count + 1);
    }
}

/// Resident bytes, by entry.
pub(crate) struct Sums {
    /// Indexed by [`EntryId`].
    resident_bytes: Vec<u64>,
    /// Of them, indexed alike: what is counted at a lower address, too.
    again_bytes: Vec<u64>,
    /// The resident bytes by kind of page.
    by_kind: Vec<ByKind>,
    /// Whether the kernel said which pages are huge.
    knows_huge: bool,
    pub(crate) blocks: BlockSums,
    /// Where entries lie, where that was asked for.
    pub(crate) ranges: Option<Ranges>,
}

/// Adds everything up, in one pass over all blocks. `again` is what is resident at a lower address as well.
pub(crate) fn add_up(
    source: &dyn MemorySource,
    again: &PageMap,
    address_map: AddressMap,
    mut parts: Parts<'_>,
    entries: &mut EntryTable,
    wants_ranges: bool,
) -> Sums {
    let nobody = entries.entry(Area::NativeAnonymous, &["anonymous memory"], FigureSource::Kernel);
    let runs = kind_runs(source);
    let mut adding = address_map.add_up(&runs, nobody);
    let mut blocks = BlockSums::default();
    let mut taken = wants_ranges.then(Vec::new);
    parts.take_all(&mut adding, &mut blocks, entries, taken.as_mut());
    let mut by_kind = adding.into_sums();
    let again = file_runs(again);
    let mut again_by_kind = address_map.add_up(&again, nobody).into_sums();
    by_kind.resize(entries.keys().len(), [0; KINDS]);
    again_by_kind.resize(entries.keys().len(), [0; KINDS]);
    blocks.by_entry.resize(entries.keys().len(), (0, 0));
    let of_all_kinds = |sums: &[ByKind]| sums.iter().map(|kinds| kinds.iter().sum()).collect();
    Sums {
        resident_bytes: of_all_kinds(&by_kind),
        again_bytes: of_all_kinds(&again_by_kind),
        by_kind,
        knows_huge: source.pages().huge().is_some(),
        blocks,
        ranges: taken.map(|taken| Ranges::of(address_map, taken, source.pages(), nobody)),
    }
}

impl Sums {
    /// Σ of all entries.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.resident_bytes.iter().sum()
    }

    pub(crate) fn of_area(&self, area: Area, entries: &EntryTable) -> u64 {
        let of = entries.keys().iter().zip(&self.resident_bytes).filter(|(key, _)| key.area == area);
        of.map(|(_, bytes)| bytes).sum()
    }

    /// Of an area, what lies beneath its part of this name.
    pub(crate) fn beneath(&self, area: Area, name: &str, entries: &EntryTable) -> u64 {
        let is_it = |key: &EntryKey| key.area == area && key.below.first().is_some_and(|part| part == name);
        let of = entries.keys().iter().zip(&self.resident_bytes).filter(|(key, _)| is_it(key));
        of.map(|(_, bytes)| bytes).sum()
    }

    /// Resident bytes whose area rests on inference.
    pub(crate) fn inferred_bytes(&self, entries: &EntryTable) -> u64 {
        let of = entries.keys().iter().zip(&self.resident_bytes).filter(|(key, _)| key.source.is_inference());
        of.map(|(_, bytes)| bytes).sum()
    }

    /// Areas, the biggest first.
    pub(crate) fn areas(&self, entries: &EntryTable) -> Vec<AreaBytes> {
        let all = Area::ALL.into_iter();
        let mut areas: Vec<AreaBytes> =
            all.map(|area| AreaBytes { area, resident_bytes: self.of_area(area, entries) }).collect();
        areas.retain(|a| a.resident_bytes != 0);
        areas.sort_by_key(|a| std::cmp::Reverse(a.resident_bytes));
        areas
    }

    /// Bytes by source, the biggest first.
    pub(crate) fn sources(&self, entries: &EntryTable) -> Vec<SourceBytes> {
        let mut sources: BTreeMap<FigureSource, u64> = BTreeMap::new();
        for (key, bytes) in entries.keys().iter().zip(&self.resident_bytes) {
            *sources.entry(key.source).or_insert(0) += bytes;
        }
        let mut sources: Vec<SourceBytes> = sources
            .into_iter()
            .filter(|(_, bytes)| *bytes != 0)
            .map(|(source, resident_bytes)| SourceBytes { source, resident_bytes })
            .collect();
        sources.sort_by_key(|t| std::cmp::Reverse(t.resident_bytes));
        sources
    }

    /// Entries, the biggest first. Bytes established by two sources are one entry, of the weaker one.
    pub(crate) fn entries(&self, entries: &EntryTable) -> Vec<MemoryEntry> {
        type Joined = (MemoryEntry, Vec<EntryId>);
        let mut by_path: BTreeMap<(Area, &[String]), Joined> = BTreeMap::new();
        for (i, key) in entries.keys().iter().enumerate() {
            let (resident_bytes, (size_bytes, count)) = (self.resident_bytes[i], self.blocks.by_entry[i]);
            if resident_bytes == 0 {
                continue;
            }
            let new = || MemoryEntry {
                path: std::iter::once(key.area.title().to_owned()).chain(key.below.iter().cloned()).collect(),
                resident_bytes: 0,
                memory_bytes: None,
                size_bytes: None,
                count: entries.count(key),
                source: key.source,
                pages: Some(page_kinds::stored(&[0; KINDS], key.area, self.knows_huge)),
                ranges: None,
                explanation: entries.explanation(key).map(str::to_owned),
            };
            let (entry, ids) = by_path.entry((key.area, &key.below)).or_insert_with(|| (new(), Vec::new()));
            ids.extend(EntryId::of_index(i));
            entry.pages = entry
                .pages
                .map(|all| all.and(page_kinds::stored(&self.by_kind[i], key.area, self.knows_huge)));
            if entry.memory_bytes.is_some() || self.again_bytes[i] != 0 {
                let memory = entry.bytes_of_memory() + resident_bytes.saturating_sub(self.again_bytes[i]);
                entry.memory_bytes = Some(memory);
            }
            entry.resident_bytes += resident_bytes;
            entry.source = entry.source.max(key.source);
            if count != 0 {
                entry.count = Some(entry.count.unwrap_or(0) + count);
                entry.size_bytes = Some(entry.size_bytes.unwrap_or(0) + size_bytes);
            }
        }
        let with_ranges = |(entry, ids): (MemoryEntry, Vec<EntryId>)| {
            let ranges = self.ranges.as_ref().map(|ranges| ranges.stored(&ids));
            MemoryEntry { ranges, ..entry }
        };
        let mut all: Vec<MemoryEntry> = by_path.into_values().map(with_ranges).collect();
        all.sort_by_key(|entry| std::cmp::Reverse(entry.resident_bytes));
        all
    }
}
