//! Address ranges from the JVM's own structures: heap, collector's tables, code cache, class metadata.

use crate::address_map::AddressRange;
use crate::entry_table::EntryTable;
use crate::mapped::archive_spans;
use assay_hotspot::{
    BlobKind, ChunkState, CodeCache, CodeHeap, GcTable, JavaHeap, JvmPages, Metaspace, MetaspaceNode,
};
use assay_linux::{Mapping, MemorySource};
use assay_model::{Area, FigureSource};
use std::collections::BTreeMap;

pub(crate) fn heap_spans(heap: &JavaHeap, entries: &mut EntryTable) -> Vec<Vec<AddressRange>> {
    let outside = entries.explained(
        Area::JavaHeap,
        &["outside any space"],
        heap.known_from,
        "reserved for the heap, in no space of it at the moment",
    );
    let reserved = heap.reserved.iter().map(|range| AddressRange::new(range.clone(), outside)).collect();
    let mut spaces = Vec::new();
    for space in &heap.spaces {
        let (start, end) = (space.addresses.start, space.addresses.end);
        if space.name == "free" {
            let free = entries.explained(
                Area::JavaHeap,
                &["free but resident"],
                heap.known_from,
                "committed heap without objects, which the kernel still keeps for the process",
            );
            spaces.push(AddressRange::new(start..end, free));
            continue;
        }
        let top = space.top.clamp(start, end);
        let used = entries.explained(
            Area::JavaHeap,
            &[space.name, "used"],
            heap.known_from,
            "objects, live or not yet collected",
        );
        spaces.push(AddressRange::new(start..top, used));
        let behind = entries.explained(
            Area::JavaHeap,
            &[space.name, "unused above top"],
            heap.known_from,
            "touched before, without objects now",
        );
        spaces.push(AddressRange::new(top..end, behind));
    }
    vec![reserved, spaces]
}

/// Single pages with a purpose of their own: polling pages, performance counters.
pub(crate) fn page_spans(pages: &[JvmPages], entries: &mut EntryTable) -> Vec<AddressRange> {
    let spans = pages.iter();
    spans
        .map(|p| {
            AddressRange::new(p.addresses.clone(), entries.entry(Area::JvmWork, &[p.name], p.known_from))
        })
        .collect()
}

pub(crate) fn gc_spans(tables: &[GcTable], entries: &mut EntryTable) -> Vec<AddressRange> {
    let spans = tables.iter();
    spans
        .map(|t| {
            AddressRange::new(
                t.addresses.clone(),
                entries.entry(Area::GcStructures, &[&t.name], t.known_from),
            )
        })
        .collect()
}

pub(crate) fn code_spans(cache: &CodeCache, entries: &mut EntryTable) -> Vec<Vec<AddressRange>> {
    let mut beneath = Vec::new();
    let mut blobs = Vec::new();
    for heap in &cache.heaps {
        code_heap_spans(heap, cache.known_from, entries, &mut beneath, &mut blobs);
    }
    vec![beneath, blobs]
}

fn code_heap_spans(
    heap: &CodeHeap,
    known_from: FigureSource,
    entries: &mut EntryTable,
    beneath: &mut Vec<AddressRange>,
    blobs: &mut Vec<AddressRange>,
) {
    let mut entry = |part: &'static str, explanation| {
        entries.explained(Area::JitCode, &[&heap.name, part], known_from, explanation)
    };
    let frontier = heap.frontier.clamp(heap.reserved.start, heap.reserved.end);
    let free = entry("free", "held code that was discarded; kept for the next method");
    let never = entry("never used", "behind the last blob of code");
    let map = entry("segment map", "the code heap's own table of used segments");
    beneath.push(AddressRange::new(heap.reserved.start..frontier, free));
    beneath.push(AddressRange::new(frontier..heap.reserved.end, never));
    beneath.push(AddressRange::new(heap.segment_map.clone(), map));
    let kinds = [
        (BlobKind::Method, entry("methods", "compiled Java methods")),
        (BlobKind::NativeMethod, entry("native wrappers", "bridges from Java to native methods")),
        (BlobKind::Adapter, entry("adapters", "bridges between interpreted and compiled code")),
        (BlobKind::Stub, entry("stubs", "the JVM's own generated code: interpreter, runtime, barriers")),
        (BlobKind::Buffer, entry("buffers", "work space of the compilers in the code cache")),
    ];
    for blob in &heap.blobs {
        if let Some((_, entry)) = kinds.iter().find(|(kind, _)| *kind == blob.kind) {
            blobs.push(AddressRange::new(blob.addresses.clone(), *entry));
        }
    }
}

pub(crate) fn metaspace_spans(
    source: &dyn MemorySource,
    metaspace: &Metaspace,
    entries: &mut EntryTable,
) -> Vec<Vec<AddressRange>> {
    let mut beneath = Vec::new();
    for range in &metaspace.archive {
        let archive = Mapping { addresses: range.clone(), ..Mapping::default() };
        beneath.extend(archive_spans(source, &archive, entries));
    }
    let mut chunks = Vec::new();
    count_loaders(metaspace, entries);
    for node in &metaspace.nodes {
        node_spans(node, metaspace, entries, &mut beneath, &mut chunks);
    }
    vec![beneath, chunks]
}

/// A class of loaders may have many loaders: one for each application, or one for each leak.
fn count_loaders(metaspace: &Metaspace, entries: &mut EntryTable) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for loader in &metaspace.loaders {
        *counts.entry(&loader.name).or_insert(0) += loader.count;
    }
    for (name, count) in counts {
        for space in ["class space", "non-class"] {
            entries.set_count(Area::ClassMetadata, &[space, "used", name], count);
        }
    }
}

fn node_spans(
    node: &MetaspaceNode,
    metaspace: &Metaspace,
    entries: &mut EntryTable,
    beneath: &mut Vec<AddressRange>,
    chunks: &mut Vec<AddressRange>,
) {
    let space = if node.is_class_space { "class space" } else { "non-class" };
    let known_from = metaspace.known_from;
    let (rest, what) = if node.chunks.is_empty() {
        (
            "not distinguished",
            "classes that are loaded, and free chunks between them: which is which is not read in this release",
        )
    } else {
        ("free chunks", "given back by class loaders that are gone, or never used; still resident")
    };
    let rest = entries.explained(Area::ClassMetadata, &[space, rest], known_from, what);
    beneath.push(AddressRange::new(node.addresses.clone(), rest));
    for chunk in node.chunks.iter().filter(|c| c.state == ChunkState::InUse) {
        let loader = chunk.loader.and_then(|i| metaspace.loaders.get(i as usize));
        let loader = loader.map_or("loader not known", |l| l.name.as_str());
        let (start, end) = (chunk.addresses.start, chunk.addresses.end);
        let used_end = start.saturating_add(chunk.used_bytes).min(end);
        let used = entries.entry(Area::ClassMetadata, &[space, "used", loader], known_from);
        let tail = entries.explained(
            Area::ClassMetadata,
            &[space, "unused tails"],
            known_from,
            "the part of a loader's chunk that it has not used yet",
        );
        chunks.push(AddressRange::new(start..used_end, used));
        chunks.push(AddressRange::new(used_end..end, tail));
    }
}
