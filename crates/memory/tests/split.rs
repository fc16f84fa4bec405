//! Samples of small fake processes, in which every page is known.

use assay_linux::ProcRoot;
use assay_memory::{MemoryError, sample};
use assay_model::{Area, HeapRange, MemorySample};
use assay_testkit::FakeTree;
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;

const PAGE_BYTES: u64 = 4096;
const MIB: u64 = 1 << 20;

/// A mapping in the kernel's words: `rss_pages` resident pages from `start` to `end`.
fn mapping(start: u64, end: u64, permissions: &str, rss_pages: u64, name: &str) -> String {
    let inode = u8::from(name.starts_with('/'));
    let rss_kib = rss_pages * PAGE_BYTES / 1024;
    format!(
        "{start:08x}-{end:08x} {permissions} 00000000 00:00 {inode}    {name}\nRss: {rss_kib} kB\nPss: {rss_kib} kB\n"
    )
}

fn process(smaps: &str) -> FakeTree {
    FakeTree::with(&[("42/smaps", smaps)])
}

/// A page map in which these pages are present; the first entry is that of page 0.
fn pagemap(pages: u64, present: impl Fn(u64) -> bool) -> Vec<u8> {
    (0..pages).flat_map(|page| (u64::from(present(page)) << 63).to_ne_bytes()).collect()
}

fn areas(tree: &FakeTree, heap: Option<HeapRange>) -> Vec<(Area, u64)> {
    let sample: MemorySample = sample(&ProcRoot::at(tree.path()), 42, heap, 7).expect("a sample");
    let sum: u64 = sample.areas.iter().map(|a| a.resident_bytes).sum();
    assert_eq!((sum, sample.monotonic_ns), (sample.rss_bytes, 7));
    sample
        .areas
        .iter()
        .filter(|a| 0 < a.resident_bytes)
        .map(|a| (a.area, a.resident_bytes / PAGE_BYTES))
        .collect()
}

fn heap(start: u64, end: u64) -> Option<HeapRange> {
    Some(HeapRange { start_address: start, reserved_bytes: end - start })
}

#[test]
fn mappings_are_told_apart_by_name_and_permission() {
    let tree = process(
        &[
            mapping(0x10_0000, 0x20_0000, "r-xp", 1, "/usr/lib/libjvm.so"),
            mapping(0x20_0000, 0x30_0000, "rw-p", 2, "/jdk/lib/server/classes.jsa"),
            mapping(0x30_0000, 0x40_0000, "rw-p", 4, "[heap]"),
            mapping(0x40_0000, 0x50_0000, "rwxp", 8, ""),
            mapping(0x50_0000, 0x60_0000, "rw-p", 16, ""),
            mapping(0x60_0000, 0x70_0000, "rw-s", 32, "/dev/shm/x"),
            mapping(0x70_0000, 0x80_0000, "rw-p", 64, "[stack]"),
            mapping(0x80_0000, 0x90_0000, "r-xp", 128, "[vdso]"),
            mapping(0x90_0000, 0xa0_0000, "rw-s", 256, "/memfd:java_heap (deleted)"),
            mapping(0xa0_0000, 0xc0_0000, "rw-p", 512, "[anon: glibc: malloc arena]"),
        ]
        .concat(),
    );
    let expected = [
        (Area::JavaHeap, 256),
        (Area::Code, 1),
        (Area::ClassMetadata, 2),
        (Area::JitCode, 8),
        (Area::Stacks, 64),
        (Area::Other, 32 + 128),
        (Area::MallocHeap, 4 + 512),
        (Area::NativeAnonymous, 16),
    ];
    assert_eq!(areas(&tree, None), expected);
}

#[test]
fn an_archive_mapped_into_the_heap_is_heap() {
    let tree = process(&mapping(0x20_0000, 0x30_0000, "rw-p", 2, "/jdk/lib/server/classes.jsa"));
    assert_eq!(areas(&tree, heap(0x10_0000, 0x40_0000)), [(Area::JavaHeap, 2)]);
}

#[test]
fn a_mapping_over_both_ends_of_the_heap_is_split_by_its_page_map() {
    let tree = process(&mapping(0x10_0000, 0x40_0000, "rw-p", 20, ""));
    // Below the heap three pages, in it ten, above it seven.
    let present = |page| [0x100..0x103, 0x200..0x20a, 0x300..0x307].iter().any(|pages| pages.contains(&page));
    tree.write("42/pagemap", &pagemap(0x400, present));
    assert_eq!(areas(&tree, heap(0x20_0000, 0x30_0000)), [(Area::JavaHeap, 10), (Area::NativeAnonymous, 10)]);
}

#[test]
fn pages_of_zeros_outside_the_heap_never_make_it_larger() {
    let tree = process(&mapping(0x10_0000, 0x30_0000, "rw-p", 12, ""));
    // All pages below the heap are present, most of them the kernel's page of zeros.
    tree.write("42/pagemap", &pagemap(0x400, |_| true));
    assert_eq!(areas(&tree, heap(0x20_0000, 0x30_0000)), [(Area::NativeAnonymous, 12)]);
}

#[test]
fn without_a_page_map_a_mapping_over_the_end_of_the_heap_is_not_called_heap() {
    let tree = process(&mapping(0x10_0000, 0x30_0000, "rw-p", 12, ""));
    assert_eq!(areas(&tree, heap(0x20_0000, 0x30_0000)), [(Area::NativeAnonymous, 12)]);
}

