//! Lines of the heap as the JVMs write them.

use super::*;

const KIB: u64 = 1 << 10;

#[test]
fn pictures_are_read_in_every_form() {
    for (text, used_bytes) in [
        (
            "eden space 17472K, 100% used [0x00000000fc000000, 0x00000000fd110000, 0x00000000fd110000)",
            0x111_0000,
        ),
        ("from space 2560K, 20% used [0x00000000ffb00000,0x00000000ffb80020,0x00000000ffd80000)", 0x8_0020),
        (
            "the space 43712K,   0% used [0x00000000fd550000, 0x00000000fd550000, 0x00000000fd550200, 0x0000000100000000)",
            0,
        ),
        (
            "object space 44032K, 2% used [0x00000000fc000000,0x00000000fc123ab8,0x00000000feb00000)",
            0x12_3ab8,
        ),
    ] {
        assert!(
            matches!(read(text), Some(HeapLine::Space { used_bytes: got, .. }) if got == used_bytes),
            "{text}"
        );
    }
    for (text, used_kib, digits) in [
        (
            "def new generation   total 19648K, used 17472K [0x00000000fc000000, 0x00000000fd550000, 0x00000000fd550000)",
            17472,
            16,
        ),
        ("tenured generation   total 43712K, used 0K [0xe4950000, 0xe7400000, 0xe7400000)", 0, 8),
        (
            "PSYoungGen      total 18944K, used 16384K [0x00000000feb00000, 0x0000000100000000, 0x0000000100000000)",
            16384,
            16,
        ),
        ("garbage-first heap   total 65536K, used 7092K [0x00000000fc000000, 0x0000000100000000)", 7092, 16),
        (
            "garbage-first heap   total reserved 65536K, committed 65536K, used 15502K [0x00000000fc000000, 0x0000000100000000)",
            15502,
            16,
        ),
        (
            "concurrent mark-sweep generation total 43712K, used 5862K [0x00000007fd550000, 0x0000000800000000, 0x0000000800000000)",
            5862,
            16,
        ),
    ] {
        let Some(HeapLine::Extent(extent)) = read(text) else { panic!("{text}") };
        assert_eq!((extent.used_bytes, extent.digits), (used_kib * KIB, digits), "{text}");
    }
    assert_eq!(read("eden space 1K, 0% used [0x20, 0x10, 0x30)"), None);
    let one_line =
        "Heap after GC invocations=1 (full 0): garbage-first heap   total 65536K, used 7092K [0x1, 0x2)";
    assert!(matches!(read(one_line), Some(HeapLine::After(rest)) if rest.starts_with("garbage-first")));
    assert_eq!(read("Heap Before GC invocations=0 (full 0):"), Some(HeapLine::Before("")));
}

#[test]
fn transitions_are_read_with_their_parts() {
    let text =
        "DefNew: 17472K(19648K)->856K(19648K) Eden: 17472K(17472K)->0K(17472K) From: 0K(2176K)->856K(2176K)";
    let Some(HeapLine::Transition { is_old, whole, eden, survivor }) = read(text) else { panic!() };
    assert_eq!((is_old, whole), (false, (17472 * KIB, 856 * KIB, Some(19648 * KIB))));
    assert_eq!(
        (eden, survivor),
        (Some((17472 * KIB, 0, Some(17472 * KIB))), Some((0, 856 * KIB, Some(2176 * KIB))))
    );
    let cms = read("CMS: 0K->4012K(43712K)");
    assert!(matches!(cms, Some(HeapLine::Transition { is_old: true, whole: (0, _, _), .. })));
    assert_eq!(read("DefNew: 17472K(19648K)->856K(19"), None);
}

#[test]
fn regions_and_metaspace_are_read() {
    assert_eq!(
        read("Eden regions: 14->0(28)"),
        Some(HeapLine::Regions { kind: "Eden", before: 14, after: 0 })
    );
    assert_eq!(read("Old regions: 5->6"), Some(HeapLine::Regions { kind: "Old", before: 5, after: 6 }));
    let text = "Metaspace: 130K(320K)->131K(320K) NonClass: 126K(192K)->126K(192K) Class: 3K(128K)->3K(128K)";
    let Some(HeapLine::Metaspace { whole, class }) = read(text) else { panic!() };
    assert_eq!(whole, (130 * KIB, 131 * KIB, Some(320 * KIB)));
    assert_eq!(class, Some(Some((3 * KIB, 3 * KIB, Some(128 * KIB)))));
    assert!(matches!(
        read("Metaspace: 3980K(4096K)->3980K(4096K)"),
        Some(HeapLine::Metaspace { class: Some(None), .. })
    ));
    assert!(matches!(
        read("Metaspace: 5678K->5678K(1056768K)"),
        Some(HeapLine::Metaspace { class: None, .. })
    ));
    assert!(matches!(
        read("Y: Metaspace: 0M used, 1M committed, 1088M reserved"),
        Some(HeapLine::MetaspaceNow { .. })
    ));
}

#[test]
fn the_tables_of_z_give_capacity_and_what_was_promoted() {
    let capacity = "y: Capacity:       96M (50%)          96M (50%)          96M (50%)          98M (51%)          98M (51%)          96M (50%)";
    assert_eq!(read(capacity), Some(HeapLine::CycleCapacity(98 << 20)));
    let promoted = "Y: Promoted:          -                  -                 0M (0%)           12M (6%)";
    assert_eq!(read(promoted), Some(HeapLine::CyclePromoted(12 << 20)));
}

#[test]
fn the_tables_of_z_say_what_the_mark_of_a_generation_found_live() {
    let row = "    Live:         -                 9M (19%)          9M (19%)          9M (19%)             -                  -";
    for (generation, is_old) in [("", true), ("O:", true), ("Y:", false), ("y:", false)] {
        let live = HeapLine::CycleLive { is_old, bytes: 9 << 20 };
        assert_eq!(read(format!("{generation}{row}").trim_start()), Some(live), "{generation}");
    }
    assert_eq!(read("Live:         -                  -"), None);
}
