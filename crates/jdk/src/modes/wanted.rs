//! From a wanted reference mode to the JVM options that give it, and the checks of what cannot be.
//!
//! Which mode HotSpot takes follows from where the heap lies, and that from `HeapBaseMinAddress`, 2 GB by default:
//! unscaled if the heap ends below 4 GB, zero-based if below 32 GB, otherwise with a base. The sizes here were
//! measured on JDK 17 and 25, x86-64 (the addresses are HotSpot's own rules, `CompressedOops::initialize`); the mode
//! that a JVM really chose is always read from its log. Held by: `every_mode_is_the_one_that_the_jvm_s_log_shows`.

use crate::Release;
use assay_model::{JvmFacts, ModeRead, ReferenceMode};
use assay_text::size;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Largest heap that the 32-bit JVM starts with on a 64-bit kernel.
const HEAP_32_BIT_MAX: u64 = 2200 * MIB;
/// Zero-based ends 2 GB below the 32 GB that shifted references reach, since the heap starts at 2 GB or above.
const HEAP_ZERO_BASED_MAX: u64 = 30 * GIB;
/// With the lowest useful base, 64 MB, the heap ends just below 4 GB.
const HEAP_UNSCALED_MAX: u64 = 4000 * MIB;
/// The JVM refuses less than this ("Too small maximum heap").
const HEAP_MIN: u64 = 2 * MIB;

/// Word size of the JVM that a mode needs.
pub fn bits_of(mode: ReferenceMode) -> u8 {
    if mode == ReferenceMode::Bits32 { 32 } else { 64 }
}

/// What cannot be, whatever JVM is found. `options` are the variant's own JVM options.
pub fn impossible(
    mode: Option<ReferenceMode>,
    heap: Option<u64>,
    compact_headers: bool,
    options: &[String],
) -> Vec<String> {
    use ReferenceMode as M;
    let mut found = Vec::new();
    if let Some(heap) = heap.filter(|heap| *heap < HEAP_MIN) {
        found.push(format!(
            "heap {} is below the {} that a JVM starts with",
            size::option(heap),
            size::option(HEAP_MIN)
        ));
    }
    let limit = match mode {
        Some(M::Bits32) => Some((HEAP_32_BIT_MAX, "the 32-bit JVM starts with")),
        Some(M::CompressedUnscaled) => Some((HEAP_UNSCALED_MAX, "fits below 4 GB of addresses")),
        Some(M::CompressedZeroBased) => Some((HEAP_ZERO_BASED_MAX, "is zero-based")),
        Some(M::CompressedDisjointBase | M::CompressedNonZeroBase) => {
            Some((HEAP_ZERO_BASED_MAX, "references can be compressed for"))
        }
        _ => None,
    };
    if let (Some(mode), Some(heap), Some((max, why))) = (mode, heap, limit)
        && max < heap
    {
        let (heap, max) = (size::option(heap), size::option(max));
        found.push(format!("{} with heap {heap}: {max} is the largest heap that {why}", mode.name()));
    }
    let has = |option: &str| options.iter().any(|o| o == option);
    if has("-XX:+UseZGC") && mode.is_some_and(|m| !matches!(m, M::Full64 | M::Full64CompressedClassPointers))
    {
        let mode = mode.map_or("", M::name);
        found.push(format!(
            "{mode} with ZGC: ZGC keeps full references at any size; use another collector or 64-bit-ccp"
        ));
    }
    if compact_headers && matches!(mode, Some(M::Bits32 | M::Full64)) {
        let mode = mode.map_or("", M::name);
        found.push(format!(
            "compact headers with {mode}: they need compressed class pointers, as 64-bit-ccp has"
        ));
    }
    found
}

/// What this JVM cannot do of what is possible elsewhere.
pub fn impossible_for(jvm: &JvmFacts, compact_headers: bool) -> Option<String> {
    let since = Release::product_since("UseCompactObjectHeaders");
    (compact_headers && jvm.feature < since).then(|| {
        format!(
            "compact headers with JDK {}: they came with JDK {since}; set jvm = \"{since}\" on that level",
            jvm.feature
        )
    })
}

