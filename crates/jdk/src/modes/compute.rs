//! The mode of one `-Xmx`, and what decides it.

use super::attach::{BASE_MIN_ADDRESS, HeapLocation, Search, UNSCALED_END};
use super::options::DecidingOptions;
use super::sizes::Sizes;
use super::space::AddressSpace;
use crate::release::OptionState;
use crate::{Collector, Release};
use assay_model::ReferenceMode;
use assay_text::size;

/// A JVM refuses a smaller heap.
pub(super) const MAX_HEAP_BYTES_MIN: u64 = 2 << 20;

/// A JVM with a collector and options, without `-Xmx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapSetting {
    /// Feature release, for example 17.
    pub feature: u32,
    /// Its update, for example 13 of 21.0.13; where it is not known the newest ones are meant.
    pub update: Option<u32>,
    /// Word size: 32 or 64.
    pub bits: u8,
    /// The collector.
    pub collector: Collector,
    /// Options that decide.
    pub options: DecidingOptions,
}

/// The mode by the JVM's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputedMode {
    /// Absent where the JVM does not start, or its rules are not known; `decided_by` says which.
    pub mode: Option<ReferenceMode>,
    /// The heap's size after rounding.
    pub heap_bytes: Option<u64>,
    /// Bits that a compressed reference is shifted by.
    pub shift_bits: Option<u8>,
    /// The address that the JVM tries first; absent where it leaves the choice to the kernel.
    pub first_address: Option<u64>,
    /// Where the heap begins; absent where the kernel chooses.
    pub base_address: Option<u64>,
    /// What decides, in one clause.
    pub decided_by: String,
}

impl ComputedMode {
    fn without_place(mode: Option<ReferenceMode>, decided_by: String) -> ComputedMode {
        ComputedMode {
            mode,
            heap_bytes: None,
            shift_bits: None,
            first_address: None,
            base_address: None,
            decided_by,
        }
    }
}

