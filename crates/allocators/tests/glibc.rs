//! What is said of glibc's malloc is held against the program that called it, and against glibc's own `malloc_info`.

use crate::blocks_program::{Blocks, Heap, on_each_glibc, program};
use assay_allocators::{Block, BlockState, HeapKind, NO_ARENA, Survey, survey};
use assay_linux::MemorySource;
use assay_model::Allocator;
use std::collections::HashMap;
use std::path::Path;

on_each_glibc! {
    every_block_that_the_program_holds_is_found
    arenas_add_up_to_what_malloc_info_says
    ranges_are_what_glibc_got_from_the_kernel
}

/// Programs that use malloc in various ways: arguments, environment.
const PROGRAMS: [(&str, &str); 20] = [
    ("blocks=9000 block_brk=1 max=3000", ""),
    ("blocks=4000 block_brk=1 max=30000 free=70 threads=1", ""),
    ("blocks=5000", ""),
    ("blocks=20000 min=16 max=120 order=alternate", ""),
    ("blocks=20000 min=16 max=64 free=90 mxfast=160", ""),
    ("blocks=5000 mxfast=0 rounds=3", ""),
    ("threads=7 blocks=4000 rounds=3", ""),
    ("threads=7 blocks=4000 cross=1", ""),
    ("threads=12 blocks=2000", "MALLOC_ARENA_MAX=1"),
    ("threads=12 blocks=2000 max=300 free=80", "MALLOC_ARENA_MAX=3"),
    ("threads=2 blocks=400 min=100000 max=9000000 touch=3 free=40", ""),
    ("blocks=300 max=4000000 mmap_threshold=40000 touch=0", ""),
    ("blocks=5000 align=60 rounds=2", ""),
    ("blocks=400 align=90 min=4096 max=1000000 mmap_threshold=100000 touch=5", ""),
    ("threads=3 blocks=5000 realloc=60 max=20000", ""),
    ("blocks=5000 sbrk=12345", ""),
    ("threads=2 blocks=30000 max=20000 touch=1 order=first", ""),
    ("blocks=3000", "GLIBC_TUNABLES=glibc.malloc.tcache_count=100"),
    // Since 2.42 a thread may cache large blocks, and since 2.43 such as have mappings of their own.
    ("threads=2 blocks=2000 min=500 max=100000 free=70", "GLIBC_TUNABLES=glibc.malloc.tcache_max=4000000"),
    (
        "blocks=300 min=500 max=500000 mmap_threshold=40000 touch=5",
        "GLIBC_TUNABLES=glibc.malloc.tcache_max=4000000",
    ),
];

fn start(program: &Path, arguments: &str, environment: &str) -> Blocks {
    Blocks::start(program, arguments, &environment.split_once('=').into_iter().collect::<Vec<_>>())
}

/// Blocks are sorted, apart from each other, and inside a range of the allocator.
fn check_form(survey: &Survey, what: &str) {
    for pair in survey.ranges.windows(2) {
        assert!(pair[0].addresses.end <= pair[1].addresses.start, "{what}: {pair:x?}");
    }
    let neighbours = survey.blocks.iter().zip(survey.blocks.iter().skip(1));
    for (block, next) in neighbours {
        let start = next.address - u64::from(next.header_bytes);
        assert!(block.address + block.bytes <= start, "{what}: {block:x?} {next:x?}");
    }
    for block in &survey.blocks {
        let range = survey.ranges.partition_point(|range| range.addresses.end <= block.address);
        let range = &survey.ranges[range].addresses;
        let start = block.address - u64::from(block.header_bytes);
        assert!(
            range.start <= start && block.addresses().end <= range.end,
            "{what}: {block:x?} in {range:x?}"
        );
        let arena = usize::from(block.arena);
        assert!(arena < survey.arenas.len() || block.arena == NO_ARENA, "{what}: {block:x?}");
    }
}

fn by_address(survey: &Survey) -> HashMap<u64, Block> {
    survey.blocks.iter().map(|block| (block.address, block)).collect()
}

