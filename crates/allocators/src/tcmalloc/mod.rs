//! tcmalloc of gperftools, read from outside.
//!
//! The distributions' libraries have no symbols for their own variables, so these are found by shape, each held against
//! another: the table of pages against the spans that it leads to, the classes against the spans' lengths, the lists of
//! free objects against the objects of their class and the spans' own counters. Structures that contradict each other are not used.
//!
//! Layouts are those of gperftools 2.10 on 64-bit machines. Other versions pass where they agree; where they do not, the
//! survey says so and gives the memory as a whole.

mod free_objects;
mod metadata;
mod size_class;
mod span;

use crate::library::{self, Library};
use crate::survey::NO_PREDICTION;
use crate::word_reader::{Lines, WordReader};
use crate::{self as allocators, Arena, Block, BlockState, Survey};
use assay_linux::{Mapping, MemorySource};
use assay_model::{Allocator, ArenaFacts, Problem};
use free_objects::Objects;
use size_class::SizeClass;
use span::{Location, PageTable, Span};
use std::ops::Range;

/// Looks at a running process, until one finds all lists whole.
const LOOKS_MAX: usize = 3;

/// Surveys the tcmalloc in an object; `None` when that cannot be read. `not_malloc` are ranges known to be something
/// else.
pub(crate) fn survey(
    source: &dyn MemorySource,
    object: &Mapping,
    not_malloc: &[Range<u64>],
) -> Option<Survey> {
    let library = library::read(source, object)?;
    let mut survey = Survey { allocator: Some(Allocator::Tcmalloc), ..Survey::default() };
    survey.version = version(&library.constants);
    if source.word_bytes() != 8 {
        survey.problems.push(problem("tcmalloc of a 32-bit process is not understood"));
        survey.problems.push(problem(NO_PREDICTION));
        return Some(survey);
    }
    let reader = WordReader::new(source, Lines::OF_TABLES);
    let Some(table) = PageTable::find(&reader, library.variables.clone()) else {
        survey
            .problems
            .push(problem("its table of pages was not found: used and freed memory cannot be distinguished"));
        survey.problems.push(problem(NO_PREDICTION));
        return Some(survey);
    };
    reader.forget();
    let lists = Lists::find(&reader, library.variables.clone());
    let look = (0..LOOKS_MAX).fold(None, |best: Option<SpanWalk>, _| match best {
        Some(whole) if whole.torn == 0 => Some(whole),
        _ => {
            reader.forget();
            let next = SpanWalk::take(&reader, &library, table, lists.as_ref());
            Some(best.filter(|best| best.torn <= next.torn).unwrap_or(next))
        }
    })?;
    survey.ranges = metadata::ranges(source, &look.spans, &look.tables, not_malloc);
    add_blocks(&mut survey, source, table, look);
    Some(survey)
}

/// Where lists of free objects begin, which does not change while a process runs.
struct Lists {
    classes: Vec<SizeClass>,
    /// The central cache of class 0.
    central: u64,
}

impl Lists {
    fn find(reader: &WordReader<'_>, variables: Range<u64>) -> Option<Lists> {
        let classes = size_class::find(reader, variables.clone())?;
        let central = free_objects::find_central(reader, variables, classes.len())?;
        Some(Lists { classes, central })
    }
}

/// One walk over all spans and lists.
struct SpanWalk {
    spans: Vec<Span>,
    /// `None` when the lists of free objects were not found.
    blocks: Option<Blocks>,
    /// Lists and spans that contradicted themselves.
    torn: u64,
    /// Spans among them.
    torn_spans: u64,
    /// Addresses of the allocator's own structures.
    tables: Vec<Range<u64>>,
}

impl SpanWalk {
    fn take(reader: &WordReader<'_>, library: &Library, table: PageTable, lists: Option<&Lists>) -> SpanWalk {
        let leaves = table.leaves(reader);
        let (spans, torn_spans) = table.spans(reader, &leaves);
        let mut torn = torn_spans;
        let mut tables: Vec<_> =
            leaves.found.iter().map(|(leaf, _)| *leaf..leaf + table.leaf_bytes()).collect();
        tables.extend(spans.iter().map(|span| span.at..span.at.saturating_add(span::SPAN_BYTES)));
        let Some(lists) = lists else { return SpanWalk { spans, blocks: None, torn, torn_spans, tables } };
        let threads = free_objects::find_threads(reader, library.variables.clone(), &lists.classes);
        tables
            .extend(threads.iter().map(|thread| *thread..thread.saturating_add(free_objects::THREAD_BYTES)));
        let mut objects = Objects::new(&spans, &lists.classes, table.page_shift);
        objects.follow_spans(reader);
        objects.follow_central(reader, lists.central);
        threads.iter().for_each(|thread| objects.follow_thread(reader, *thread));
        let blocks = blocks_of(&spans, &objects);
        // A process that allocates has a thread with a cache.
        let is_full = blocks.blocks.is_full();
        torn += objects.broken_lists + u64::from(threads.is_empty());
        torn += if is_full { 0 } else { blocks.not_cut.len() as u64 };
        SpanWalk { spans, blocks: Some(blocks), torn, torn_spans, tables }
    }
}

