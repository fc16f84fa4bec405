//! Options that give a wanted mode, and what refuses one.

use super::*;
use ReferenceMode as M;

fn wanted(mode: M, mib: u64, options: &[String]) -> WantedMode<'_> {
    WantedMode {
        mode: Some(RequestedMode::Exactly(mode)),
        max_heap_bytes: Some(mib * MIB),
        has_compact_headers: false,
        options,
    }
}

fn words(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// The mode that a JVM with these options gets by the model that `assay heap modes` shows.
fn predicted(feature: u32, collector: Collector, options: &[String], mib: u64) -> Option<M> {
    let options = DecidingOptions::of(options.iter().map(String::as_str));
    let setting = HeapSetting { feature, update: None, bits: 64, collector, options };
    setting.mode_of(mib * MIB, &AddressSpace::default()).mode
}

/// Every mode, release, collector and size: the options found give the mode, and where nothing is found, no base does.
#[test]
fn options_give_the_mode_wherever_some_do() {
    let bases = ["64m", "512m", "1g", "2g", "4g", "8g", "16g", "32g", "40g", "64g"];
    let bases = bases.map(|base| words(&format!("-XX:HeapBaseMinAddress={base}")));
    let (mut given, mut refused) = (0, 0);
    for (release, collector) in Release::all().iter().flat_map(|r| Collector::ALL.map(|c| (r, c))) {
        if !release.modes.are_rules_known {
            continue;
        }
        let own = words(&format!("-XX:+Use{}GC", collector.name()));
        let mode_of = |options: &[String], mib| predicted(release.feature, collector, options, mib);
        for (mode, mib) in M::ALL.iter().flat_map(|m| (64..=40 << 10).step_by(128).map(move |mib| (*m, mib)))
        {
            if mode == M::Bits32 {
                continue;
            }
            let at = || format!("JDK {} {collector:?} {} -Xmx{mib}m", release.feature, mode.name());
            match wanted(mode, mib, &own).jvm_options(release.feature) {
                Ok(options) => {
                    given += 1;
                    assert_eq!(mode_of(&options, mib), Some(mode), "{}: {options:?}", at());
                }
                Err(why) => {
                    refused += 1;
                    assert!(bases.iter().all(|base| mode_of(base, mib) != Some(mode)), "{}: {why}", at());
                }
            }
        }
    }
    assert!(25_000 < given && 10_000 < refused, "{given} {refused}");
}

#[test]
fn without_a_chosen_collector_options_hold_for_both_that_a_jvm_may_take() {
    // Regions of 16 MiB: G1 rounds what Serial does not.
    let [zero, base] = [31 << 10, (31 << 10) + 1].map(|mib| wanted(M::CompressedZeroBased, mib, &[]));
    assert_eq!(zero.jvm_options(17), Ok(words("-XX:+UseCompressedOops -XX:HeapBaseMinAddress=1g")));
    assert_eq!(base.jvm_options(17), Ok(words("-XX:+UseCompressedOops -XX:HeapBaseMinAddress=512m")));
    let of =
        |mib, options: &[String]| wanted(M::CompressedDisjointBase, mib, options).jvm_options(24).is_ok();
    assert!(of(32256, &[]) && !of(32257, &[]), "G1 of 18 to 24 keeps 512 MiB free");
    assert!(of(32766, &words("-XX:+UseSerialGC")) && !of(32767, &words("-XX:+UseSerialGC")));
}

#[test]
fn the_base_is_lower_for_a_larger_heap_and_higher_for_a_larger_alignment() {
    let base = |mode, mib, options: &str| {
        let found = wanted(mode, mib, &words(options)).jvm_options(17).expect("options");
        found.last().and_then(|option| option.strip_prefix("-XX:HeapBaseMinAddress=")).map(str::to_owned)
    };
    for (mib, expected) in
        [(2048, "2g"), (2049, "1g"), (3072, "1g"), (3500, "512m"), (3900, "64m"), (4032, "64m")]
    {
        assert_eq!(base(M::CompressedUnscaled, mib, "").as_deref(), Some(expected), "{mib}");
    }
    for (mib, expected) in
        [(64, "8g"), (24 << 10, "8g"), ((24 << 10) + 1, "2g"), (30 << 10, "2g"), (31 << 10, "1g")]
    {
        assert_eq!(base(M::CompressedZeroBased, mib, "").as_deref(), Some(expected), "{mib}");
    }
    let aligned = "-XX:ObjectAlignmentInBytes=16";
    assert_eq!(base(M::CompressedZeroBased, 40 << 10, aligned).as_deref(), Some("8g"));
    assert_eq!(base(M::CompressedDisjointBase, 40 << 10, aligned).as_deref(), Some("128g"));
    assert_eq!(base(M::CompressedNonZeroBase, 40 << 10, aligned).as_deref(), Some("80g"));
}

#[test]
fn what_cannot_be_says_what_decides() {
    let refused = |mode, mib, options: &str| wanted(mode, mib, &words(options)).impossible();
    let says =
        |why: Option<String>, part: &str| assert!(why.as_ref().is_some_and(|w| w.contains(part)), "{why:?}");
    for (mode, fits, too_large, part) in [
        (M::Bits32, 2200, 2201, "2200 MiB of addresses are free"),
        (
            M::CompressedUnscaled,
            4032,
            4096,
            "64 MiB (HeapBaseMinAddress, given and so tried first) + 4 GiB of heap end above 4 GiB",
        ),
        (M::CompressedZeroBased, 32 * 1022, 32767, "-Xmx is above 32736 MiB"),
    ] {
        assert_eq!(refused(mode, fits, ""), None);
        says(refused(mode, too_large, ""), part);
    }
    says(refused(M::CompressedUnscaled, 1, ""), "heap 1m is below the 2m that a JVM starts with");
    says(refused(M::CompressedUnscaled, 64, "-XX:+UseZGC"), "ZGC keeps colours");
    assert_eq!(refused(M::Full64CompressedClassPointers, 64, "-XX:+UseZGC"), None);
    let ccp = wanted(M::Full64CompressedClassPointers, 64, &[]);
    says(ccp.jvm_options(11).err(), "class pointers are full too before JDK 15");
    assert_eq!(ccp.jvm_options(15), Ok(words("-XX:-UseCompressedOops")));
    assert_eq!(wanted(M::Full64, 64, &[]).jvm_options(11), Ok(words("-XX:-UseCompressedOops")));
    let full = words("-XX:-UseCompressedOops -XX:-UseCompressedClassPointers");
    assert_eq!(wanted(M::Full64, 64, &[]).jvm_options(17), Ok(full));
}

#[test]
fn compressed_is_whichever_way_the_jvm_chooses_at_any_heap_that_compresses() {
    let of = |mib, options: &[String]| {
        let wanted = WantedMode { mode: Some(RequestedMode::Compressed), ..wanted(M::Full64, mib, options) };
        wanted.jvm_options(17)
    };
    for mib in [92, 1 << 10, 2 << 10, 3 << 10, 4 << 10, 8 << 10, 12 << 10, 31 << 10] {
        assert_eq!(of(mib, &[]), Ok(Vec::new()), "{mib}");
    }
    assert!(of(33 << 10, &[]).is_err() && of(1024, &words("-XX:-UseCompressedOops")).is_err());
    let read = |mode| ModeRead {
        mode,
        compact_headers: None,
        shift_bits: None,
        heap_base_address: None,
        evidence: String::new(),
    };
    let is_met = |mode| check(RequestedMode::Compressed, false, &read(mode)).is_ok();
    let met: Vec<M> = M::ALL.into_iter().filter(|mode| is_met(*mode)).collect();
    let compressed =
        [M::CompressedUnscaled, M::CompressedZeroBased, M::CompressedDisjointBase, M::CompressedNonZeroBase];
    assert_eq!(met, compressed);
}

#[test]
fn compact_headers_need_a_release_and_class_pointers_that_are_compressed() {
    let compact = |mode: Option<M>| WantedMode {
        mode: mode.map(RequestedMode::Exactly),
        max_heap_bytes: None,
        has_compact_headers: true,
        options: &[],
    };
    assert_eq!(compact(None).jvm_options(25), Ok(words("-XX:+UseCompactObjectHeaders")));
    let ccp = compact(Some(M::Full64CompressedClassPointers)).jvm_options(25);
    assert_eq!(ccp, Ok(words("-XX:-UseCompressedOops -XX:+UseCompactObjectHeaders")));
    assert!(compact(None).jvm_options(17).is_err() && compact(None).impossible().is_none());
    assert!(
        compact(Some(M::Full64)).impossible().is_some() && compact(Some(M::Bits32)).impossible().is_some()
    );
}