fn every_block_that_the_program_holds_is_found(program: &Path) {
    for (arguments, environment) in PROGRAMS {
        let mut target = start(program, arguments, environment);
        let survey = survey(&target.open(), &[]);
        let listed = target.list();
        assert_eq!(
            (survey.allocator, survey.problems.as_slice()),
            (Some(Allocator::Glibc), [].as_slice()),
            "{arguments}"
        );
        assert!(survey.not_walkable.is_empty(), "{arguments}: {:x?}", survey.not_walkable);
        check_form(&survey, arguments);
        let blocks = by_address(&survey);
        assert!(!listed.used.is_empty() && !listed.freed.is_empty(), "{arguments}");
        for (address, bytes) in &listed.used {
            let block = blocks.get(address).unwrap_or_else(|| panic!("{arguments}: no block at {address:x}"));
            assert_eq!((block.state, block.bytes), (BlockState::Used, *bytes), "{arguments}: {address:x}");
        }
        for address in &listed.freed {
            let state = blocks.get(address).map(|block| block.state);
            assert_ne!(state, Some(BlockState::Used), "{arguments}: {address:x} was given back");
        }
        // What else is in use is the C library's own: thread caches, its list of threads, the file of malloc_info.
        let used = survey.blocks.iter().filter(|block| block.state == BlockState::Used).count();
        let own = used - listed.used.len();
        assert!(own < 70, "{arguments}: {own} blocks in use that the program does not know");
    }
}

fn arenas_add_up_to_what_malloc_info_says(program: &Path) {
    for (arguments, environment) in PROGRAMS {
        let mut target = start(program, arguments, environment);
        let survey = survey(&target.open(), &[]);
        let (heaps, mapped) = target.malloc_info();
        let count = |index: usize, state| {
            let is_of = |block: &Block| usize::from(block.arena) == index && block.state == state;
            survey.blocks.iter().filter(is_of).count() as u64
        };
        assert_eq!(survey.arenas.len(), heaps.len(), "{arguments}");
        for (index, (arena, heap)) in survey.arenas.iter().zip(&heaps).enumerate() {
            let facts = &arena.facts;
            let (bins, top) = (facts.bins_bytes.expect("bins"), facts.top_bytes.expect("a top"));
            let seen = Heap {
                fast: (count(index, BlockState::Fast), facts.fast_bins_bytes.expect("fast bins")),
                rest: (count(index, BlockState::Binned) + 1, bins + top + count(index, BlockState::Binned)),
                system: facts.system_bytes,
            };
            assert_eq!(&seen, heap, "{arguments}: arena {index}, {:?}", survey.problems);
            assert_eq!(bins + top, heap.rest_bytes(), "{arguments}: arena {index}");
        }
        let ranges = survey.ranges.iter().filter(|range| range.kind == HeapKind::Mapped);
        let bytes: Vec<u64> = ranges.map(|range| range.addresses.end - range.addresses.start).collect();
        assert_eq!((bytes.len() as u64, bytes.iter().sum()), mapped, "{arguments}");
    }
}

/// Blocks, headers and fences fill what glibc got from the kernel, but for its own structures.
fn ranges_are_what_glibc_got_from_the_kernel(program: &Path) {
    for (arguments, environment) in PROGRAMS {
        let target = start(program, arguments, environment);
        let source = target.open();
        let survey = survey(&source, &[]);
        let bytes = |kind| {
            let of_kind = survey.ranges.iter().filter(|range| range.kind == kind);
            of_kind.map(|range| range.addresses.end - range.addresses.start).sum::<u64>()
        };
        let foreign = if arguments.contains("sbrk") { 12345 } else { 0 };
        let main = survey.arenas[0].facts.system_bytes;
        // The last page of the break may be shared with somebody else's bytes.
        let missing = main - bytes(HeapKind::Main);
        assert!(missing == 0 || (foreign..foreign + 4096 + 16).contains(&missing), "{arguments}: {missing}");
        let others: u64 = survey.arenas[1..].iter().map(|arena| arena.facts.system_bytes).sum();
        assert!(others <= bytes(HeapKind::Secondary), "{arguments}");
        let resident = source.pages().resident_bytes_in(survey.ranges[0].addresses.clone());
        assert!(0 < resident, "{arguments}");
    }
}

#[test]
fn the_main_arena_is_where_the_debug_information_says() {
    let Some(program) = program() else { assay_testkit::skip!("no C compiler") };
    let target = start(&program, "blocks=100", "");
    let survey = survey(&target.open(), &[]);
    let mut gdb = std::process::Command::new("timeout");
    let pid = target.pid().to_string();
    gdb.args(["60", "gdb", "-q", "-batch", "-nx", "-p", &pid, "-ex", "print/x (long)&main_arena"]);
    let Ok(output) = gdb.output() else { assay_testkit::skip!("no gdb") };
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(address) = text.lines().find_map(|line| line.strip_prefix("$1 = 0x")) else {
        assay_testkit::skip!("gdb does not know main_arena: {}", text.lines().last().unwrap_or(""));
    };
    assert_eq!(survey.arenas[0].address, u64::from_str_radix(address, 16).expect("hexadecimal"));
    assert!(survey.version.is_some_and(|version| version.starts_with("2.")));
}
