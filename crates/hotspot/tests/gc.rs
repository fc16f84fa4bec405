//! The collector's tables, held against the reservations that native memory tracking lists with the tag `GC`.

use crate::support::{Jvm, javas, javas_for};
use assay_hotspot::Hotspot;
use assay_linux::MemorySource;
use assay_testkit::skip;
use std::ops::Range;

/// `[0x00007fa5b4bd4000 - 0x00007fa5b4c2a000] reserved and committed 344KB for GC from`
fn reserved_for(detail: &str, tag: &str) -> Vec<Range<u64>> {
    let lines = detail.lines().filter(|line| line.starts_with("[0x") && line.contains("reserved"));
    let lines = lines.filter(|line| line.contains(&format!(" for {tag}")));
    let address =
        |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).expect("an address");
    lines
        .map(|line| {
            let (range, _) = line[1..].split_once(']').expect("a bracket");
            let (start, end) = range.split_once(" - ").expect("two addresses");
            address(start)..address(end)
        })
        .collect()
}

/// What of the first ranges is in the second ones, resident bytes only.
fn resident_overlap(process: &dyn MemorySource, of: &[Range<u64>], within: &[Range<u64>]) -> u64 {
    let parts = of.iter().flat_map(|a| within.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    parts.filter(|part| !part.is_empty()).map(|part| process.pages().resident_bytes_in(part)).sum()
}

fn check(collector: &str, more: &[&str], tables_min: usize) {
    let mut ran = false;
    // A 32-bit JVM has neither collectors that run beside the program nor references to compress.
    let has_small = !["Z", "Shenandoah"].contains(&collector) && !more.contains(&"-XX:-UseCompressedOops");
    for (feature, java) in
        javas_for(collector, 64).into_iter().chain(javas(32).into_iter().filter(|_| has_small))
    {
        let choice = format!("-XX:+Use{collector}GC");
        let options =
            [&["-XX:+UnlockExperimentalVMOptions", &choice, "-XX:NativeMemoryTracking=detail"], more]
                .concat();
        let Some(jvm) = Jvm::start(&java, &options) else {
            println!("skipped: JDK {feature} does not take {options:?}");
            continue;
        };
        ran = true;
        // A collection touches what was only reserved so far.
        jvm.jcmd(&["GC.run"]);
        let detail = jvm.jcmd(&["VM.native_memory", "detail"]);
        jvm.freeze();
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let tables = hotspot.gc_tables();
        let case = format!("{feature} {options:?} {tables:x?}");
        assert_eq!(hotspot.problems(), [], "{case}");
        assert!(tables_min <= tables.len(), "{case}");
        let reserved = reserved_for(&detail, "GC");
        let found: Vec<_> = tables.iter().map(|table| table.addresses.clone()).collect();
        let all: u64 = reserved.iter().map(|range| process.pages().resident_bytes_in(range.clone())).sum();
        let covered = resident_overlap(&process, &reserved, &found);
        assert!(0 < all && all * 999 <= covered * 1000, "{covered} of {all} bytes: {case} {reserved:x?}");
        // And nothing else is taken for a table.
        let claimed: u64 = found.iter().map(|range| process.pages().resident_bytes_in(range.clone())).sum();
        assert_eq!(covered, claimed, "{case} {reserved:x?}");
        println!("{feature} {collector}: {covered} of {all} resident bytes in {} tables", tables.len());
    }
    if !ran {
        skip!("no JDK has {collector}");
    }
}

#[test]
fn serial_s_tables_are_all_found() {
    check("Serial", &[], 2);
    check("Serial", &["-XX:-UseCompressedOops", "-Xmx1g"], 2);
}

#[test]
fn parallel_s_tables_are_all_found() {
    check("Parallel", &[], 4);
    check("Parallel", &["-Xms32m", "-Xmx1g"], 4);
}

#[test]
fn g1_s_tables_are_all_found() {
    check("G1", &[], 5);
    check("G1", &["-Xms32m", "-Xmx2g", "-XX:ConcGCThreads=1"], 5);
}

#[test]
fn zgc_s_tables_are_all_found() {
    check("Z", &[], 3);
    check("Z", &["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+ZGenerational"], 3);
}

#[test]
fn shenandoah_s_tables_are_all_found() {
    check("Shenandoah", &[], 4);
    check("Shenandoah", &["-XX:ShenandoahGCMode=iu"], 4);
    check("Shenandoah", &["-XX:ShenandoahGCMode=generational"], 4);
}

#[test]
fn pages_with_a_purpose_are_those_that_native_memory_tracking_lists() {
    let all = javas(64);
    if all.is_empty() {
        skip!("no 64-bit JDK 17, 21 or 25");
    }
    for (feature, java) in all {
        for more in [&[][..], &["-XX:+PerfDisableSharedMem"]] {
            let options = [&["-XX:NativeMemoryTracking=detail"], more].concat();
            let jvm = Jvm::start(&java, &options).expect("a JVM");
            let detail = jvm.jcmd(&["VM.native_memory", "detail"]);
            let process = jvm.process();
            let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
            let pages = hotspot.jvm_pages();
            // Counters that are not shared have the tag of those that nobody gave one.
            let tags = ["Safepoint", "Internal", "Unknown"];
            let listed: Vec<_> = tags.iter().flat_map(|tag| reserved_for(&detail, tag)).collect();
            let bytes = |ranges: &[Range<u64>]| ranges.iter().map(|r| r.end - r.start).sum::<u64>();
            let found: Vec<_> = pages.iter().map(|p| p.addresses.clone()).collect();
            let is_listed = |r: &Range<u64>| listed.iter().any(|l| l.start <= r.start && r.end <= l.end);
            assert!(found.iter().all(is_listed), "{feature} {more:?} {pages:x?} {listed:x?}");
            assert_eq!(bytes(&found), bytes(&listed), "{feature} {more:?} {pages:x?} {listed:x?}");
        }
    }
}
