//! What JVM and allocator say of themselves, in the stored form.

use crate::assemble::Sums;
use crate::jvm::Jvm;
use crate::owners::DIRECT_BUFFERS;
use crate::snapshot::Snapshot;
use assay_allocators::Survey;
use assay_hotspot::{BlobKind, ChunkState, GcTable, JavaHeap, JvmVersion, NmtLevel};
use assay_model::{
    AllocatorFacts, Area, ContainerLimits, JvmContainer, JvmMemoryFacts, SnapshotDepth, ThreadKind,
};
use std::collections::BTreeMap;

/// Arenas that are listed.
const ARENAS_LISTED_MAX: usize = 256;

/// Flags that matter to memory.
const FLAGS: &[&str] = &[
    "AlwaysPreTouch",
    "CompressedClassSpaceSize",
    "ConcGCThreads",
    "DisableAttachMechanism",
    "G1HeapRegionSize",
    "G1PeriodicGCInterval",
    "InitialHeapSize",
    "MaxDirectMemorySize",
    "MaxHeapFreeRatio",
    "MaxHeapSize",
    "MaxMetaspaceSize",
    "MaxRAMPercentage",
    "MinHeapFreeRatio",
    "MinHeapSize",
    "ParallelGCThreads",
    "ReservedCodeCacheSize",
    "SegmentedCodeCache",
    "ShenandoahUncommit",
    "ShenandoahUncommitDelay",
    "ShrinkHeapInSteps",
    "SoftMaxHeapSize",
    "ThreadStackSize",
    "TrimNativeHeapInterval",
    "UseAdaptiveSizePolicyWithSystemGC",
    "UseCompactObjectHeaders",
    "UseCompressedClassPointers",
    "UseCompressedOops",
    "UseLargePages",
    "UseStringDeduplication",
    "UseTransparentHugePages",
    "ZUncommit",
    "ZUncommitDelay",
];
/// `MaxMetaspaceSize` when nobody set it: all of the address space.
const UNLIMITED: u64 = u64::MAX - (1 << 20);

