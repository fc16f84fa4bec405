//! Which of a JVM's options have a say in the reference mode.

use crate::Collector;

/// Options that make the rules of `sizes` and `attach` not hold, or hide others: the cell is then left to `--verify`.
const NOT_JUDGED: [&str; 9] = [
    "-XX:+UseLargePages",
    "-XX:+UseHugeTLBFS",
    "-XX:+UseSHM",
    "-XX:LargePageSizeInBytes=",
    "-XX:AllocateHeapAt=",
    "-XX:Flags=",
    "-XX:VMOptionsFile=",
    "-XX:MaxRAMPercentage=",
    "@",
];

/// Flags that a 32-bit JVM has not.
const ONLY_64_BIT: [&str; 4] =
    ["UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders", "ObjectAlignmentInBytes"];

/// The options that decide, with HotSpot's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidingOptions {
    /// The collector, where an option chooses one.
    pub collector: Option<Collector>,
    /// `ObjectAlignmentInBytes`: 8 to 256, a power of two.
    pub object_alignment_bytes: u64,
    /// `HeapBaseMinAddress`, if it is given: the JVM then tries this address itself, and before all others.
    pub heap_base_min_address: Option<u64>,
    /// `-UseCompressedOops`
    pub is_compression_off: bool,
    /// `-UseCompressedClassPointers`
    pub are_class_pointers_full: bool,
    /// `+UseCompactObjectHeaders`
    pub has_compact_headers: bool,
    /// `G1HeapRegionSize`
    pub g1_region_bytes: Option<u64>,
    /// `ShenandoahRegionSize`
    pub shenandoah_region_bytes: Option<u64>,
    /// `ShenandoahMinRegionSize`, 256 KiB.
    pub shenandoah_region_bytes_min: u64,
    /// `ShenandoahMaxRegionSize`, 32 MiB.
    pub shenandoah_region_bytes_max: u64,
    /// `ShenandoahTargetNumRegions`, 2048.
    pub shenandoah_regions: u64,
    /// `ShenandoahGCMode=generational`
    pub is_shenandoah_generational: bool,
    /// `GCCardSizeInBytes`, 512; an option since JDK 18.
    pub card_bytes: u64,
    /// `+UseTransparentHugePages`
    pub has_transparent_huge_pages: bool,
    /// `HeapSearchSteps`, 3: addresses that are tried for each mode.
    pub search_steps: u64,
    /// `CompressedClassSpaceSize`, 1 GiB.
    pub class_space_bytes: u64,
    /// `-Xshare:off`
    pub is_archive_off: bool,
    /// `-Xshare:auto` or `-Xshare:on`
    pub is_archive_asked_for: bool,
    /// `-Xms` or `InitialHeapSize`
    pub initial_heap_bytes: Option<u64>,
    /// The first option that a 32-bit JVM refuses.
    pub only_64_bit: Option<String>,
    /// The first option whose effect is not computed.
    pub not_judged: Option<String>,
}

impl Default for DecidingOptions {
    fn default() -> Self {
        DecidingOptions {
            collector: None,
            object_alignment_bytes: 8,
            heap_base_min_address: None,
            is_compression_off: false,
            are_class_pointers_full: false,
            has_compact_headers: false,
            g1_region_bytes: None,
            shenandoah_region_bytes: None,
            shenandoah_region_bytes_min: 256 << 10,
            shenandoah_region_bytes_max: 32 << 20,
            shenandoah_regions: 2048,
            is_shenandoah_generational: false,
            card_bytes: 512,
            has_transparent_huge_pages: false,
            search_steps: 3,
            class_space_bytes: 1 << 30,
            is_archive_off: false,
            is_archive_asked_for: false,
            initial_heap_bytes: None,
            only_64_bit: None,
            not_judged: None,
        }
    }
}

