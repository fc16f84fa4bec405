//! Where entries lie, and in what kind of pages: held against the kernel's own counts of a stopped JVM.

use assay_linux::ProcRoot;
use assay_memory::{ReadOptions, read};
use assay_model::{MemoryEntry, MemoryReport, PageKinds};
use assay_testkit::{Running, find_java, skip, start_buffers};
use std::ops::Range;

fn stopped() -> Option<(Running, MemoryReport)> {
    let java = find_java(17, 64).or_else(|| find_java(25, 64))?;
    let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 200);
    jvm.freeze();
    let options = ReadOptions { with_ranges: true, ..ReadOptions::default() };
    let report = read(jvm.pid(), &options).expect("our child");
    Some((jvm, report))
}

/// Addresses and resident bytes of the ranges of an entry.
fn ranges(entry: &MemoryEntry) -> Vec<(Range<u64>, u64)> {
    let address = |text: &str| {
        let digits = text.strip_prefix("0x").expect("hexadecimal");
        u64::from_str_radix(digits, 16).expect("hexadecimal")
    };
    let ranges = entry.ranges.as_ref().expect("ranges were asked for");
    ranges.iter().map(|range| (address(&range.start)..address(&range.end), range.resident_bytes)).collect()
}

#[test]
fn the_ranges_of_an_entry_add_up_to_it_and_no_byte_is_in_two() {
    let Some((jvm, report)) = stopped() else { skip!("no 64-bit JDK 17 or 25") };
    let mut all = Vec::new();
    for entry in &report.entries {
        let of = ranges(entry);
        assert!(of.is_sorted_by_key(|(range, _)| range.start), "{:?}", entry.path);
        let listed: u64 = of.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(listed, entry.resident_bytes, "{:?}", entry.path);
        all.extend(of);
    }
    all.sort_by_key(|(range, _)| range.start);
    let overlap = all.windows(2).find(|pair| pair[1].0.start < pair[0].0.end);
    assert_eq!(overlap, None);
    // What another tool joins: the file of an address, as the kernel names it.
    let smaps = ProcRoot::default().open_smaps(jvm.pid()).expect("our child");
    let mappings: Vec<_> = smaps.map(|mapping| mapping.expect("as documented")).collect();
    let libjvm = report.entries.iter().filter(|entry| entry.path == ["code", "libjvm.so", "machine code"]);
    let code: Vec<_> = libjvm.flat_map(ranges).collect();
    assert!(!code.is_empty(), "{:?}", report.entries);
    for (range, _) in code {
        let around = mappings.iter().find(|m| m.addresses.contains(&range.start)).expect("a mapping");
        assert!(around.name.ends_with("/libjvm.so") && range.end <= around.addresses.end, "{around:?}");
    }
}

#[test]
fn kinds_of_pages_add_up_to_each_entry_and_are_what_the_kernel_counts() {
    let Some((jvm, report)) = stopped() else { skip!("no 64-bit JDK 17 or 25") };
    for entry in &report.entries {
        let pages = entry.pages.expect("every entry has them");
        let all = pages.private_bytes + pages.shared_bytes + pages.droppable_bytes;
        assert_eq!(all, entry.resident_bytes, "{:?}", entry.path);
    }
    let rollup = ProcRoot::default().read_smaps_rollup(jvm.pid()).expect("our child").expect("a rollup");
    let pages = PageKinds::of(&report.entries).expect("every entry has them");
    assert_eq!(Some(pages.private_bytes), rollup.anonymous_bytes);
    if let Some(huge_bytes) = pages.huge_bytes {
        assert_eq!(Some(huge_bytes), rollup.huge_pages_bytes());
    }
}

#[test]
fn without_the_option_there_are_no_ranges() {
    let Some(java) = find_java(17, 64).or_else(|| find_java(25, 64)) else { skip!("no 64-bit JDK 17 or 25") };
    let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 20);
    let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
    assert!(report.entries.iter().all(|entry| entry.ranges.is_none()));
    assert_eq!(report.main.as_deref(), Some("Buffers"));
}
