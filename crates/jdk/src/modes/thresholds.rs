//! Where a little more heap changes the mode.

use super::compute::{HeapSetting, MAX_HEAP_BYTES_MIN};
use super::space::AddressSpace;
use assay_model::ReferenceMode;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Sizes shown for each JVM and collector.
const SIZES: usize = 14;
/// Round sizes that people take, in MiB; those that fit beside the thresholds are shown.
const ROUND_MIB: [u64; 14] =
    [512, 1024, 4096, 8192, 16384, 24576, 31744, 49152, 65536, 2048, 30720, 12288, 20480, 40960];
const ROUND_32_BIT_MIB: [u64; 8] = [64, 128, 256, 512, 768, 1024, 1536, 2000];

/// The largest `-Xmx` of each compressed mode that some size gets, from the smallest on. In steps of 1 MiB, each computed:
/// nothing is taken for granted about how modes follow each other.
///
/// ```
/// use assay_jdk::Collector;
/// use assay_jdk::modes::{AddressSpace, DecidingOptions, HeapSetting, thresholds};
/// use assay_model::ReferenceMode as Mode;
/// let options = DecidingOptions::default();
/// let g1 = HeapSetting { feature: 25, update: None, bits: 64, collector: Collector::G1, options };
/// let expected = [
///     (Mode::CompressedUnscaled, 2 << 30),
///     (Mode::CompressedZeroBased, 30 << 30),
///     (Mode::CompressedDisjointBase, 32736 << 20),
/// ];
/// assert_eq!(thresholds(&g1, &AddressSpace::default()), expected);
/// ```
pub fn thresholds(setting: &HeapSetting, space: &AddressSpace) -> Vec<(ReferenceMode, u64)> {
    let mut found: Vec<(ReferenceMode, u64)> = Vec::new();
    let largest = setting.sizes(space).compressed_bytes_max().min(space.reservable_bytes.unwrap_or(u64::MAX));
    // Conditions of one size hold for all: rules that are known, a JVM that compresses.
    let is_compressing = setting.mode_of(largest.min(GIB), space).shift_bits.is_some();
    if !is_compressing {
        return found;
    }
    let mut before = None;
    for mib in (MAX_HEAP_BYTES_MIN / MIB..=largest / MIB).rev() {
        let search = setting.search(mib * MIB, space);
        let rounded = (search.heap_bytes, search.alignment_bytes);
        // Sizes that are rounded to the same one get the same place.
        if before.replace(rounded) == Some(rounded) {
            continue;
        }
        let mode = setting.compressed_mode_of(&search, space);
        if !found.iter().any(|(known, _)| *known == mode) {
            found.push((mode, mib * MIB));
        }
    }
    found.reverse();
    found
}

/// Both sides of every threshold, and round sizes: 14, sorted, in bytes.
pub fn default_sizes(setting: &HeapSetting, space: &AddressSpace) -> Vec<u64> {
    let sides = thresholds(setting, space).into_iter().flat_map(|(_, bytes)| [bytes, bytes + MIB]);
    let mut sizes: Vec<u64> = sides.collect();
    if setting.bits == 32 {
        sizes.extend(ROUND_32_BIT_MIB.map(|mib| mib * MIB));
        // Where a start of this JVM just fails, or just does not.
        let gap = space.largest_gap_bytes().min(4 * GIB) / MIB * MIB;
        sizes.extend([
            gap.saturating_sub(512 * MIB),
            gap.saturating_add(512 * MIB).min(4 * GIB - MIB),
            4 * GIB,
        ]);
    }
    let scale = setting.options.object_alignment_bytes / 8;
    for mib in ROUND_MIB.iter().filter(|_| setting.bits == 64) {
        let bytes = mib * MIB * if *mib > 8192 { scale } else { 1 };
        if sizes.len() < SIZES && !sizes.contains(&bytes) {
            sizes.push(bytes);
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
