//! The heap size after the JVM's rounding, and the limit of compressed references.
//!
//! Sources: `gcArguments.cpp` and the `…Arguments.cpp` of each collector (alignment of the heap), `g1HeapRegion.cpp`
//! (`heapRegion.cpp` until JDK 21) and `shenandoahHeapRegion.cpp` (region sizes), `arguments.cpp` (the limit). Facts in
//! our words; measured on JDK 17.0.15 and 25.0.3: `crates/assay/tests/heap_modes.rs`.

use super::options::DecidingOptions;
use crate::Collector;
use crate::release::ModeRules;

const MIB: u64 = 1 << 20;
/// Regions that G1 aims at.
const G1_REGIONS: u64 = 2048;
/// G1's smallest region, and the largest that it chooses by itself.
const G1_REGION_BYTES_MIN: u64 = MIB;
const G1_REGION_BYTES_CHOSEN_MAX: u64 = 32 * MIB;
/// ZGC's granule.
const Z_ALIGNMENT_BYTES: u64 = 2 * MIB;
/// Transparent huge pages of x86-64, and of arm64 with pages of 4 KiB.
const HUGE_PAGE_BYTES: u64 = 2 * MIB;

/// Alignments of one JVM with one collector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub rules: &'static ModeRules,
    pub collector: Collector,
    pub options: &'a DecidingOptions,
    pub page_bytes: u64,
}

impl Sizes<'_> {
    /// A card table has one byte for each card, and its pages must cover whole parts of the heap: the heap is aligned to
    /// what one page of cards covers, 512 x 4 KiB = 2 MiB.
    fn card_page_covers_bytes(&self) -> u64 {
        self.options.card_bytes.saturating_mul(self.page_bytes)
    }

    /// Bytes of a region for this `-Xmx`; `None` for collectors without regions.
    pub fn region_bytes(&self, max_heap_bytes: u64) -> Option<u64> {
        let options = self.options;
        match self.collector {
            Collector::G1 => {
                // Of a heap that begins small.
                let initial_bytes = options.initial_heap_bytes.unwrap_or(0).min(max_heap_bytes);
                Some(self.g1_region_bytes(initial_bytes, max_heap_bytes))
            }
            Collector::Shenandoah => {
                let max = self.whole_cards(max_heap_bytes);
                let chosen = (max / options.shenandoah_regions)
                    .max(options.shenandoah_region_bytes_min)
                    .min(options.shenandoah_region_bytes_max);
                let wanted = options.shenandoah_region_bytes.unwrap_or(chosen).max(self.page_bytes);
                Some(1 << wanted.ilog2()) // rounded down
            }
            _ => None,
        }
    }

    fn g1_region_bytes(&self, initial_bytes: u64, max_heap_bytes: u64) -> u64 {
        let follows_mean = self.rules.g1_regions_follow_mean;
        let heap = if follows_mean { u64::midpoint(initial_bytes, max_heap_bytes) } else { max_heap_bytes };
        let chosen = (heap / G1_REGIONS).min(G1_REGION_BYTES_CHOSEN_MAX);
        let wanted = self.options.g1_region_bytes.unwrap_or(chosen);
        let wanted = wanted.clamp(G1_REGION_BYTES_MIN, self.rules.g1_region_bytes_max);
        if follows_mean { 1 << wanted.ilog2() } else { wanted.next_power_of_two() }
    }

    /// Whether this size is rounded and placed alike whatever heap the JVM begins with, before which lies so much.
    pub fn is_placed_alike(&self, max_heap_bytes: u64, prefix_bytes: u64) -> bool {
        if self.collector != Collector::G1 || !self.rules.g1_regions_follow_mean {
            return true;
        }
        let card_page = self.card_page_covers_bytes();
        let [smallest, largest] =
            [0, max_heap_bytes].map(|initial| self.g1_region_bytes(initial, max_heap_bytes).max(card_page));
        smallest == largest || (prefix_bytes == 0 && max_heap_bytes.is_multiple_of(largest))
    }

    /// Shenandoah with generations rounds the size itself up, since it then has a card table.
    fn whole_cards(&self, bytes: u64) -> u64 {
        if self.collector == Collector::Shenandoah && self.options.is_shenandoah_generational {
            align_up(bytes, self.card_page_covers_bytes())
        } else {
            bytes
        }
    }

    /// Alignment of the heap's size and of its first address.
    pub fn heap_alignment_bytes(&self, max_heap_bytes: u64) -> u64 {
        let region = self.region_bytes(max_heap_bytes).unwrap_or(0);
        let alignment = match self.collector {
            Collector::Serial | Collector::Parallel | Collector::ConcMarkSweep => {
                self.card_page_covers_bytes()
            }
            Collector::G1 => region.max(self.card_page_covers_bytes()),
            Collector::Shenandoah => region,
            Collector::Z => Z_ALIGNMENT_BYTES,
            Collector::Epsilon => self.page_bytes,
        };
        let page = if self.options.has_transparent_huge_pages { HUGE_PAGE_BYTES } else { self.page_bytes };
        alignment.max(page)
    }

    /// The heap's size in bytes: `-Xmx` rounded up.
    pub fn heap_bytes(&self, max_heap_bytes: u64) -> u64 {
        align_up(self.whole_cards(max_heap_bytes), self.heap_alignment_bytes(max_heap_bytes))
    }

    /// The largest alignment that the collector might take for any heap. The limit is set by it, and not by the alignment
    /// that this heap gets: so G1 loses 32 MiB whatever its regions are (512 MiB in JDK 18 to
    /// 24, but for late updates of 21), and Serial 2 MiB.
    pub fn largest_alignment_bytes(&self) -> u64 {
        let own = match self.collector {
            Collector::G1 if self.options.g1_region_bytes.is_some() => self.rules.g1_region_bytes_max,
            Collector::G1 => self.rules.g1_alignment_bytes_max,
            Collector::Shenandoah => {
                let region = self.options.shenandoah_region_bytes_max;
                let alignment = region.checked_next_power_of_two().unwrap_or(region);
                alignment.saturating_mul(if self.rules.shenandoah_alignment_is_doubled { 2 } else { 1 })
            }
            _ => self.page_bytes,
        };
        let huge = if self.options.has_transparent_huge_pages { HUGE_PAGE_BYTES } else { 0 };
        own.max(self.card_page_covers_bytes()).max(self.page_bytes).max(huge)
    }

    /// The largest `-Xmx` with compressed references. One page in front of the heap stands for null, and takes a whole
    /// alignment.
    pub fn compressed_bytes_max(&self) -> u64 {
        self.options.reach_bytes().saturating_sub(align_up(self.page_bytes, self.largest_alignment_bytes()))
    }
}

