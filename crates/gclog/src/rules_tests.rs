//! Every rule takes its own sample lines and none of any other rule's: the test that finds a greedy rule.

use super::*;

/// Lines as the JVMs write them, by the rule that must take them.
const SAMPLES: &[(&str, &[&str])] = &[
    (
        "space",
        &[
            "[0.1s][debug][gc,heap] GC(0)   eden space 17472K, 100% used [0x00000000fc000000, 0x00000000fd110000, 0x00000000fd110000)",
            "[0.1s][debug][gc,heap] GC(0)   to   space 2176K,   0% used [0xe4730000, 0xe4730000, 0xe4950000)",
            "[0.1s][debug][gc,heap] GC(0)   from space 2560K, 20% used [0x00000000ffb00000,0x00000000ffb80020,0x00000000ffd80000)",
            "[0.1s][debug][gc,heap] GC(0)    the space 43712K,   0% used [0x00000000fd550000, 0x00000000fd550000, 0x00000000fd550200, 0x0000000100000000)",
            "[0.1s][debug][gc,heap] GC(0)   the  space 43712K,   2% used [0x00000000fd550000, 0x00000000fd673ab8, 0x0000000100000000)",
            "[0.1s][debug][gc,heap] GC(0)   object space 44032K, 2% used [0x00000000fc000000,0x00000000fc123ab8,0x00000000feb00000)",
            "[0.1s][info ][gc,heap,exit]   eden space 17472K,  13% used [0x00000000fc000000, 0x00000000fc261a98, 0x00000000fd110000)",
        ],
    ),
    (
        "extent",
        &[
            "[0.1s][debug][gc,heap] GC(0)  def new generation   total 19648K, used 17472K [0x00000000fc000000, 0x00000000fd550000, 0x00000000fd550000)",
            "[0.1s][debug][gc,heap] GC(0)  DefNew     total 19648K, used 17472K [0x00000000fc000000, 0x00000000fd550000, 0x00000000fd550000)",
            "[0.1s][debug][gc,heap] GC(0)  tenured generation   total 43712K, used 0K [0xe4950000, 0xe7400000, 0xe7400000)",
            "[0.1s][debug][gc,heap] GC(0)  PSYoungGen      total 18944K, used 16384K [0x00000000feb00000, 0x0000000100000000, 0x0000000100000000)",
            "[0.1s][debug][gc,heap] GC(0)  garbage-first heap   total 65536K, used 7092K [0x00000000fc000000, 0x0000000100000000)",
            "[0.1s][debug][gc,heap] GC(0)  garbage-first heap   total reserved 65536K, committed 65536K, used 15502K [0x00000000fc000000, 0x0000000100000000)",
        ],
    ),
    (
        "unneeded tags",
        &[
            "[0.1s][info ][gc,phases   ] GC(0)   Pre Evacuate Collection Set: 0.1ms",
            "[0.1s][info][gc,phases,start] GC(6) Marking Phase",
            "[0.1s][info ][gc,cpu      ] GC(0) User=0.00s Sys=0.00s Real=0.00s",
            "[0.1s][info ][gc,task     ] GC(0) Using 2 workers of 2 for evacuation",
            "[0.1s][info][pagesize] CodeHeap 'non-nmethods':  min=2496K max=5692K base=0x00007fd03c938000 page_size=4K size=5692K",
            "[0.1s][info][gc,marking] GC(3) Concurrent Mark From Roots",
        ],
    ),
    (
        "unneeded text",
        &[
            "[0.1s][info ][gc,heap,exit] Heap",
            "[0.1s][debug][gc,heap] GC(0)   region size 1024K, 6 young (6144K), 0 survivors (0K)",
            "[0.1s][debug][gc,heap] GC(0)  Metaspace       used 130K, committed 320K, reserved 1114112K",
            "[0.1s][info ][gc,heap] GC(0) Eden regions: 14->0(28)",
            "[0.1s][info ][gc] GC(3) Concurrent Mark Cycle 3.216ms",
            "[0.1s][info ][gc,init] Heap Region Size: 1M",
            "[0.1s][debug][gc,heap] Minimum heap 8388608  Initial heap 67108864  Maximum heap 67108864",
            "[0.1s][info ][gc,metaspace] Narrow klass pointer bits 32, Max shift 3",
            "Heap Max Capacity: 64M",
        ],
    ),
    (
        "pause",
        &[
            "[0.1s][info ][gc] GC(0) Pause Young (Allocation Failure) 17M->0M(61M) 1.345ms",
            "[0.1s][info ][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.987ms",
            "[0.1s][info ][gc] GC(1) Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Pinned) 23M->1M(64M) 1.987ms",
            "[0.1s][info ][gc] GC(4) Pause Full (System.gc()) 4M->2M(26M) 130.148ms",
            "[0.1s][info ][gc] GC(5) Pause Remark 30M->28M(64M) 2.1ms",
            "[0.1s][info ][gc] GC(5) Pause Init Mark (process weakrefs) 1.692ms",
            "[0.1s][info ][gc,start] GC(4) Pause Full (System.gc())",
            "[0.1s][info ][gc,start] GC(5) Pause Remark",
            "[0.1s][info ][gc] GC(4) Pause Full (System.gc()) 4M->2M(26",
            "[0.1s][info ][gc] GC(4) Pause Yo",
            "[0.1s][info][gc,phases] GC(2) Pause Mark Start 0.021ms",
        ],
    ),
    (
        "heap before and after",
        &[
            "[0.1s][debug][gc,heap] GC(0) Heap before GC invocations=0 (full 0):",
            "[0.1s][debug][gc,heap] GC(0) Heap Before GC invocations=0 (full 0):",
            "[0.1s][debug][gc,heap] GC(0) Heap After GC invocations=1 (full 0):",
        ],
    ),
    (
        "transition",
        &[
            "[0.1s][info ][gc,heap] GC(0) DefNew: 17472K(19648K)->856K(19648K) Eden: 17472K(17472K)->0K(17472K) From: 0K(2176K)->856K(2176K)",
            "[0.1s][info ][gc,heap] GC(0) Tenured: 0K(43712K)->0K(43712K)",
            "[0.1s][info ][gc,heap] GC(1) PSYoungGen: 16896K(18944K)->928K(18944K) Eden: 16384K(16384K)->0K(16384K) From: 512K(2560K)->928K(2560K)",
            "[0.1s][info ][gc,heap] GC(1) ParOldGen: 1166K(44032K)->1166K(44032K)",
        ],
    ),
    (
        "metaspace",
        &[
            "[0.1s][info ][gc,metaspace] GC(0) Metaspace: 130K(320K)->130K(320K) NonClass: 126K(192K)->126K(192K) Class: 3K(128K)->3K(128K)",
            "[0.1s][info ][gc,metaspace] GC(0) Metaspace: 3980K(4096K)->3980K(4096K)",
            "[0.1s][info ][gc,metaspace] GC(0) Metaspace: 5678K->5678K(1056768K)",
        ],
    ),
    (
        "class space",
        &[
            "[0.1s][info ][gc,metaspace] Compressed class space mapped at: 0x00007f98e0000000-0x00007f9920000000, reserved size: 1073741824",
            "[0.1s][debug][gc,heap] GC(0)   class space    used 3K, committed 128K, reserved 1048576K",
        ],
    ),
    (
        "compressed heap",
        &[
            "[0.1s][debug][gc,heap,coops] Heap address: 0x00000000fc000000, size: 64 MB, Compressed Oops mode: 32-bit",
            "[0.1s][debug][gc,heap,coops] Heap address: 0x0000001001000000, size: 31744 MB, Compressed Oops mode: Non-zero disjoint base: 0x0000001000000000, Oop shift amount: 3",
        ],
    ),
    (
        "reserved heap",
        &[
            "[0.1s][info ][pagesize] Heap:  min=64M max=64M base=0xe3400000 page_size=4K size=64M",
            "[0.1s][info ][pagesize] Heap:  min=64M max=64M base=0x00000000fc000000 size=64M page_size=4K",
        ],
    ),
    (
        "compressed oops",
        &[
            "[0.1s][info ][gc,init] Compressed Oops: Enabled (Zero based)",
            "[0.1s][info ][gc,init] Compressed Oops: Disabled",
        ],
    ),
    (
        "class pointers",
        &["[0.1s][info ][gc,metaspace] UseCompressedClassPointers 1, UseCompactObjectHeaders 0"],
    ),
    ("version", &["[0.1s][info ][gc,init] Version: 17.0.15+6-Debian-1deb12u1 (release)"]),
    ("collector", &["[0.1s][info ][gc] Using G1", "[0.1s][info][gc,init] Using The Z Garbage Collector"]),
];

