//! Samples of recorded JVMs; see `testdata/linux/README.md`.

use assay_linux::ProcRoot;
use assay_memory::sample;
use assay_model::{Area, HeapRange};
use assay_testkit::testdata;

fn check(folder: &str, heap: HeapRange, expected_kib: &[(Area, u64)]) {
    let proc = ProcRoot::at(testdata("linux").join(folder));
    let sample = sample(&proc, 4242, Some(heap), 0).expect("a recording");
    let kib: Vec<(Area, u64)> = sample.areas.iter().map(|a| (a.area, a.resident_bytes / 1024)).collect();
    assert_eq!(kib, expected_kib);
    assert_eq!(kib.iter().map(|(_, kib)| kib).sum::<u64>() * 1024, sample.rss_bytes);
}

#[test]
fn a_64_bit_jvm_with_g1() {
    check(
        "jdk17-g1-512m",
        HeapRange { start_address: 0xe000_0000, reserved_bytes: 512 << 20 },
        &[
            (Area::JavaHeap, 79_476),
            (Area::Code, 20_164),
            // The archive, and 8 KiB of class space.
            (Area::ClassMetadata, 11_860),
            (Area::JitCode, 560),
            // 41 Java threads 3,104 KiB, 8 others 96, the first thread 32.
            (Area::Stacks, 3232),
            (Area::Other, 4),
            // `[heap]`; the heads of other arenas are not in the recording.
            (Area::MallocHeap, 116),
            (Area::NativeAnonymous, 27_180),
        ],
    );
}

#[test]
fn a_32_bit_jvm_with_serial() {
    check(
        "jdk17-i386-serial",
        HeapRange { start_address: 0xd740_0000, reserved_bytes: 256 << 20 },
        &[
            (Area::JavaHeap, 33_392),
            (Area::Code, 17_080),
            (Area::ClassMetadata, 9000),
            (Area::JitCode, 452),
            // 21 Java threads 432 KiB, 3 with larger stacks 36, 2 others 24, the first thread 32.
            (Area::Stacks, 524),
            (Area::Other, 8),
            (Area::MallocHeap, 500),
            (Area::NativeAnonymous, 22_748),
        ],
    );
}