impl DecidingOptions {
    /// Takes the options in their order; of those given twice the JVM takes the last. An option that is not on this list has
    /// no say and is passed over.
    pub fn of<'a>(options: impl IntoIterator<Item = &'a str>) -> DecidingOptions {
        let mut deciding = DecidingOptions::default();
        for option in options {
            if ONLY_64_BIT.iter().any(|flag| option.contains(flag)) {
                deciding.only_64_bit.get_or_insert_with(|| option.to_owned());
            }
            if NOT_JUDGED.iter().any(|start| option.starts_with(start)) {
                deciding.not_judged.get_or_insert_with(|| option.to_owned());
            } else if let Some(way) = option.strip_prefix("-Xshare:") {
                deciding.is_archive_off = way == "off";
                deciding.is_archive_asked_for = matches!(way, "auto" | "on");
            } else if let Some(value) = option.strip_prefix("-Xms") {
                deciding.initial_heap_bytes = assay_text::size::parse(value).ok();
            } else if let Some(flag) = option.strip_prefix("-XX:+") {
                deciding.switch(flag, true);
            } else if let Some(flag) = option.strip_prefix("-XX:-") {
                deciding.switch(flag, false);
            } else if let Some((flag, value)) = option.strip_prefix("-XX:").and_then(|o| o.split_once('='))
                && deciding.number(flag, value).is_none()
            {
                deciding.not_judged.get_or_insert_with(|| option.to_owned());
            }
        }
        deciding
    }

    /// How far compressed references reach: 4 GiB times the alignment of objects.
    pub fn reach_bytes(&self) -> u64 {
        self.object_alignment_bytes.saturating_mul(1 << 32)
    }

    fn switch(&mut self, flag: &str, on: bool) {
        match flag {
            "UseCompressedOops" => self.is_compression_off = !on,
            "UseCompressedClassPointers" => self.are_class_pointers_full = !on,
            "UseCompactObjectHeaders" => self.has_compact_headers = on,
            "UseTransparentHugePages" => self.has_transparent_huge_pages = on,
            _ => self.collector = Collector::of_flag(flag).filter(|_| on).or(self.collector),
        }
    }

    /// `None` for a value that this JVM would refuse, or that is not understood.
    fn number(&mut self, flag: &str, value: &str) -> Option<()> {
        let size = || assay_text::size::parse(value).ok();
        let power_of_two = |range: std::ops::RangeInclusive<u64>| {
            size().filter(|s| s.is_power_of_two() && range.contains(s))
        };
        match flag {
            "ObjectAlignmentInBytes" => self.object_alignment_bytes = power_of_two(8..=256)?,
            "InitialHeapSize" => self.initial_heap_bytes = Some(size()?),
            "HeapBaseMinAddress" => self.heap_base_min_address = Some(size()?),
            // 0 is the default: the JVM chooses.
            "G1HeapRegionSize" => self.g1_region_bytes = Some(size()?).filter(|s| *s != 0),
            "ShenandoahRegionSize" => self.shenandoah_region_bytes = Some(size()?).filter(|s| *s != 0),
            "ShenandoahMinRegionSize" => self.shenandoah_region_bytes_min = size()?,
            "ShenandoahMaxRegionSize" => self.shenandoah_region_bytes_max = size()?,
            "ShenandoahTargetNumRegions" => self.shenandoah_regions = size().filter(|s| *s != 0)?,
            "ShenandoahGCMode" => self.is_shenandoah_generational = value == "generational",
            "GCCardSizeInBytes" => self.card_bytes = power_of_two(128..=1024)?,
            "HeapSearchSteps" => self.search_steps = size().filter(|s| *s != 0)?,
            "CompressedClassSpaceSize" => self.class_space_bytes = size()?,
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_two_holds_and_what_has_no_say_is_passed_over() {
        let options = DecidingOptions::of([
            "-server",
            "-Dkey=-XX:+UseZGC",
            "-XX:+UseG1GC",
            "-XX:+UseSerialGC",
            "-XX:ObjectAlignmentInBytes=16",
            "-XX:HeapBaseMinAddress=40g",
            "-XX:-UseCompressedOops",
            "-XX:+UseCompressedOops",
            "-XX:MaxGCPauseMillis=50",
            "-Xshare:off",
        ]);
        let expected = DecidingOptions {
            collector: Some(Collector::Serial),
            object_alignment_bytes: 16,
            heap_base_min_address: Some(40 << 30),
            is_archive_off: true,
            only_64_bit: Some("-XX:ObjectAlignmentInBytes=16".to_owned()),
            ..DecidingOptions::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn what_is_not_computed_is_named() {
        for option in
            ["-XX:+UseLargePages", "-XX:ObjectAlignmentInBytes=12", "-XX:AllocateHeapAt=/mnt", "@file"]
        {
            let options = DecidingOptions::of([option]);
            assert_eq!(options.not_judged.as_deref(), Some(option));
        }
        assert_eq!(DecidingOptions::of(["-XX:+UseTransparentHugePages"]).not_judged, None);
    }
}