#[test]
fn every_rule_has_samples() {
    let names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    let sampled: Vec<_> = SAMPLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, sampled);
}

#[test]
fn every_rule_takes_its_own_lines_and_no_others() {
    for rule in RULES {
        for (owner, lines) in SAMPLES {
            for raw in *lines {
                let taken = (rule.read)(&Line::parse(raw)).is_some();
                assert_eq!(taken, rule.name == *owner, "rule '{}' on a line of '{owner}': {raw}", rule.name);
            }
        }
    }
}

#[track_caller]
fn fact(text: &str) -> Fact<'_> {
    read(&Line::parse(text)).expect("a rule takes the line")
}

#[test]
fn a_pause_gives_kind_cause_sizes_and_length() {
    let Fact::Pause(pause) = fact("GC(1) Pause Young (Mixed) (G1 Evacuation Pause) 23M->1M(64M) 1.987ms")
    else {
        panic!("no pause")
    };
    assert_eq!((pause.kind, pause.cause), (GcEventKind::Mixed, Some("G1 Evacuation Pause")));
    assert_eq!((pause.sizes, pause.pause_ns), (Some([23 << 20, 1 << 20, 64 << 20]), 1_987_000));
    let Fact::Pause(full) = fact("GC(1) Pause Full (System.gc()) 4M->2M(26M) 130.148ms") else {
        panic!("no pause")
    };
    assert_eq!((full.kind, full.cause), (GcEventKind::Full, Some("System.gc()")));
    let Fact::Pause(mark) = fact("GC(1) Pause Final Mark 1.5ms") else { panic!("no pause") };
    assert_eq!((mark.kind, mark.cause, mark.sizes), (GcEventKind::ConcurrentStop, None, None));
}

#[test]
fn a_pause_that_breaks_off_is_no_pause() {
    for torn in [
        "GC(1) Pause Yo",
        "GC(1) Pause Young (Nor",
        "GC(1) Pause Young (Normal) (G1 Evacuation Pause) 2",
        "GC(1) Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M)",
        "GC(1) Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.9",
        "GC(1) Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 99999999999999999999.9ms",
    ] {
        assert!(matches!(fact(torn), Fact::Torn(_)), "{torn}: {:?}", fact(torn));
    }
}

#[test]
fn a_space_whose_top_lies_below_its_bottom_is_not_understood() {
    assert_eq!(read(&Line::parse("eden space 1K, 0% used [0x20, 0x10, 0x30)")), None);
}