impl HeapSetting {
    pub(super) fn sizes(&self, space: &AddressSpace) -> Sizes<'_> {
        Sizes {
            rules: self.release().modes_of(self.update),
            collector: self.collector,
            options: &self.options,
            page_bytes: space.page_bytes,
        }
    }

    /// The mode that a 64-bit JVM takes when references are not compressed.
    fn full(&self) -> ReferenceMode {
        let release = self.release();
        let has_option = release.option("UseCompressedClassPointers") != OptionState::Absent;
        let are_full = self.options.are_class_pointers_full && has_option;
        if are_full || !release.modes.class_pointers_stay_compressed {
            ReferenceMode::Full64
        } else {
            ReferenceMode::Full64CompressedClassPointers
        }
    }

    fn release(&self) -> &'static Release {
        Release::of(self.feature)
    }

    /// The release that all deciding options need, where this one lacks any.
    fn options_since(&self) -> Option<u32> {
        let compact = self.options.has_compact_headers.then_some("UseCompactObjectHeaders");
        let cards =
            (self.options.card_bytes != DecidingOptions::default().card_bytes).then_some("GCCardSizeInBytes");
        let is_absent = |release: &Release, flag| release.option(flag) == OptionState::Absent;
        let lacking = [compact, cards].into_iter().flatten().filter(|flag| is_absent(self.release(), flag));
        lacking.map(|flag| Release::first_where(|release| !is_absent(release, flag)).feature).max()
    }

    /// The mode of this `-Xmx` in a process whose addresses are taken as `space` says.
    pub fn mode_of(&self, max_heap_bytes: u64, space: &AddressSpace) -> ComputedMode {
        if let Some(option) = &self.options.not_judged {
            return ComputedMode::without_place(None, format!("what {option} changes is not computed"));
        }
        if self.bits != 32 && !self.release().modes.are_rules_known {
            let why = format!("the rules of JDK {} are not known; --verify asks the JVM", self.feature);
            return ComputedMode::without_place(None, why);
        }
        self.mode_by_rules(max_heap_bytes, space)
    }

    /// As [`HeapSetting::mode_of`], also where it is not known that the rules hold.
    pub(super) fn mode_by_rules(&self, max_heap_bytes: u64, space: &AddressSpace) -> ComputedMode {
        if max_heap_bytes < MAX_HEAP_BYTES_MIN {
            let why = format!("a JVM starts with {} at least", size::exact(MAX_HEAP_BYTES_MIN));
            return ComputedMode::without_place(None, why);
        }
        if self.bits == 32 {
            return self.of_32_bits(max_heap_bytes, space);
        }
        if let Some(since) = self.options_since() {
            let why = format!("does not start: an option came with JDK {since}");
            return ComputedMode::without_place(None, why);
        }
        let mut computed = match self.why_full(max_heap_bytes, space) {
            Some(why) => {
                let mut full = ComputedMode::without_place(Some(self.full()), why);
                full.heap_bytes = Some(self.sizes(space).heap_bytes(max_heap_bytes));
                full
            }
            None => self.compressed(max_heap_bytes, space),
        };
        if let (Some(bytes), Some(limit)) = (computed.heap_bytes, space.reservable_bytes)
            && limit < bytes
        {
            let why = format!("does not start: ulimit -v leaves {} to reserve", size::exact(limit));
            computed = ComputedMode::without_place(None, why);
        }
        let newest = Release::newest().feature;
        if newest < self.feature {
            computed.decided_by.push_str(&format!("; by the rules of JDK {newest}"));
        }
        computed
    }

    /// Why references are not compressed; `None` where they are.
    fn why_full(&self, max_heap_bytes: u64, space: &AddressSpace) -> Option<String> {
        if self.collector == Collector::Z {
            return Some("ZGC keeps colours in references of 64 bits".to_owned());
        }
        if self.options.is_compression_off {
            let since = Release::first_where(|release| release.modes.class_pointers_stay_compressed).feature;
            let before = format!(", and class pointers are full too before JDK {since}");
            return Some(format!(
                "-XX:-UseCompressedOops{}",
                if self.feature < since { &before } else { "" }
            ));
        }
        let sizes = self.sizes(space);
        let limit = sizes.compressed_bytes_max();
        (limit < max_heap_bytes).then(|| {
            format!(
                "-Xmx is above {}: the {} that 32-bit references reach at alignment {}, less {} kept for alignment",
                size::exact(limit),
                size::exact(self.options.reach_bytes()),
                self.options.object_alignment_bytes,
                size::exact(self.options.reach_bytes() - limit),
            )
        })
    }

    /// The mode alone of a size whose references are compressed.
    pub(super) fn compressed_mode_of(&self, search: &Search, space: &AddressSpace) -> ReferenceMode {
        self.mode_at(&search.run(space), search.heap_bytes, search.reach_bytes).0
    }

    pub(super) fn search(&self, max_heap_bytes: u64, space: &AddressSpace) -> Search {
        let sizes = self.sizes(space);
        let options = &self.options;
        let is_archive_off =
            options.is_archive_off || !(sizes.rules.uses_archive || options.is_archive_asked_for);
        let has_room = is_archive_off && !options.are_class_pointers_full;
        Search {
            rules: sizes.rules,
            heap_bytes: sizes.heap_bytes(max_heap_bytes),
            alignment_bytes: sizes.heap_alignment_bytes(max_heap_bytes),
            reach_bytes: self.options.reach_bytes(),
            wanted_address: options.heap_base_min_address,
            steps: options.search_steps,
            class_space_bytes: has_room.then_some(options.class_space_bytes),
        }
    }

    fn compressed(&self, max_heap_bytes: u64, space: &AddressSpace) -> ComputedMode {
        let search = self.search(max_heap_bytes, space);
        let place = search.run(space);
        let (mode, shift_bits) = self.mode_at(&place, search.heap_bytes, search.reach_bytes);
        let is_sure = self.sizes(space).is_placed_alike(max_heap_bytes, place.prefix_bytes);
        let base_address = place.reserved_address.and_then(|at| at.checked_add(place.prefix_bytes));
        ComputedMode {
            mode: Some(mode),
            heap_bytes: Some(search.heap_bytes),
            shift_bits: Some(shift_bits),
            first_address: place.first_address.filter(|_| is_sure),
            base_address: base_address.filter(|_| is_sure),
            decided_by: self.decided_by(max_heap_bytes, &search, &place, mode),
        }
    }

    /// From where the heap lies (`compressedOops.cpp`): the shift is left out when it ends below 4 GiB, the base when it
    /// ends within what references reach.
    fn mode_at(&self, place: &HeapLocation, heap_bytes: u64, reach_bytes: u64) -> (ReferenceMode, u8) {
        let alignment_bits = self.options.object_alignment_bytes.ilog2() as u8;
        let Some(reserved) = place.reserved_address else {
            return (ReferenceMode::CompressedNonZeroBase, alignment_bits);
        };
        let end = reserved.saturating_add(place.prefix_bytes).saturating_add(heap_bytes);
        // The base is where the inaccessible prefix begins.
        if end <= UNSCALED_END {
            (ReferenceMode::CompressedUnscaled, 0)
        } else if end <= reach_bytes {
            (ReferenceMode::CompressedZeroBased, alignment_bits)
        } else if self.release().modes.tries_one_address {
            // It knows but one way to use a base, which is a page below the heap.
            (ReferenceMode::CompressedNonZeroBase, alignment_bits)
        } else if reserved % reach_bytes < self.options.object_alignment_bytes {
            (ReferenceMode::CompressedDisjointBase, alignment_bits)
        } else {
            (ReferenceMode::CompressedNonZeroBase, alignment_bits)
        }
    }

    fn decided_by(
        &self,
        max_heap_bytes: u64,
        search: &Search,
        place: &HeapLocation,
        mode: ReferenceMode,
    ) -> String {
        let lowest = search.wanted_address.unwrap_or(BASE_MIN_ADDRESS);
        let mut sum = format!("{} (HeapBaseMinAddress", size::exact(lowest));
        if search.wanted_address.is_some() && place.first_address == place.reserved_address {
            sum.push_str(", given and so tried first");
        }
        sum.push_str(&format!(") + {} of heap", size::exact(search.heap_bytes)));
        if search.heap_bytes != max_heap_bytes {
            let unit = self.rounding_unit(search.alignment_bytes);
            sum.push_str(&format!(" (rounded up to {unit})"));
        }
        let reach = size::exact(search.reach_bytes);
        let end = match mode {
            ReferenceMode::CompressedUnscaled => "end within 4 GiB".to_owned(),
            ReferenceMode::CompressedZeroBased => format!("end above 4 GiB and within {reach}"),
            _ if place.reserved_address.is_none() => {
                format!("find no place within {reach}, the kernel chooses")
            }
            _ => format!("end above {reach}"),
        };
        match &place.obstacle {
            Some(taken) if place.first_address != place.reserved_address => {
                format!(
                    "{sum}, but a mapping at {:#x} is in the way of the first address: {end}",
                    taken.start
                )
            }
            _ => format!("{sum} {end}"),
        }
    }

    fn rounding_unit(&self, alignment_bytes: u64) -> String {
        match self.collector {
            Collector::G1 | Collector::Shenandoah => format!("regions of {}", size::exact(alignment_bytes)),
            _ => format!("{}, the range of a page of cards", size::exact(alignment_bytes)),
        }
    }

    /// A 32-bit JVM has one mode. Whether it starts depends on the longest gap between program and libraries when the
    /// heap is reserved, less the code cache: that changes by some MiB from start to start.
    fn of_32_bits(&self, max_heap_bytes: u64, space: &AddressSpace) -> ComputedMode {
        let refused = |why: String| ComputedMode::without_place(None, format!("does not start: {why}"));
        if let Some(option) = &self.options.only_64_bit {
            return refused(format!("a 32-bit JVM does not know {option}"));
        }
        if max_heap_bytes >> 32 != 0 {
            return refused("a 32-bit JVM cannot count 4 GiB".to_owned());
        }
        let gap_mib = space.largest_gap_bytes() >> 20;
        if gap_mib < max_heap_bytes >> 20 {
            return refused(format!("{gap_mib} MiB of addresses are free between program and libraries"));
        }
        let why = format!("a 32-bit JVM: one mode, in at most {gap_mib} MiB between program and libraries");
        ComputedMode::without_place(Some(ReferenceMode::Bits32), why)
    }
}

#[cfg(test)]
#[path = "compute_tests.rs"]
mod tests;
