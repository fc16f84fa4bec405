//! Modes, what decides them, and the sizes at which they change.

use super::*;
use crate::modes::{default_sizes, thresholds};
use ReferenceMode as M;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn setting(feature: u32, bits: u8, collector: Collector, options: &[&str]) -> HeapSetting {
    HeapSetting {
        feature,
        update: None,
        bits,
        collector,
        options: DecidingOptions::of(options.iter().copied()),
    }
}

fn mode(feature: u32, collector: Collector, options: &[&str], max_mib: u64) -> ComputedMode {
    setting(feature, 64, collector, options).mode_of(max_mib * MIB, &AddressSpace::default())
}

#[test]
fn what_decides_is_told_in_one_clause() {
    let cases = [
        (2048, "2 GiB (HeapBaseMinAddress) + 2 GiB of heap end within 4 GiB"),
        (
            2049,
            "2 GiB (HeapBaseMinAddress) + 2050 MiB of heap (rounded up to regions of 2 MiB) end above 4 GiB and within 32 GiB",
        ),
        (31744, "2 GiB (HeapBaseMinAddress) + 31 GiB of heap end above 32 GiB"),
        (
            32737,
            "-Xmx is above 32736 MiB: the 32 GiB that 32-bit references reach at alignment 8, less 32 MiB kept for alignment",
        ),
    ];
    for (mib, clause) in cases {
        assert_eq!(mode(25, Collector::G1, &[], mib).decided_by, clause);
    }
    let given = mode(17, Collector::G1, &["-XX:HeapBaseMinAddress=40g"], 8192);
    assert_eq!(
        given.decided_by,
        "40 GiB (HeapBaseMinAddress, given and so tried first) + 8 GiB of heap end above 32 GiB"
    );
    assert_eq!((given.mode, given.base_address), (Some(M::CompressedNonZeroBase), Some(0xa_0040_0000)));
}

#[test]
fn what_is_in_the_way_is_named() {
    let space = AddressSpace::default().occupied_by(std::iter::once(0xf000_0000..0xf000_1000));
    let found = setting(25, 64, Collector::G1, &[]).mode_of(2 * GIB, &space);
    assert_eq!(found.mode, Some(M::CompressedZeroBased));
    assert!(found.decided_by.contains("a mapping at 0xf0000000 is in the way"), "{}", found.decided_by);
    assert_eq!((found.first_address, found.base_address), (Some(2 * GIB), Some(30 * GIB)));
}

#[test]
fn where_the_rules_are_not_known_nothing_is_claimed() {
    for (feature, options) in
        [(9, &[][..]), (17, &["-XX:+UseLargePages"]), (17, &["-XX:+UseCompactObjectHeaders"])]
    {
        let found = mode(feature, Collector::G1, options, 1024);
        assert_eq!(found.mode, None, "{feature} {options:?}");
        assert!(!found.decided_by.is_empty());
    }
    let newest = Release::newest().feature;
    let told = mode(newest + 1, Collector::G1, &[], 1024).decided_by;
    assert!(told.ends_with(&format!("by the rules of JDK {newest}")), "{told}");
}

#[test]
fn a_limit_of_addresses_refuses_the_heap_that_does_not_fit() {
    let space = AddressSpace { reservable_bytes: Some(8 * GIB), ..AddressSpace::default() };
    let of = |gib| setting(17, 64, Collector::Parallel, &[]).mode_of(gib * GIB, &space);
    assert_eq!(of(8).mode, Some(M::CompressedZeroBased));
    assert_eq!((of(9).mode, of(64).mode), (None, None));
    assert!(of(9).decided_by.contains("ulimit -v"), "{}", of(9).decided_by);
}

#[test]
fn a_32_bit_jvm_has_one_mode_up_to_what_is_free() {
    let space = AddressSpace { end_address: 0xffff_e000, ..AddressSpace::default() }
        .occupied_by([0x5655_5000..0x5656_0000, 0xf700_0000..0xf7f0_0000]);
    let of = |options: &[&str], mib| setting(17, 32, Collector::Serial, options).mode_of(mib * MIB, &space);
    assert_eq!(of(&[], 2048).mode, Some(M::Bits32));
    assert_eq!((of(&[], 2600).mode, of(&[], 4096).mode), (None, None));
    assert_eq!(of(&["-XX:ObjectAlignmentInBytes=16"], 64).mode, None);
}

#[test]
fn default_sizes_are_fourteen_with_both_sides_of_each_threshold() {
    for collector in [Collector::Serial, Collector::G1, Collector::Z, Collector::Shenandoah] {
        let setting = setting(25, 64, collector, &[]);
        let sizes = default_sizes(&setting, &AddressSpace::default());
        assert_eq!(sizes.len(), 14, "{collector:?}");
        for (_, bytes) in thresholds(&setting, &AddressSpace::default()) {
            assert!(sizes.contains(&bytes) && sizes.contains(&(bytes + MIB)), "{collector:?}");
        }
    }
}

/// Below 32 GiB, and at a lower base beyond 30 GiB; with alignment 16 twice as far.
#[test]
fn thresholds_move_with_alignment_and_base() {
    let of = |options: &[&str]| {
        let found = thresholds(&setting(17, 64, Collector::G1, options), &AddressSpace::default());
        found.into_iter().map(|(mode, bytes)| (mode, bytes / MIB)).collect::<Vec<_>>()
    };
    let expected = [
        (M::CompressedUnscaled, 2048),
        (M::CompressedZeroBased, 62 << 10),
        (M::CompressedDisjointBase, 65504),
    ];
    assert_eq!(of(&["-XX:ObjectAlignmentInBytes=16"]), expected);
    let expected = [(M::CompressedUnscaled, 3072), (M::CompressedZeroBased, 31 << 10)];
    assert_eq!(of(&["-XX:HeapBaseMinAddress=1g"])[..2], expected);
}

#[test]
fn an_update_that_a_change_came_to_has_another_limit() {
    let limit = |feature, update, collector| {
        let setting = HeapSetting { update, ..setting(feature, 64, collector, &[]) };
        let is_compressed = |mib: u64| {
            let mode =
                setting.mode_of(mib * MIB, &AddressSpace::default()).mode.expect("the rules are known");
            !matches!(mode, M::Full64 | M::Full64CompressedClassPointers)
        };
        (1..=32768).rev().find(|mib| is_compressed(*mib)).expect("a small heap is compressed")
    };
    let g1 = |update| limit(21, update, Collector::G1);
    assert_eq!((g1(Some(2)), g1(Some(12)), g1(Some(13)), g1(None)), (32256, 32256, 32736, 32736));
    let shenandoah = |update| limit(25, update, Collector::Shenandoah);
    assert_eq!((shenandoah(Some(3)), shenandoah(Some(5)), shenandoah(None)), (32736, 32704, 32704));
    assert_eq!(
        limit(26, Some(0), Collector::Shenandoah),
        32704,
        "a later release has no early updates from here"
    );
}