/// Blocks of all spans.
#[derive(Default)]
struct Blocks {
    blocks: allocators::Blocks,
    /// Spans that contradict the size class that they name, and those for whose blocks there is no room.
    not_cut: Vec<Range<u64>>,
}

/// Blocks of all spans. Free objects of the central lists that lie beside each other are one block.
fn blocks_of(spans: &[Span], objects: &Objects<'_>) -> Blocks {
    let mut blocks = allocators::Blocks::default();
    let mut not_cut = Vec::new();
    let block = |address, bytes, state| Block { address, bytes, state, header_bytes: 0, arena: 0 };
    for (index, span) in spans.iter().enumerate() {
        let bytes = span.addresses.end - span.addresses.start;
        if blocks.is_full() {
            not_cut.push(span.addresses.clone());
            continue;
        }
        match (span.location, span.class) {
            (Location::Free, _) => blocks.push(block(span.addresses.start, bytes, BlockState::Binned)),
            (Location::Returned, _) => blocks.push(block(span.addresses.start, bytes, BlockState::Top)),
            (Location::InUse, 0) => blocks.push(block(span.addresses.start, bytes, BlockState::Used)),
            (Location::InUse, _) if objects.count(index) == 0 => not_cut.push(span.addresses.clone()),
            (Location::InUse, _) => {
                let object_bytes = objects.bytes(span);
                let mut address = span.addresses.start;
                let mut run: Option<Block> = None;
                for state in objects.states(index) {
                    if state == BlockState::Binned {
                        run.get_or_insert(block(address, 0, state)).bytes += object_bytes;
                    } else {
                        run.take().into_iter().for_each(|run| blocks.push(run));
                        blocks.push(block(address, object_bytes, state));
                    }
                    address += object_bytes;
                }
                run.into_iter().for_each(|run| blocks.push(run));
            }
        }
    }
    Blocks { blocks, not_cut }
}

fn add_blocks(survey: &mut Survey, source: &dyn MemorySource, table: PageTable, look: SpanWalk) {
    if look.torn != 0 {
        let what = format!(
            "{} lists or spans contradicted themselves: objects of them may count as used",
            look.torn
        );
        survey.problems.push(problem(&what));
    }
    if look.torn_spans == 0 {
        survey.trim_gain_bytes = Some(release_gain_bytes(source, &look.spans));
    } else {
        survey.problems.push(problem(NO_PREDICTION));
    }
    let system_bytes = look.spans.iter().map(|span| span.addresses.end - span.addresses.start).sum();
    let mut facts = ArenaFacts { system_bytes, ..ArenaFacts::default() };
    match look.blocks {
        Some(Blocks { blocks, not_cut }) => {
            count(&mut facts, source, &blocks);
            survey.blocks = blocks;
            survey.not_walkable = not_cut;
        }
        None => {
            let what =
                "its lists of free objects were not found: used and freed memory cannot be distinguished";
            survey.problems.push(problem(what));
            survey.not_walkable = look.spans.into_iter().map(|span| span.addresses).collect();
        }
    }
    survey.arenas.push(Arena { address: table.root, facts });
}

/// What `MallocExtension_ReleaseFreeMemory` gives back: the resident pages of the page heap's free spans. Spans with objects in them stay, as
/// do caches of threads. Held by: `jemalloc_and_tcmalloc_are_called_by_their_own_functions`.
fn release_gain_bytes(source: &dyn MemorySource, spans: &[Span]) -> u64 {
    let free = spans.iter().filter(|span| span.location == Location::Free);
    free.map(|span| source.pages().resident_bytes_in(span.addresses.clone())).sum()
}

fn count(facts: &mut ArenaFacts, source: &dyn MemorySource, blocks: &allocators::Blocks) {
    let (mut bins, mut cached, mut returned, mut resident) = (0, 0, 0, 0);
    for block in blocks {
        match block.state {
            BlockState::Used => facts.used_bytes += block.bytes,
            BlockState::ThreadCache => cached += block.bytes,
            BlockState::Top => returned += block.bytes,
            BlockState::Binned | BlockState::Fast => bins += block.bytes,
        }
        if block.state != BlockState::Used {
            resident += source.pages().resident_bytes_in(block.addresses());
        }
    }
    facts.bins_bytes = Some(bins);
    facts.thread_cache_bytes = Some(cached);
    facts.top_bytes = Some(returned);
    facts.freed_resident_bytes = Some(resident);
}

/// The version that the library names among its constants.
fn version(constants: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"gperftools ";
    let at = constants.windows(NAME.len()).position(|window| window == NAME)? + NAME.len();
    let end = constants[at..].iter().take(32).position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    Some(String::from_utf8_lossy(&constants[at..at + end]).into_owned()).filter(|version| !version.is_empty())
}

fn problem(what: &str) -> Problem {
    Problem::new("tcmalloc", what)
}
