//! The join: what kernel, JVM and allocator say of one process, painted in layers, and every resident byte added up.

use crate::SnapshotDepth;
use crate::address_map::{AddressMap, AddressRange};
use crate::assemble::{Parts, Sums, add_up};
use crate::depth::depth_of;
use crate::entry_table::{EntryId, EntryTable};
use crate::heap_classes::{self, HeapObjects};
use crate::jvm::Jvm;
use crate::jvm_spans::{code_spans, gc_spans, heap_spans, metaspace_spans, page_spans};
use crate::mapped::{archive_files, mapped_spans};
use crate::mapped_again::MappedAgain;
use crate::native_image;
use crate::options::ReadOptions;
use crate::owners::{Claims, Searched, Variables, find_owners, native_roots, read_tags};
use crate::ranges::Ranges;
use crate::stacks::{Stacks, stack_spans};
use crate::system_map::NamedRange;
use crate::unknown::unknown_pieces;
use assay_allocators::{HeapKind, Survey, survey};
use assay_hotspot::HotspotError;
use assay_linux::{CachedMemory, MemorySource};
use assay_model::{Area, FigureSource, OwnersLeftOut, Problem, ThreadMemory, UnknownPiece};
use std::ops::Range;

/// Everything that one snapshot of a source gave.
pub(crate) struct Snapshot<'m> {
    pub(crate) depth: SnapshotDepth,
    pub(crate) owners_left_out: Option<OwnersLeftOut>,
    pub(crate) entries: EntryTable,
    pub(crate) sums: Sums,
    pub(crate) mapped_again: MappedAgain,
    pub(crate) jvm: Option<Jvm<'m>>,
    /// Empty where the heap was not read.
    pub(crate) heap_objects: HeapObjects,
    pub(crate) survey: Survey,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold it against what the JVM tags"))]
    pub(crate) claims: Claims,
    pub(crate) threads: Vec<ThreadMemory>,
    /// Stacks of waiting threads below their stack pointers.
    pub(crate) stale_stacks: Vec<Range<u64>>,
    pub(crate) unknown: Vec<UnknownPiece>,
    pub(crate) problems: Vec<Problem>,
}

/// The JVM of a process, if it is one.
pub(crate) type FoundJvm<'m> = Result<Option<Jvm<'m>>, HotspotError>;

/// Looks at a process whose JVM has been read.
///
/// `named` is what the JVM was asked to name; it is used where nothing else names anything.
pub(crate) fn take<'m>(
    memory: &'m CachedMemory<'m>,
    jvm: FoundJvm<'m>,
    options: &ReadOptions,
    named: &[NamedRange],
) -> Snapshot<'m> {
    let source = memory.source();
    let mut entries = EntryTable::default();
    let mut problems = Vec::new();
    let mut address_map = AddressMap::default();
    address_map.paint(mapped_spans(source, &mut entries));
    let jvm = jvm.unwrap_or_else(|error| {
        problems.push(Problem::new("libjvm", error.to_string()));
        None
    });
    if jvm.is_none()
        && let Some(image) = native_image::find(source)
    {
        let what = format!(
            "{image} is a native image of GraalVM, not a HotSpot JVM: its Java heap, code and class data are not distinguished"
        );
        problems.push(Problem::new("native image", what));
    }
    if let Some(jvm) = &jvm {
        paint_jvm(source, jvm, &mut address_map, &mut entries);
    }
    let jvm_threads = jvm.as_ref().map_or(&[][..], |j| &j.threads);
    let unclaimed = address_map.unpainted(source.pages());
    let hotspot = jvm.as_ref().map(|jvm| &jvm.hotspot);
    let Stacks { spans: stacks, threads, stale: stale_stacks } =
        stack_spans(source, hotspot, jvm_threads, &unclaimed, &mut entries);
    let mut not_malloc = jvm.as_ref().map(Jvm::not_malloc).unwrap_or_default();
    not_malloc.extend(stacks.iter().map(|span| span.addresses.clone()));
    address_map.paint(stacks);
    let (depth, owners_left_out) = depth_of(source, jvm.as_ref(), options);
    let variables = (depth == SnapshotDepth::Owners).then(|| Variables::of(source));
    let survey = survey(source, &not_malloc);
    address_map.paint(allocator_spans(&survey, &mut entries));
    let claims = match &variables {
        Some(variables) => {
            // Ranges that the kernel keeps together are attributed together: a pointer to one part speaks for the rest.
            // Where any of it may be class metadata, or blocks of malloc, everybody points at it: it is nobody's.
            let regions = if is_metaspace_known(jvm.as_ref()) && !survey.is_unread() {
                whole_regions(source, &address_map.unpainted(source.pages()))
            } else {
                Vec::new()
            };
            let searched = Searched { regions: &regions, variables, ignore_nmt: options.ignore_nmt };
            find_owners(source, jvm.as_ref(), &survey, searched, &mut entries)
        }
        None => {
            let tracked = jvm.as_ref().filter(|jvm| jvm.nmt.is_tracking() && !options.ignore_nmt);
            tracked.map_or_else(Claims::default, |jvm| read_tags(source, jvm, &survey, &mut entries))
        }
    };
    address_map.paint_beneath(
        claims.regions.iter().map(|(range, entry)| AddressRange::new(range.clone(), *entry)).collect(),
    );
    let asked = named.iter().map(|range| {
        let entry = entries.entry(range.area, &["named by the JVM", &range.name], FigureSource::Jcmd);
        AddressRange::new(range.addresses.clone(), entry)
    });
    address_map.paint_beneath(asked.collect());
    let read_heap = jvm.as_ref().filter(|_| depth == SnapshotDepth::Owners);
    let native_roots = || native_roots(&survey.blocks, &claims.owners, &entries);
    let heap_objects = read_heap.map_or_else(Default::default, |jvm| {
        heap_classes::count(source, jvm, options.mark_heap, native_roots)
    });
    let nameless = address_map.unpainted(source.pages());
    address_map.paint_beneath(fallback_spans(source, &mut entries));
    let parts = Parts::new(&survey, &claims, jvm.as_ref(), depth, &mut entries);
    let mapped_again = MappedAgain::of(source.mappings(), source.pages());
    let sums = add_up(source, &mapped_again.pages, address_map, parts, &mut entries, options.with_ranges);
    let unknown = unknown_pieces(source, &sums.blocks.unowned, &nameless);
    problems.extend(sums.ranges.iter().filter_map(Ranges::problem));
    problems.extend(claims.problems.iter().cloned());
    problems.extend(heap_objects.problems.iter().cloned());
    problems.extend(survey.problems.iter().cloned());
    problems.extend(jvm.iter().flat_map(|j| j.hotspot.problems()));
    Snapshot {
        depth,
        owners_left_out,
        entries,
        sums,
        mapped_again,
        jvm,
        heap_objects,
        survey,
        claims,
        threads,
        stale_stacks,
        unknown,
        problems,
    }
}