/// Two arenas of a 64-bit process and one block that only looks like one.
#[test]
fn an_arena_is_one_only_if_its_head_says_so() {
    let smaps = [
        mapping(64 * MIB, 65 * MIB, "rw-p", 1, ""),
        mapping(65 * MIB, 128 * MIB, "---p", 0, ""),
        mapping(128 * MIB, 192 * MIB, "rw-p", 2, ""),
        mapping(192 * MIB, 193 * MIB, "rw-p", 4, ""),
        mapping(193 * MIB, 256 * MIB, "---p", 0, ""),
        mapping(1 << 40, (1 << 40) + MIB, "rw-p", 8, ""),
    ];
    let tree = process(&smaps.concat());
    let memory = File::create(tree.path().join("42/mem")).expect("a file");
    // The third block has zeros at its head, as metaspace may.
    let heads = [[64 * MIB, 0, 4096, MIB], [64 * MIB, 64 * MIB, 4096, 64 * MIB], [0; 4]];
    for (start, head) in [64 * MIB, 128 * MIB, 192 * MIB].into_iter().zip(heads) {
        let bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write_all_at(&bytes, start).expect("a sparse file");
    }
    assert_eq!(areas(&tree, None), [(Area::MallocHeap, 3), (Area::NativeAnonymous, 12)]);
}

#[test]
fn an_arena_of_a_32_bit_process_is_one_mebibyte() {
    let smaps = mapping(3 * MIB, 3 * MIB + 0x21000, "rw-p", 5, "")
        + &mapping(3 * MIB + 0x21000, 4 * MIB, "---p", 0, "");
    let tree = process(&smaps);
    let mut memory = vec![0; 4 * MIB as usize];
    let head: Vec<u8> =
        [3 * MIB as u32 + 16, 0, 0x21000, 0x21000].iter().flat_map(|word| word.to_le_bytes()).collect();
    memory[3 * MIB as usize..][..head.len()].copy_from_slice(&head);
    tree.write("42/mem", &memory);
    assert_eq!(areas(&tree, None), [(Area::MallocHeap, 5)]);
}

#[test]
fn a_guard_below_memory_is_a_stack_only_if_there_are_several_of_that_shape() {
    let stack = |start: u64, guard: u64, size: u64| {
        mapping(start, start + guard, "---p", 0, "")
            + &mapping(start + guard, start + guard + size, "rw-p", 3, "")
    };
    let lonely = process(&stack(16 * MIB, 0x4000, MIB - 0x4000));
    assert_eq!(areas(&lonely, None), [(Area::NativeAnonymous, 3)]);
    let three = process(
        &[
            stack(16 * MIB, 0x4000, MIB - 0x4000),
            stack(18 * MIB, 0x4000, MIB - 0x4000),
            stack(20 * MIB, 0x1000, 2 * MIB),
            // The kernel merged a stack with something above it.
            stack(24 * MIB, 0x4000, MIB - 0x4000 + 0x3000),
        ]
        .concat(),
    );
    assert_eq!(areas(&three, None), [(Area::Stacks, 6), (Area::NativeAnonymous, 6)]);
}

#[test]
fn a_process_without_mappings_has_no_sample() {
    let error = sample(&ProcRoot::at(process("").path()), 42, None, 0).expect_err("nothing to sample");
    assert!(matches!(error, MemoryError::NoMappings { pid: 42 }), "{error}");
    let gone =
        sample(&ProcRoot::at(process("").path()), 43, None, 0).expect_err("no such process").to_string();
    assert!(gone.contains("43/smaps") && gone.contains("the process has ended"), "{gone}");
}

#[test]
fn swap_is_absent_where_a_mapping_does_not_tell_it() {
    let smaps =
        mapping(0x1000, 0x2000, "rw-p", 1, "") + "Swap: 8 kB\n" + &mapping(0x2000, 0x3000, "rw-p", 1, "");
    let sample = sample(&ProcRoot::at(process(&smaps).path()), 42, None, 0).expect("a sample");
    assert_eq!((sample.swap_bytes, sample.pss_bytes), (None, Some(2 * PAGE_BYTES)));
}

proptest! {
    #[test]
    fn areas_always_sum_to_the_resident_bytes(
        parts in proptest::collection::vec((1u64..64, 0u64..64, 0usize..6, "(r|-)(w|-)(x|-)(p|s)"), 1..30),
        heap_start in 0u64..2000, heap_pages in 0u64..2000, present in any::<bool>()
    ) {
        let names = ["", "", "[heap]", "/lib/x.jsa", "/lib/x.so", "[anon:x]"];
        let (mut start, mut rss_sum, mut smaps) = (PAGE_BYTES, 0, String::new());
        for (pages, rss_pages, name, permissions) in &parts {
            let rss_pages = rss_pages.min(pages);
            smaps += &mapping(start, start + pages * PAGE_BYTES, permissions, *rss_pages, names[*name]);
            start += pages * PAGE_BYTES;
            rss_sum += rss_pages * PAGE_BYTES;
        }
        let tree = process(&smaps);
        tree.write("42/pagemap", &pagemap(start / PAGE_BYTES, |_| present));
        let heap = heap(heap_start * PAGE_BYTES, (heap_start + heap_pages) * PAGE_BYTES);
        let sum: u64 = areas(&tree, heap).iter().map(|(_, pages)| pages * PAGE_BYTES).sum();
        prop_assert_eq!(sum, rss_sum);
    }
}