/// The next multiple of a power of two.
pub(super) fn align_up(value: u64, alignment: u64) -> u64 {
    value.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX)
}

/// The multiple of a power of two below.
pub(super) fn align_down(value: u64, alignment: u64) -> u64 {
    value - value % alignment.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    fn heap_mib(feature: u32, collector: Collector, options: &[&str], max_mib: u64) -> u64 {
        let options = DecidingOptions::of(options.iter().copied());
        Sizes { rules: &Release::of(feature).modes, collector, options: &options, page_bytes: 4096 }
            .heap_bytes(max_mib * MIB)
            / MIB
    }

    /// Sizes that the JVMs logged.
    #[test]
    fn sizes_are_rounded_as_the_jvms_logged_them() {
        for feature in [17, 25] {
            assert_eq!(heap_mib(feature, Collector::Serial, &[], 2047), 2048);
            assert_eq!(heap_mib(feature, Collector::Parallel, &[], 30721), 30722);
            assert_eq!(heap_mib(feature, Collector::G1, &[], 2049), 2050);
            assert_eq!(heap_mib(feature, Collector::G1, &[], 30721), 30736);
            assert_eq!(heap_mib(feature, Collector::G1, &["-XX:G1HeapRegionSize=1m"], 32735), 32736);
            assert_eq!(heap_mib(feature, Collector::Shenandoah, &[], 2047), 2047);
            assert_eq!(heap_mib(feature, Collector::Shenandoah, &[], 30721), 30728);
            assert_eq!(heap_mib(feature, Collector::Epsilon, &[], 30721), 30721);
        }
        let generational = ["-XX:ShenandoahGCMode=generational"];
        assert_eq!(heap_mib(25, Collector::Shenandoah, &generational, 2047), 2048);
        assert_eq!(heap_mib(25, Collector::Serial, &["-XX:GCCardSizeInBytes=128"], 32767), 32767);
    }

    #[test]
    fn before_jdk_15_regions_follow_the_mean_of_both_sizes_and_are_rounded_down() {
        assert_eq!(heap_mib(11, Collector::G1, &[], 30721), 30724, "of 4 MiB, where the heap begins small");
        assert_eq!(heap_mib(11, Collector::G1, &["-Xms30721m"], 30721), 30728);
        let is_alike = |(feature, mib, prefix_mib): (u32, u64, u64)| {
            let options = DecidingOptions::default();
            let rules = &Release::of(feature).modes;
            let sizes = Sizes { rules, collector: Collector::G1, options: &options, page_bytes: 4096 };
            sizes.is_placed_alike(mib * MIB, prefix_mib * MIB)
        };
        let cases = [(11, 30721, 0), (11, 30720, 0), (11, 30720, 4), (11, 2049, 0), (17, 30721, 0)];
        assert_eq!(cases.map(is_alike), [false, true, false, true, true]);
    }

    #[test]
    fn the_limit_of_compression_leaves_room_for_the_largest_alignment() {
        let limit = |feature, collector, options: &[&str]| {
            let options = DecidingOptions::of(options.iter().copied());
            Sizes { rules: &Release::of(feature).modes, collector, options: &options, page_bytes: 4096 }
                .compressed_bytes_max()
                / MIB
        };
        assert_eq!(limit(17, Collector::Serial, &[]), 32766);
        assert_eq!(limit(17, Collector::G1, &[]), 32736);
        // JDK-8354145 came with 25, and with an update of 21: DayTrader on an earlier one showed 32256.
        assert_eq!([18, 21, 24].map(|feature| limit(feature, Collector::G1, &[])), [32256, 32736, 32256]);
        assert_eq!(
            [17, 25, 26, 27].map(|feature| limit(feature, Collector::Shenandoah, &[])),
            [32736, 32704, 32704, 32736]
        );
        assert_eq!(limit(21, Collector::Parallel, &[]), 32766);
        assert_eq!(limit(25, Collector::G1, &[]), 32736);
        assert_eq!(limit(17, Collector::G1, &["-XX:G1HeapRegionSize=1m"]), 32736);
        assert_eq!(limit(25, Collector::G1, &["-XX:G1HeapRegionSize=1m"]), 32256);
        assert_eq!(limit(25, Collector::G1, &["-XX:ObjectAlignmentInBytes=16"]), 65504);
    }
}
