//! jemalloc, read from outside.
//!
//! The distributions' libraries have no symbols for their own variables, so these are found by shape, each held against
//! another: entries of the radix tree against the extents that they lead to, bits of free regions against the extents'
//! counters, the two parts of each thread's cache against each other, cached blocks against the regions of their class.
//! Structures that contradict each other are not used.
//!
//! Layouts are those of jemalloc 5.3 on 64-bit machines with pages of 4 KiB. Other versions pass where they agree; where
//! they do not, the survey says so.

mod base;
mod blocks;
mod extent;
mod radix_tree;
mod thread_cache;

use crate::library::{self, Library};
use crate::survey::NO_PREDICTION;
use crate::word_reader::{Lines, WordReader};
use crate::{Arena, HeapKind, HeapRange, Survey};
use assay_linux::{Mapping, MemorySource};
use assay_model::{Allocator, ArenaFacts, Problem};
use base::Bases;
use blocks::Blocks;
use extent::{Extent, State};
use radix_tree::{Extents, RadixTree};
use std::collections::BTreeSet;
use thread_cache::Caches;

/// Looks at a running process, until one finds nothing that contradicts itself.
const LOOKS_MAX: usize = 3;

/// Tables in no block of tables, after which no more are looked up: this version's blocks are of another form.
const LOST_MAX: u64 = 64;

const NO_CACHES: &str =
    "no thread's cache was found: if there are any, the freed blocks in them count as used";

/// Surveys the jemalloc in an object; `None` when that cannot be read.
pub(crate) fn survey(source: &dyn MemorySource, object: &Mapping) -> Option<Survey> {
    let library = library::read(source, object)?;
    let version = version(&library.constants);
    let mut survey = Survey { allocator: Some(Allocator::Jemalloc), version, ..Survey::default() };
    if source.word_bytes() != 8 {
        survey.problems.push(problem("jemalloc of a 32-bit process is not understood"));
        survey.problems.push(problem(NO_PREDICTION));
        return Some(survey);
    }
    let reader = WordReader::new(source, Lines::OF_TABLES);
    let tree = (0..LOOKS_MAX).find_map(|_| {
        reader.forget();
        RadixTree::find(&reader, library.variables.clone())
    });
    let Some(tree) = tree else {
        survey.problems.push(problem(
            "its table of extents was not found: used and freed memory cannot be distinguished",
        ));
        survey.problems.push(problem(NO_PREDICTION));
        return Some(survey);
    };
    let look = (0..LOOKS_MAX).fold(None, |best: Option<ExtentWalk>, _| match best {
        Some(whole) if whole.torn() == 0 => Some(whole),
        _ => {
            reader.forget();
            let next = ExtentWalk::take(&reader, &library, tree);
            Some(best.filter(|best| best.torn() <= next.torn()).unwrap_or(next))
        }
    })?;
    look.add_to(&mut survey, &reader);
    Some(survey)
}

/// One walk over all extents and caches.
struct ExtentWalk {
    extents: Extents,
    bases: Bases,
    caches: Caches,
    /// Numbers of the arenas that have extents, in order.
    arenas: Vec<u16>,
    blocks: Blocks,
}

impl ExtentWalk {
    fn take(reader: &WordReader<'_>, library: &Library, tree: RadixTree) -> ExtentWalk {
        let mut extents = tree.extents(reader);
        let mut bases = Bases::default();
        let tables = extents.leaves.iter().copied().chain(extents.extents.iter().map(|extent| extent.at));
        let mut lost = 0;
        for table in tables {
            if lost < LOST_MAX && !bases.add(reader, table) {
                lost += 1;
            }
        }
        // An arena whose tables are in no block that extents lead to has no extents yet; the library names it.
        reader.each_word(library.variables.clone(), |_, word| {
            if word.is_multiple_of(64) && reader.u64(word).is_some() {
                bases.add_near(reader, word);
            }
            true
        });
        bases.leave_out_those_in(&extents.extents, &mut lost);
        extents.torn += lost;
        let caches = thread_cache::find(reader, library.variables.clone(), &bases);
        let arenas: BTreeSet<_> = extents.extents.iter().map(|extent| extent.arena).collect();
        let arenas: Vec<_> = arenas.into_iter().collect();
        let blocks = Blocks::of(reader, &extents.extents, &caches, &arenas);
        ExtentWalk { extents, bases, caches, arenas, blocks }
    }

    /// Structures that contradict each other.
    fn torn(&self) -> u64 {
        self.extents.torn + self.caches.torn + self.blocks.torn
    }

