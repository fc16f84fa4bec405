//! Modes of two made-up JVMs on a made-up host.

use assay_model::*;

const MIB: u64 = 1 << 20;
const JAVAS: [(&str, u32); 2] =
    [("/usr/lib/jvm/java-17-openjdk-amd64", 17), ("/usr/lib/jvm/temurin-25-jdk-amd64", 25)];
const COLLECTORS: [&str; 5] = ["Serial", "Parallel", "G1", "Z", "Shenandoah"];
const SIZES_MIB: [u64; 14] =
    [256, 1024, 2048, 2049, 3072, 8192, 16384, 25600, 30720, 30721, 31744, 32768, 49152, 98304];

/// Mode, base address and shift by the rules of a HotSpot JVM on a host with nothing in the way.
fn mode_of(collector: &str, mib: u64, alignment: u64) -> (ReferenceMode, Option<u64>, Option<u8>) {
    let factor = alignment / 8;
    let shift = 3 + factor.trailing_zeros() as u8;
    match mib {
        _ if collector == "Z" => (ReferenceMode::Full64CompressedClassPointers, None, None),
        m if m <= 2048 => (ReferenceMode::CompressedUnscaled, Some((4096 - m) * MIB), Some(0)),
        m if m <= 32_768 * factor - 2048 => {
            (ReferenceMode::CompressedZeroBased, Some((32_768 * factor - m) * MIB), Some(shift))
        }
        m if m <= 32_736 * factor => {
            (ReferenceMode::CompressedDisjointBase, Some(0x1000_0000_0000), Some(shift))
        }
        _ => (ReferenceMode::Full64CompressedClassPointers, None, None),
    }
}

fn cell(java: (&str, u32), collector: &str, mib: u64, alignment: u64) -> ModeCell {
    let (mode, base, shift_bits) = mode_of(collector, mib, alignment);
    let too_large = mib > 40_000;
    ModeCell {
        java: java.0.to_owned(),
        jdk: java.1,
        collector: collector.to_owned(),
        max_heap_bytes: mib * MIB,
        options: if alignment == 8 {
            vec![]
        } else {
            vec![format!("-XX:ObjectAlignmentInBytes={alignment}")]
        },
        computed_mode: Some(mode),
        computed_base_address: base,
        shift_bits,
        decided_by: match mode {
            ReferenceMode::CompressedUnscaled => {
                "it ends below 4 GB and begins at HeapBaseMinAddress or above"
            }
            ReferenceMode::CompressedZeroBased => {
                "it ends below 32 GB and begins at HeapBaseMinAddress or above"
            }
            ReferenceMode::CompressedDisjointBase => {
                "no room below 32 GB above HeapBaseMinAddress=2g: a base of its own"
            }
            _ => "more than compressed references reach, or a collector that has none",
        }
        .to_owned(),
        verified_mode: (!too_large).then_some(mode),
        base_address: if too_large { None } else { base },
        not_verified_because: too_large.then(|| "the host has too little memory to start it".to_owned()),
    }
}

fn thresholds(java: &str, alignment: u64) -> Vec<ModeThreshold> {
    let factor = alignment / 8;
    let mut all = Vec::new();
    for collector in COLLECTORS.iter().filter(|c| **c != "Z") {
        for (mode, mib) in [
            (ReferenceMode::CompressedUnscaled, 2048),
            (ReferenceMode::CompressedZeroBased, 32_768 * factor - 2048),
            (
                ReferenceMode::CompressedDisjointBase,
                if *collector == "Serial" { 32_744 } else { 32_736 } * factor,
            ),
        ] {
            all.push(ModeThreshold {
                java: java.to_owned(),
                collector: (*collector).to_owned(),
                alignment_bytes: alignment,
                mode,
                largest_max_heap_bytes: mib * MIB,
                is_verified: alignment == 8,
            });
        }
    }
    all
}

fn range(start: u64, end: u64, what: &str, may_hold_heap: bool) -> AddressRange {
    AddressRange {
        start_address: start,
        end_address: end,
        what: what.to_owned(),
        is_free: Some(what.starts_with("free")),
        may_hold_heap,
    }
}

/// Two JVMs, five collectors, fourteen sizes, and alignment 16 for one of them.
pub fn modes() -> HeapModes {
    let mut cells = Vec::new();
    for java in JAVAS {
        for collector in COLLECTORS {
            cells.extend(SIZES_MIB.iter().map(|mib| cell(java, collector, *mib, 8)));
        }
    }
    for mib in [16384, 30720, 49152, 63488, 65536] {
        cells.push(cell(JAVAS[1], "G1", mib, 16));
    }
    cells[20].verified_mode = Some(ReferenceMode::CompressedDisjointBase);
    HeapModes {
        schema: schema::HEAP_MODES.to_owned(),
        assay_version: "0.1.0".to_owned(),
        cells,
        thresholds: JAVAS.iter().flat_map(|j| thresholds(j.0, 8)).chain(thresholds(JAVAS[1].0, 16)).collect(),
        address_map: vec![
            range(0, 0x1_0000, "reserved by the kernel", false),
            range(0x1_0000, 0x40_0000, "free", false),
            range(0x40_0000, 0x42_0000, "program", false),
            range(0x42_0000, 0x8000_0000, "free below HeapBaseMinAddress", false),
            range(0x8000_0000, 0x8_0000_0000, "free", true),
            range(0x8_0000_0000, 0x8_00d0_0000, "archive", false),
            range(0x8_00d0_0000, 0x8_00e0_0000, "free", true),
            range(0x8_0100_0000, 0x8_4100_0000, "class space", false),
            range(0x8_4100_0000, 0x10_0000_0000, "free", true),
        ],
        address_map_java: Some(JAVAS[0].0.to_owned()),
        advice: vec![
            Finding::measured(
                RuleId::of("below-threshold"),
                Severity::Note,
                "31g needs a base: 30g is the largest zero-based heap",
                "-Xmx31g: compressed-disjoint-base",
            )
            .to_do("-Xmx30g"),
            Finding::measured(
                RuleId::of("alignment-16"),
                Severity::Note,
                "48g keeps compressed references with 16-byte object alignment; these objects take 7 % more",
                "-Xmx31g: compressed-disjoint-base",
            )
            .to_do("-Xmx48g -XX:ObjectAlignmentInBytes=16"),
        ],
        read: vec![
            ModeOfLog { source: "native_stderr.log".to_owned(), mode: None, j9_is_compressed: Some(true) },
            ModeOfLog {
                source: "pid 4242".to_owned(),
                mode: Some(ModeRead {
                    mode: ReferenceMode::CompressedZeroBased,
                    compact_headers: Some(false),
                    shift_bits: Some(3),
                    heap_base_address: Some(0x7_0000_0000),
                    evidence: "flag UseCompressedOops".to_owned(),
                }),
                j9_is_compressed: None,
            },
        ],
        problems: vec![Problem::new("/opt/jdk", "no program `java` in it")],
    }
}

/// Nothing but what an older file may hold.
pub fn empty_modes() -> HeapModes {
    HeapModes {
        cells: vec![],
        thresholds: vec![],
        address_map: vec![],
        advice: vec![],
        read: vec![],
        problems: vec![],
        ..modes()
    }
}
