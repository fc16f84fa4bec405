//! jemalloc, against a program that knows its blocks, jemalloc's own figures, and the tags of a JVM.

use crate::preloaded;
use assay_allocators::{BlockState, HeapKind};
use assay_model::Allocator;
use assay_testkit::{find_library, skip};

const LIBRARY: &str = "libjemalloc.so.2";

#[test]
fn every_block_of_a_program_on_five_threads_is_told_and_sums_equal_the_allocators_own() {
    let settings = [
        "narenas:1",
        "tcache:false",
        "lg_tcache_max:20",
        "dirty_decay_ms:0",
        "dirty_decay_ms:0,muzzy_decay_ms:10000",
        "retain:false",
        "dss:primary",
        "percpu_arena:percpu",
        "background_thread:true",
        "metadata_thp:always,thp:always",
    ];
    let settings = settings.map(|setting| Some(("MALLOC_CONF", setting))).into_iter();
    preloaded::known_blocks_agree(
        (LIBRARY, Allocator::Jemalloc),
        settings.chain([None; 3]),
        |setting, start, survey, told| {
            let without_caches = setting.is_some_and(|(_, setting)| setting == "tcache:false");
            assert_eq!(survey.problems.len(), usize::from(without_caches), "{start}: {:?}", survey.problems);
            let stat = |name: &str| told.stats[&format!("stats.{name}")];
            let sum = |of: fn(&assay_model::ArenaFacts) -> u64| {
                survey.arenas.iter().map(|arena| of(&arena.facts)).sum::<u64>()
            };
            for arena in &survey.arenas {
                println!("{start}: arena at {:#x}: {:?}", arena.address, arena.facts);
            }
            println!("{:?}", told.stats);
            // jemalloc counts blocks in threads' caches and its own, which hold these caches, as allocated.
            let cached = preloaded::bytes_in(survey, BlockState::ThreadCache);
            let used = preloaded::bytes_in(survey, BlockState::Used);
            assert_eq!(cached, stat("arenas.4096.tcache_bytes"));
            assert_eq!(used + cached + stat("arenas.4096.internal"), stat("allocated"));
            assert_eq!(preloaded::bytes_in(survey, BlockState::Top), stat("retained"));
            let tables = survey.ranges.iter().filter(|range| range.kind == HeapKind::Metadata);
            let tables: u64 = tables.map(|range| range.addresses.end - range.addresses.start).sum();
            assert_eq!(sum(|facts| facts.system_bytes) + tables, stat("mapped") + stat("retained"));
            assert!(stat("arenas.4096.base") <= tables);
        },
    );
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

#[test]
fn blocks_from_huge_pages_are_used_and_the_rest_is_said_not_to_be_seen() {
    let Some(library) = find_library(LIBRARY) else { skip!("no {LIBRARY}") };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = preloaded::compile(folder.path(), "known_blocks") else { skip!("no C compiler") };
    let setting = Some(("MALLOC_CONF", "hpa:true"));
    let (child, mut told) = preloaded::start(&program, &library, setting, ["6", "4", "3000", "0"]);
    let (_, survey) = preloaded::survey_of(child.pid());
    preloaded::assert_well_formed(&survey);
    told.freed.clear();
    preloaded::assert_tells_them_apart(&survey, &told);
    let is_said = survey.problems.iter().any(|problem| problem.text.contains("huge pages"));
    assert!(is_said, "{:?}", survey.problems);
    let is_said = survey.problems.iter().any(|problem| problem.text.contains("cannot be predicted"));
    assert!(survey.trim_gain_bytes.is_none() && is_said, "{:?}", survey.problems);
}
