//! The Java heap by space, held against what the JVM answers to `GC.heap_info` and against what the program keeps.

use crate::support::{Jvm, javas_for};
use assay_hotspot::{Collector, Hotspot, JavaHeap};
use assay_testkit::skip;
use std::ops::Range;

/// Reads the heap of a JVM that stands still, between two equal answers of the JVM about it.
fn steady_heap(jvm: &Jvm) -> (JavaHeap, String) {
    // The first command starts the thread that answers.
    let mut before = jvm.jcmd(&["GC.heap_info"]);
    for _ in 0..20 {
        before = before.split_once("Metaspace").map_or(before.clone(), |(heap, _)| heap.to_owned());
        jvm.freeze();
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let heap = hotspot.heap().expect("a heap");
        assert_eq!(hotspot.problems(), []);
        jvm.thaw();
        let after = jvm.jcmd(&["GC.heap_info"]);
        if after.starts_with(&before) {
            return (heap, before);
        }
        before = after;
    }
    panic!("the heap never stood still");
}

/// `[0x00000000f0000000, 0x00000000f24196c8, 0x00000000f4450000)` of the line with this word.
fn addresses(info: &str, word: &str) -> Vec<u64> {
    let line = info.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{word} in {info}"));
    let (_, list) = line.split_once('[').expect("addresses");
    let list = list.trim_end_matches(')').split(',').map(|a| a.trim().trim_start_matches("0x"));
    list.map(|address| u64::from_str_radix(address, 16).expect("hexadecimal")).collect()
}

/// The number behind a word, `used 36965K`, and the unit that it is in, both in KiB.
fn printed(info: &str, word: &str) -> (u64, u64) {
    let (_, rest) = info.split_once(word).unwrap_or_else(|| panic!("{word} in {info}"));
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    let unit = rest.trim_start()[digits.len()..].chars().next();
    let unit_kib = if unit == Some('M') { 1024 } else { 1 };
    (digits.parse::<u64>().expect("a number") * unit_kib, unit_kib)
}

fn kib(info: &str, word: &str) -> u64 {
    printed(info, word).0
}

/// Spaces of a name: bytes up to the top, and in all.
fn bytes_of(heap: &JavaHeap, name: &str) -> (u64, u64) {
    let named = heap.spaces.iter().filter(|space| space.name == name);
    named.fold((0, 0), |(used, all), space| {
        let Range { start, end } = space.addresses;
        (used + space.top - start, all + end - start)
    })
}

fn options(collector: &str) -> Vec<String> {
    vec![
        "-XX:+UnlockExperimentalVMOptions".to_owned(),
        format!("-XX:+Use{collector}GC"),
        "-Xms128m".to_owned(),
    ]
}

/// Both right after the start and after a full collection.
fn check(collector: &str, bits: u8, more: &[&str], check: impl Fn(u32, &JavaHeap, &str)) {
    let mut ran = false;
    for (feature, java) in javas_for(collector, bits) {
        let options = options(collector);
        let options: Vec<_> = options.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let Some(jvm) = Jvm::start(&java, &options) else {
            println!("skipped: JDK {feature} does not take {options:?}");
            continue;
        };
        ran = true;
        for collect in [false, true] {
            if collect && collector != "Epsilon" {
                jvm.jcmd(&["GC.run"]);
            }
            let (heap, info) = steady_heap(&jvm);
            let case = format!("{feature} {collector} {more:?} {heap:x?} {info}");
            let sorted = heap.spaces.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start);
            assert!(sorted, "{case}");
            // `Waiting` keeps 32 arrays of 1 MiB.
            assert!(32 << 20 <= heap.used_bytes() && heap.used_bytes() <= heap.committed_bytes(), "{case}");
            assert!(heap.committed_bytes() <= 256 << 20, "{case}");
            check(feature, &heap, &info);
        }
    }
    if !ran {
        skip!("no JDK of {bits} bits has {collector}");
    }
}

/// Eden, survivors and old, as the JVM prints them.
fn check_generations(heap: &JavaHeap, info: &str, old_line: &str) {
    let eden = addresses(info, "eden space");
    assert_eq!(bytes_of(heap, "eden"), (eden[1] - eden[0], eden[2] - eden[0]), "{info}");
    let survivors = [addresses(info, "from space"), addresses(info, "to   space")];
    let sum = |end: usize| survivors.iter().map(|s| s[end] - s[0]).sum::<u64>();
    assert_eq!(bytes_of(heap, "survivor"), (sum(1), sum(2)), "{info}");
    let old = addresses(info, old_line);
    assert_eq!(bytes_of(heap, "old"), (old[1] - old[0], old[old.len() - 1] - old[0]), "{info}");
}

