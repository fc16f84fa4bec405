//! tcmalloc, against a program that knows its blocks, tcmalloc's own figures, and the tags of a JVM.

use crate::preloaded;
use assay_allocators::{BlockState, HeapKind};
use assay_model::Allocator;

const LIBRARY: &str = "libtcmalloc_minimal.so.4";

#[test]
fn every_block_of_a_program_on_five_threads_is_told_and_sums_equal_the_allocators_own() {
    let settings = [
        ("TCMALLOC_SKIP_SBRK", "true"),
        ("TCMALLOC_AGGRESSIVE_DECOMMIT", "true"),
        ("TCMALLOC_RELEASE_RATE", "10"),
        ("TCMALLOC_TRANSFER_NUM_OBJ", "4"),
    ];
    let settings = settings.map(Some).into_iter().chain([None; 3]);
    preloaded::known_blocks_agree((LIBRARY, Allocator::Tcmalloc), settings, |_, start, survey, told| {
        assert_eq!(survey.problems, [], "{start}");
        let facts = &survey.arenas[0].facts;
        let stat = |name: &str| told.stats[name];
        assert_eq!(facts.used_bytes, stat("generic.current_allocated_bytes"), "{start}");
        assert_eq!(facts.system_bytes, stat("generic.heap_size"));
        assert_eq!(facts.thread_cache_bytes, Some(stat("tcmalloc.current_total_thread_cache_bytes")));
        assert_eq!(facts.top_bytes, Some(stat("tcmalloc.pageheap_unmapped_bytes")));
        // tcmalloc counts the tails of spans that are too short for another object as free in the central cache.
        let in_ranges = |kind| survey.ranges.iter().filter(move |range| range.kind == kind);
        let bytes =
            |kind| in_ranges(kind).map(|range| range.addresses.end - range.addresses.start).sum::<u64>();
        let spans = bytes(HeapKind::Secondary) + bytes(HeapKind::Mapped);
        let tails = spans - survey.blocks.iter().map(|block| block.bytes).sum::<u64>();
        let free = ["pageheap_free", "central_cache_free", "transfer_cache_free"];
        let free: u64 = free.iter().map(|name| stat(&format!("tcmalloc.{name}_bytes"))).sum();
        assert_eq!(preloaded::bytes_in(survey, BlockState::Binned) + tails, free);
        assert!(stat("metadata") <= bytes(HeapKind::Metadata), "tables of {} bytes", stat("metadata"));
        println!("{start}: {facts:?}, tails {tails}, metadata {}", bytes(HeapKind::Metadata));
    });
}

#[test]
fn every_tagged_block_of_jvms_17_and_25_is_at_the_start_of_a_used_one() {
    preloaded::tagged_blocks_are_used(LIBRARY);
}

#[test]
fn corrupt_memory_gives_problems_and_neither_panics_nor_hangs() {
    preloaded::corrupt_memory_gives_problems(LIBRARY);
}

#[test]
fn what_is_held_stays_used_while_threads_allocate_and_free() {
    preloaded::what_is_held_stays_used(LIBRARY);
}