    fn add_to(self, survey: &mut Survey, reader: &WordReader<'_>) {
        let torn = self.torn();
        if torn != 0 {
            let what = format!(
                "{torn} extents or caches contradicted themselves: freed blocks of them may count as used"
            );
            survey.problems.push(problem(&what));
        }
        if self.caches.arenas.is_empty() {
            survey.problems.push(problem(NO_CACHES));
        }
        let is_by_huge_pages = self.extents.extents.iter().any(|extent| extent.is_of_huge_pages);
        if is_by_huge_pages {
            survey
                .problems
                .push(problem("it allocates by huge pages: the free ones among them are not seen"));
        }
        if is_by_huge_pages || torn != 0 {
            survey.problems.push(problem(NO_PREDICTION));
        } else {
            survey.trim_gain_bytes = Some(self.purge_gain_bytes(reader));
        }
        let tables = self.bases.blocks.iter().cloned();
        survey.ranges = ranges(&self.extents.extents);
        survey.ranges.extend(tables.map(|addresses| HeapRange { addresses, kind: HeapKind::Metadata }));
        survey.ranges.sort_unstable_by_key(|range| range.addresses.start);
        survey.arenas = self.arenas_with_facts(reader);
        survey.blocks = self.blocks.blocks;
        survey.not_walkable = self.blocks.not_walkable;
    }

    /// What `arena.4096.purge` gives back: the resident pages of all free extents, dirty or muzzy. Caches of threads stay as they are.
    /// Held by: `jemalloc_and_tcmalloc_are_called_by_their_own_functions`.
    fn purge_gain_bytes(&self, reader: &WordReader<'_>) -> u64 {
        let is_purged = |extent: &&Extent| matches!(extent.state, State::Dirty | State::Muzzy);
        let free = self.extents.extents.iter().filter(is_purged);
        free.map(|extent| reader.source().pages().resident_bytes_in(extent.addresses.clone())).sum()
    }

    fn arenas_with_facts(&self, reader: &WordReader<'_>) -> Vec<Arena> {
        let first = self.first_arena(reader);
        let address =
            |number: u16| first.and_then(|first| reader.u64(first + u64::from(number) * 8)).unwrap_or(0);
        let mut arenas: Vec<_> = self
            .arenas
            .iter()
            .map(|number| Arena {
                address: address(*number),
                facts: ArenaFacts { index: u32::from(*number), ..ArenaFacts::default() },
            })
            .collect();
        for extent in &self.extents.extents {
            if let Ok(index) = self.arenas.binary_search(&extent.arena) {
                arenas[index].facts.system_bytes += extent.addresses.end - extent.addresses.start;
            }
        }
        self.blocks.count(reader.source(), &mut arenas);
        arenas
    }

    /// Where the library keeps its list of arenas: where a word that names a known one, with those around it, names
    /// different tables for all arenas that have extents.
    fn first_arena(&self, reader: &WordReader<'_>) -> Option<u64> {
        let candidates = self.caches.arenas.iter().flat_map(|(at, _)| {
            self.arenas.iter().filter_map(move |number| at.checked_sub(u64::from(*number) * 8))
        });
        candidates.into_iter().find(|first| {
            let of = |number: &u16| {
                reader
                    .u64(first.checked_add(u64::from(*number) * 8)?)
                    .filter(|arena| self.bases.contains(*arena))
            };
            let named: Option<BTreeSet<u64>> = self.arenas.iter().map(of).collect();
            named.is_some_and(|named| named.len() == self.arenas.len())
        })
    }
}

/// Memory of the extents: each large block by itself, others joined where they touch.
fn ranges(extents: &[Extent]) -> Vec<HeapRange> {
    let mut ranges: Vec<HeapRange> = Vec::new();
    for extent in extents {
        let is_large = extent.state == State::Active && !extent.is_slab;
        let kind = if is_large { HeapKind::Mapped } else { HeapKind::Secondary };
        let start = extent.addresses.start;
        match ranges.last_mut() {
            Some(last) if !is_large && last.kind == kind && last.addresses.end == start => {
                last.addresses.end = extent.addresses.end;
            }
            _ => ranges.push(HeapRange { addresses: extent.addresses.clone(), kind }),
        }
    }
    ranges
}

/// The version that the library names among its constants: `5.3.0-0-g` and a hash.
fn version(constants: &[u8]) -> Option<String> {
    let texts = constants.split(|byte| *byte == 0).filter(|text| (8..80).contains(&text.len()));
    let texts = texts.filter_map(|text| std::str::from_utf8(text).ok());
    let mut versions = texts.filter_map(|text| {
        let (version, rest) = text.split_once('-')?;
        let (_, hash) = rest.split_once("-g")?;
        let is_version = version.split('.').count() == 3
            && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_version.then(|| version.to_owned())
    });
    versions.next()
}

fn problem(what: &str) -> Problem {
    Problem::new("jemalloc", what)
}