/// JVM options that give the mode.
pub fn mode_options(mode: ReferenceMode, heap: Option<u64>, feature: u32) -> Vec<String> {
    use ReferenceMode as M;
    let compressed =
        |base: &str| vec!["-XX:+UseCompressedOops".to_owned(), format!("-XX:HeapBaseMinAddress={base}")];
    match mode {
        M::Bits32 => Vec::new(),
        M::CompressedUnscaled => compressed(unscaled_base(heap)),
        M::CompressedZeroBased => compressed("8g"),
        // 0x10_0000_0000: its bits do not overlap with those of an offset below 32 GB.
        M::CompressedDisjointBase => compressed("64g"),
        // Not a power of two, so that the base must be added.
        M::CompressedNonZeroBase => compressed("40000000000"),
        M::Full64CompressedClassPointers => vec!["-XX:-UseCompressedOops".to_owned()],
        // Since JDK 15 class pointers stay compressed without the second option. JDK 8 to 14 switch them off with
        // the first and take the second too.
        M::Full64 if feature >= 8 => {
            vec!["-XX:-UseCompressedOops".to_owned(), "-XX:-UseCompressedClassPointers".to_owned()]
        }
        M::Full64 => vec!["-XX:-UseCompressedOops".to_owned()],
    }
}

/// The highest base at which a heap of this size still ends below 4 GB.
fn unscaled_base(heap: Option<u64>) -> &'static str {
    match heap.unwrap_or(0) {
        0..=2_147_483_648 => "2g",
        b if b <= 3 * GIB => "1g",
        b if b <= 3500 * MIB => "512m",
        _ => "64m",
    }
}

/// Whether the JVM's log shows what was asked for; otherwise why the trial has failed.
pub fn check(wanted: ReferenceMode, compact_headers: bool, read: &ModeRead) -> Result<(), String> {
    if read.mode != wanted {
        return Err(format!(
            "the JVM chose {} although {} was asked for ({})",
            read.mode.name(),
            wanted.name(),
            read.evidence
        ));
    }
    match read.compact_headers {
        Some(found) if found != compact_headers => {
            let word = |on| if on { "compact" } else { "ordinary" };
            Err(format!(
                "the JVM uses {} object headers although {} ones were asked for",
                word(found),
                word(compact_headers)
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(text: &str) -> Option<u64> {
        size::parse(text).ok()
    }

    #[test]
    fn a_heap_beyond_a_mode_s_limit_is_impossible() {
        use ReferenceMode as M;
        for (mode, fits, too_large) in [
            (M::Bits32, "2200m", "2201m"),
            (M::CompressedUnscaled, "4000m", "4g"),
            (M::CompressedZeroBased, "30g", "31g"),
        ] {
            assert_eq!(impossible(Some(mode), heap(fits), false, &[]), Vec::<String>::new());
            assert_eq!(impossible(Some(mode), heap(too_large), false, &[]).len(), 1, "{mode:?}");
        }
        assert_eq!(impossible(None, heap("1m"), false, &[]).len(), 1);
        let zgc = ["-XX:+UseZGC".to_owned()];
        assert_eq!(impossible(Some(M::CompressedUnscaled), None, false, &zgc).len(), 1);
        assert_eq!(impossible(Some(M::Full64CompressedClassPointers), None, false, &zgc).len(), 0);
        assert_eq!(impossible(Some(M::Full64), None, true, &[]).len(), 1);
    }

    #[test]
    fn unscaled_lowers_the_base_with_the_size() {
        let of = |text| mode_options(ReferenceMode::CompressedUnscaled, heap(text), 17).pop().unwrap();
        assert_eq!(of("2048m"), "-XX:HeapBaseMinAddress=2g");
        assert_eq!(of("2049m"), "-XX:HeapBaseMinAddress=1g");
        assert_eq!(of("3g"), "-XX:HeapBaseMinAddress=1g");
        assert_eq!(of("3500m"), "-XX:HeapBaseMinAddress=512m");
        assert_eq!(of("3900m"), "-XX:HeapBaseMinAddress=64m");
    }
}