pub(crate) fn jvm_facts(jvm: &Jvm<'_>, seen: &Snapshot<'_>) -> JvmMemoryFacts {
    let Snapshot { sums, entries, .. } = seen;
    let flags = jvm.hotspot.flags();
    let size = |name: &str| flags.int(name).map(|value| value as u64);
    let heap_bytes_max = size("MaxHeapSize");
    let direct_bytes_max = size("MaxDirectMemorySize").filter(|bytes| *bytes != 0).or(heap_bytes_max);
    let heap = jvm.heap.as_ref().filter(|heap| !heap.spaces.is_empty());
    let metaspace = jvm.metaspace.as_ref();
    // Of nodes whose chunks are not known nobody knows what is used.
    let has_chunks = |m: &&assay_hotspot::Metaspace| m.nodes.iter().any(|node| !node.chunks.is_empty());
    let chunks = metaspace.filter(has_chunks).map(|m| m.nodes.iter().flat_map(|n| &n.chunks));
    let in_use = |chunk: &&assay_hotspot::Metachunk| chunk.state == ChunkState::InUse;
    let blobs = jvm.code.as_ref().map(|c| c.heaps.iter().flat_map(|h| &h.blobs));
    let of_code = |blob: &assay_hotspot::CodeBlob| blob.addresses.end - blob.addresses.start;
    JvmMemoryFacts {
        version: jvm.hotspot.version().map(JvmVersion::name),
        feature: jvm.hotspot.version().map(|v| v.feature),
        collector: jvm.hotspot.collector().map(|c| c.name().to_owned()),
        native_memory_tracking: Some(level_name(jvm.nmt.level).to_owned()),
        has_trim_command: Some(jvm.hotspot.has_trim_command()),
        layout: Some(
            jvm.hotspot.pack().map_or("none".to_owned(), |p| format!("layout pack {}", p.feature())),
        ),
        heap_committed_bytes: heap.map(JavaHeap::committed_bytes),
        heap_used_bytes: heap.map(JavaHeap::used_bytes),
        heap_bytes_max,
        heap_classes: seen.heap_objects.classes.clone(),
        heap_live: seen.heap_objects.live.clone(),
        gc_tables_bytes: jvm.hotspot.collector().map(|_| heap_tables_bytes(&jvm.gc_tables)),
        metaspace_used_bytes: chunks.map(|chunks| chunks.filter(in_use).map(|c| c.used_bytes).sum()),
        metaspace_bytes_max: size("MaxMetaspaceSize").filter(|bytes| *bytes < UNLIMITED),
        class_space_bytes_max: size("CompressedClassSpaceSize")
            .filter(|_| flags.bool("UseCompressedClassPointers") != Some(false)),
        code_cache_used_bytes: blobs
            .map(|blobs| blobs.filter(|b| b.kind != BlobKind::Buffer).map(of_code).sum()),
        code_cache_bytes_max: size("ReservedCodeCacheSize"),
        // In KiB; 0 stands for the platform's default.
        thread_stack_bytes: size("ThreadStackSize")
            .filter(|kib| *kib != 0)
            .map(|kib| kib.saturating_mul(1024)),
        direct_bytes_max,
        // The buffers' memory is in malloc, and without a search for owners not distinguished from the rest of it.
        direct_used_bytes: (seen.depth == SnapshotDepth::Owners)
            .then(|| sums.beneath(Area::Buffers, DIRECT_BUFFERS, entries)),
        compiling: jvm.compiling.clone(),
        java_threads: Some(jvm.threads.iter().filter(|t| t.kind == ThreadKind::Java).count() as u64),
        classes: metaspace.and_then(|m| m.loaders.iter().map(|l| l.classes).sum()),
        // Its limits only the kernel of a live process has.
        container: Some(JvmContainer {
            view: jvm.hotspot.container_view(),
            limits: ContainerLimits::default(),
        }),
        flags: values(flags),
    }
}

/// ZGC's tables are for all addresses that its heap may ever have, and mark stacks grow with what is found live.
fn heap_tables_bytes(tables: &[GcTable]) -> u64 {
    let of_heap = tables.iter().filter(|table| is_heap_table(&table.name));
    of_heap.map(|table| table.addresses.end - table.addresses.start).sum()
}

/// Whether one of the collector's tables has an entry for each piece of the heap.
pub(crate) fn is_heap_table(name: &str) -> bool {
    const HEAP_TABLES: [&str; 8] = [
        "auxiliary bitmap",
        "block offset table",
        "block table",
        "card counts",
        "card table",
        "collection set map",
        "mark bitmap",
        "region table",
    ];
    HEAP_TABLES.contains(&name)
}

fn values(flags: &assay_hotspot::Flags) -> BTreeMap<String, String> {
    let text = |name: &str| {
        let number = flags.int(name).map(|value| (value as u64).to_string());
        flags.bool(name).map(|value| value.to_string()).or(number)
    };
    FLAGS.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect()
}

fn level_name(level: NmtLevel) -> &'static str {
    match level {
        NmtLevel::Off => "off",
        NmtLevel::Minimal => "minimal",
        NmtLevel::Summary => "summary",
        NmtLevel::Detail => "detail",
    }
}

/// The allocator; absent when none was found.
pub(crate) fn allocator_facts(survey: &Survey, sums: &Sums) -> Option<AllocatorFacts> {
    let walked = !survey.blocks.is_empty();
    let blocks = &sums.blocks;
    Some(AllocatorFacts {
        name: survey.allocator?,
        version: survey.version.clone(),
        used_bytes: walked.then_some(blocks.used_bytes),
        used_blocks: walked.then_some(blocks.used),
        freed_bytes: walked.then_some(blocks.freed_bytes),
        trim_gain_bytes: survey.trim_gain_bytes,
        arenas: survey.arenas.iter().take(ARENAS_LISTED_MAX).map(|arena| arena.facts.clone()).collect(),
    })
}