#[test]
fn serial_s_spaces_are_those_that_the_jvm_prints() {
    for bits in [64, 32] {
        check("Serial", bits, &[], |feature, heap, info| {
            assert_eq!(heap.collector, Collector::Serial);
            check_generations(heap, info, if feature == 25 { "the  space" } else { "the space" });
        });
    }
}

#[test]
fn parallel_s_spaces_are_those_that_the_jvm_prints() {
    for bits in [64, 32] {
        check("Parallel", bits, &[], |_, heap, info| check_generations(heap, info, "object space"));
    }
}

#[test]
fn g1_s_regions_add_up_to_what_the_jvm_prints() {
    for (bits, more) in [
        (64, &["-XX:G1HeapRegionSize=1m"][..]),
        (64, &["-XX:G1HeapRegionSize=8m"]),
        (64, &["-XX:-UseCompressedOops"]),
        (32, &[]),
    ] {
        check("G1", bits, more, |_, heap, info| {
            assert_eq!(heap.used_bytes() / 1024, kib(info, "used"), "{heap:x?} {info}");
            let young = bytes_of(heap, "eden").1 + bytes_of(heap, "survivor").1;
            let (_, regions) = info.split_once("young (").expect("young regions");
            assert_eq!(young / 1024, kib(regions, ""), "{info}");
            let (_, regions) = info.split_once("survivors (").expect("survivor regions");
            assert_eq!(bytes_of(heap, "survivor").1 / 1024, kib(regions, ""), "{info}");
            let committed = if info.contains("committed ") { "committed" } else { "total" };
            assert_eq!(heap.committed_bytes() / 1024, kib(info, committed), "{info}");
            if more == ["-XX:G1HeapRegionSize=1m"] {
                // An array of 1 MiB is larger than half a region; it ends in the region behind its first.
                assert!(32 * (1 << 20) <= bytes_of(heap, "humongous").0, "{heap:x?}");
            }
        });
    }
}

#[test]
fn zgc_s_pages_add_up_to_what_the_jvm_prints() {
    for more in [&[][..], &["-XX:+ZGenerational", "-XX:+IgnoreUnrecognizedVMOptions"]] {
        check("Z", 64, more, |feature, heap, info| {
            let has_generations = feature == 25 || (feature == 21 && !more.is_empty());
            let views = if has_generations { 1 } else { 3 };
            assert_eq!(heap.reserved.len(), views, "{heap:x?}");
            let free: u64 = bytes_of(heap, "free").1 / views as u64;
            // The JVM counts whole pages as used.
            assert_eq!((heap.committed_bytes() - free) / 1024, kib(info, "used"), "{heap:x?} {info}");
            assert_eq!(heap.committed_bytes() / 1024, kib(info, "capacity"), "{heap:x?} {info}");
            let named = heap.spaces.iter().filter(|s| ["eden", "survivor", "old"].contains(&s.name)).count();
            assert_eq!(0 < named, has_generations, "{heap:x?}");
        });
    }
}

/// Shenandoah prints its sizes in KiB below 100 MiB and in whole MiB from there on, without rounding up. A heap of 128 MiB that
/// has committed one more region of 256 KiB still prints `128M`: so the heap is smaller here, and what is larger all the same is
/// compared in the unit that was printed.
#[test]
fn shenandoah_s_regions_add_up_to_what_the_jvm_prints() {
    for more in [&["-Xms64m"][..], &["-Xms64m", "-XX:ShenandoahGCMode=generational"]] {
        check("Shenandoah", 64, more, |_, heap, info| {
            for (bytes, word) in [(heap.used_bytes(), "committed, "), (heap.committed_bytes(), "soft max, ")]
            {
                let (printed_kib, unit_kib) = printed(info, word);
                assert_eq!(bytes / 1024 / unit_kib * unit_kib, printed_kib, "{word} {heap:x?} {info}");
            }
            assert!(32 * (1 << 20) <= bytes_of(heap, "humongous").0, "{heap:x?}");
        });
    }
}

#[test]
fn epsilon_s_space_is_the_one_that_the_jvm_prints() {
    check("Epsilon", 64, &[], |_, heap, info| {
        let space = addresses(info, "% used [");
        assert_eq!(bytes_of(heap, "objects").0, space[1] - space[0], "{info}");
    });
}