/// Whether class metadata can be distinguished from other memory without a name; without a JVM there is none.
fn is_metaspace_known(jvm: Option<&Jvm<'_>>) -> bool {
    jvm.is_none_or(|jvm| jvm.metaspace.as_ref().is_some_and(|metaspace| !metaspace.nodes.is_empty()))
}

fn paint_jvm(
    source: &dyn MemorySource,
    jvm: &Jvm<'_>,
    address_map: &mut AddressMap,
    entries: &mut EntryTable,
) {
    address_map.paint(page_spans(&jvm.hotspot.jvm_pages(), entries));
    // Objects of the archive are the heap's.
    let archive =
        jvm.metaspace.iter().flat_map(|metaspace| archive_files(source, &metaspace.archive, entries));
    address_map.paint(archive.collect());
    for layer in jvm.heap.iter().flat_map(|heap| heap_spans(heap, entries)) {
        address_map.paint(layer);
    }
    address_map.paint(gc_spans(&jvm.gc_tables, entries));
    for layer in jvm.code.iter().flat_map(|code| code_spans(code, entries)) {
        address_map.paint(layer);
    }
    for layer in jvm.metaspace.iter().flat_map(|metaspace| metaspace_spans(source, metaspace, entries)) {
        address_map.paint(layer);
    }
}

/// All memory of the allocator; its blocks are joined when the bytes are added up, and what is between them is its own.
fn allocator_spans(survey: &Survey, entries: &mut EntryTable) -> Vec<AddressRange> {
    let mut spans = Vec::new();
    let between = entries.explained(
        Area::AllocatorOverhead,
        &["headers"],
        FigureSource::Allocator,
        "what the allocator keeps before and between blocks",
    );
    let metadata = entries.explained(
        Area::AllocatorOverhead,
        &["arena structures"],
        FigureSource::Allocator,
        "the allocator's own tables",
    );
    for range in &survey.ranges {
        let entry = if range.kind == HeapKind::Metadata { metadata } else { between };
        spans.push(AddressRange::new(range.addresses.clone(), entry));
    }
    let torn = entries.explained(
        Area::MallocHeap,
        &["could not be walked"],
        FigureSource::Allocator,
        "changed by a running thread while it was read, or not understood",
    );
    let mut address_map = AddressMap::default();
    address_map.paint(spans);
    address_map
        .paint(survey.not_walkable.iter().map(|range| AddressRange::new(range.clone(), torn)).collect());
    address_map.into_spans()
}

/// The mappings' parts around nameless resident ranges: anonymous memory between what is named.
fn whole_regions(source: &dyn MemorySource, nameless: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut regions: Vec<Range<u64>> = Vec::new();
    for part in nameless {
        let mappings = source.mappings();
        let at = mappings.partition_point(|m| m.addresses.end <= part.start);
        let Some(mapping) = mappings.get(at).filter(|m| m.addresses.start <= part.start) else { continue };
        match regions.last_mut() {
            Some(last) if mapping.addresses.start <= last.start && last.end + (1 << 16) >= part.start => {
                last.end = part.end;
            }
            _ => regions.push(part.clone()),
        }
    }
    regions
}

/// For memory that nothing claims but whose mapping says something: executable memory, and files of unknown kind.
fn fallback_spans(source: &dyn MemorySource, entries: &mut EntryTable) -> Vec<AddressRange> {
    let mut spans = Vec::new();
    for mapping in source.mappings().iter().filter(|m| m.rss_bytes != 0) {
        let entry: EntryId = if mapping.is_executable() && mapping.name.is_empty() {
            entries.entry(Area::JitCode, &["executable memory"], FigureSource::Kernel)
        } else if let Some(name) = mapping.name.strip_prefix("[anon:").and_then(|n| n.strip_suffix(']')) {
            entries.entry(Area::Other, &["named by the program", name], FigureSource::Kernel)
        } else {
            continue;
        };
        spans.push(AddressRange::new(mapping.addresses.clone(), entry));
    }
    spans
}
