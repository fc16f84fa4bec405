//! The search for a place for the heap, step by step as the JVM goes.
//!
//! Source: `virtualspace.cpp` (JDK 17 and 21) and `memoryReserver.cpp` (25), in our words. The JVM wants the heap so
//! low that a reference needs neither base nor shift; else so low that it needs no base; else at a multiple of what
//! references reach, so that the base is joined by an "or" instead of an addition; else where the kernel puts it. For each
//! of the first two it tries `HeapSearchSteps` addresses from the top of the range to its bottom, and never below
//! `HeapBaseMinAddress`, which leaves room for the growing `brk` heap. Where a base is needed, an inaccessible piece of one
//! alignment lies in front of the heap, so that a null reference, which decodes to the base, faults.
//! JDK 8 (`universe.cpp`, `preferred_heap_base`) tries one address for each of the first two, and then leaves it to the kernel.
//! Held by `tests/heap_in_the_way.rs`: JVMs in whose way memory was mapped go where this says.

use super::sizes::{align_down, align_up};
use super::space::AddressSpace;
use crate::release::ModeRules;
use std::ops::Range;

/// `HeapBaseMinAddress` where it is not given (Linux; `globals.hpp` of the processor).
pub const BASE_MIN_ADDRESS: u64 = 2 << 30;
/// References without a shift reach this far.
pub(super) const UNSCALED_END: u64 = 4 << 30;
const GIB_32: u64 = 32 << 30;
/// Where a base is tried that can be joined by "or", as multiples of 32 GiB. Those from 64 K on are beyond what
/// x86-64 with four levels of page tables has.
const DISJOINT_BASES: [u64; 12] =
    [2, 3, 4, 8, 10, 1 << 16, 2 << 16, 3 << 16, 4 << 16, 16 << 16, 32 << 16, 34 << 16];
/// Class pointers reach as far as references of alignment 8.
const CLASS_POINTERS_END: u64 = GIB_32;

/// The search for an address of the heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// How addresses are spread differs by release. 21 is as 17, and those between are taken to be so: the difference
    /// moves an address, and the mode only where the first address is not free.
    pub rules: &'static ModeRules,
    /// Rounded size of the heap.
    pub heap_bytes: u64,
    /// Its alignment.
    pub alignment_bytes: u64,
    /// How far references reach, shifted.
    pub reach_bytes: u64,
    /// `HeapBaseMinAddress`, if it was given.
    pub wanted_address: Option<u64>,
    pub steps: u64,
    /// Room that is left above the heap for the class space.
    pub class_space_bytes: Option<u64>,
}

/// Where the heap got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeapLocation {
    /// First address of the reservation; absent where the kernel chooses.
    pub reserved_address: Option<u64>,
    /// Inaccessible bytes in front of the heap.
    pub prefix_bytes: u64,
    /// The address that was tried first.
    pub first_address: Option<u64>,
    /// What lay in the way of the first address, where it was not free.
    pub obstacle: Option<Range<u64>>,
}

impl Search {
    /// Goes through the addresses.
    pub fn run(&self, space: &AddressSpace) -> HeapLocation {
        let mut attempts = Attempts { space, first_address: None, obstacle: None };
        let lowest = align_up(self.wanted_address.unwrap_or(BASE_MIN_ADDRESS), self.alignment_bytes);
        let prefix = self.alignment_bytes.max(space.page_bytes);
        let found = if self.rules.tries_one_address {
            self.one_for_each(&mut attempts, lowest, prefix)
        } else {
            let found = self.at_wanted_address(&mut attempts, lowest, prefix).or_else(|| {
                let unscaled = self.below_4_gib(&mut attempts, lowest);
                unscaled.or_else(|| self.without_base(&mut attempts, lowest)).map(|address| (address, 0))
            });
            found.or_else(|| self.disjoint(&mut attempts, prefix).map(|address| (address, prefix)))
        };
        let (reserved_address, prefix_bytes) = match found {
            Some((address, prefix)) => (Some(address), prefix),
            None => (None, prefix),
        };
        let Attempts { first_address, obstacle, .. } = attempts;
        HeapLocation { reserved_address, prefix_bytes, first_address, obstacle }
    }

    /// A given `HeapBaseMinAddress` is tried before all, even where a better mode were to be had.
    fn at_wanted_address(&self, attempts: &mut Attempts<'_>, lowest: u64, prefix: u64) -> Option<(u64, u64)> {
        self.wanted_address?;
        let is_beyond = lowest.saturating_add(self.heap_bytes) > self.reach_bytes;
        let prefix = if is_beyond { prefix } else { 0 };
        attempts.reserve(lowest, self.heap_bytes.saturating_add(prefix)).then_some((lowest, prefix))
    }

    fn below_4_gib(&self, attempts: &mut Attempts<'_>, lowest: u64) -> Option<u64> {
        if lowest.saturating_add(self.heap_bytes) > UNSCALED_END {
            return None;
        }
        self.in_range(attempts, align_down(UNSCALED_END - self.heap_bytes, self.alignment_bytes), lowest)
    }

    fn without_base(&self, attempts: &mut Attempts<'_>, lowest: u64) -> Option<u64> {
        let end = self.zero_based_end(lowest);
        if lowest.saturating_add(self.heap_bytes) > end {
            return None;
        }
        // Below this a heap would end below 4 GiB, which has been tried.
        let tried = UNSCALED_END.saturating_sub(self.heap_bytes);
        let lowest = align_up(lowest.max(tried), self.alignment_bytes);
        self.in_range(attempts, align_down(end - self.heap_bytes, self.alignment_bytes), lowest)
    }

    fn zero_based_end(&self, lowest: u64) -> u64 {
        let room = self.class_space_bytes.map(|bytes| align_up(bytes, self.alignment_bytes));
        match room.filter(|_| self.rules.leaves_room_for_class_space) {
            Some(room)
                if self.reach_bytes <= CLASS_POINTERS_END
                    && lowest.saturating_add(self.heap_bytes).saturating_add(room) <= CLASS_POINTERS_END =>
            {
                self.reach_bytes.saturating_sub(room)
            }
            _ => self.reach_bytes,
        }
    }

    /// Some addresses from the highest to the lowest.
    fn in_range(&self, attempts: &mut Attempts<'_>, highest: u64, lowest: u64) -> Option<u64> {
        let range = highest.checked_sub(lowest)?;
        let tries = self.steps.min(range / self.alignment_bytes + 1).max(1);
        let (tries, step) = if self.rules.search_reaches_bottom {
            (tries, align_down(range / (tries - 1).max(1), self.alignment_bytes))
        } else {
            // Bounded by the range, not by the number of tries: one more may fit.
            (tries + 1, align_up(range / tries, self.alignment_bytes))
        };
        let mut address = highest;
        for _ in 0..tries {
            if attempts.reserve(address, self.heap_bytes) {
                return Some(address);
            }
            address = address.checked_sub(step.max(self.alignment_bytes)).filter(|next| *next >= lowest)?;
        }
        None
    }

    /// JDK 8: a given address, or the end of the lower 4 GiB; then, of a heap that would fit below them, the end of what references
    /// reach. A larger heap is tried there at once. The inaccessible piece lies before a given address.
    fn one_for_each(&self, attempts: &mut Attempts<'_>, lowest: u64, prefix: u64) -> Option<(u64, u64)> {
        let end = lowest.saturating_add(self.heap_bytes);
        let below = |end: u64| end.checked_sub(self.heap_bytes);
        if self.wanted_address.is_some() {
            let prefix = if end > self.reach_bytes { prefix } else { 0 };
            let address = lowest.checked_sub(prefix)?;
            if attempts.reserve(address, self.heap_bytes.saturating_add(prefix)) {
                return Some((address, prefix));
            }
        }
        if end > self.reach_bytes {
            return None;
        }
        let unscaled = (end <= UNSCALED_END && self.wanted_address.is_none()).then_some(UNSCALED_END);
        let is_first = self.wanted_address.is_none() && unscaled.is_none();
        let without_base = (is_first || end <= UNSCALED_END).then(|| self.zero_based_end(lowest));
        let ends = [unscaled, without_base].into_iter().flatten();
        ends.filter_map(below).find(|at| attempts.reserve(*at, self.heap_bytes)).map(|at| (at, 0))
    }

    fn disjoint(&self, attempts: &mut Attempts<'_>, prefix: u64) -> Option<u64> {
        let lowest = self.reach_bytes.max(self.wanted_address.unwrap_or(BASE_MIN_ADDRESS));
        let bases = DISJOINT_BASES.iter().map(|multiple| multiple * GIB_32).filter(|base| lowest <= *base);
        let steps = usize::try_from(self.steps).unwrap_or(usize::MAX);
        let bytes = self.heap_bytes.saturating_add(prefix);
        bases.take(steps).find(|base| attempts.reserve(*base, bytes))
    }
}

struct Attempts<'a> {
    space: &'a AddressSpace,
    first_address: Option<u64>,
    obstacle: Option<Range<u64>>,
}

impl Attempts<'_> {
    fn reserve(&mut self, address: u64, bytes: u64) -> bool {
        let obstacle = self.space.obstacle(address, bytes);
        if self.first_address.is_none() {
            self.first_address = Some(address);
            self.obstacle.clone_from(&obstacle);
        }
        obstacle.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    const MIB: u64 = 1 << 20;

    fn search(heap_mib: u64, alignment_mib: u64) -> Search {
        Search {
            rules: &Release::of(25).modes,
            heap_bytes: heap_mib * MIB,
            alignment_bytes: alignment_mib * MIB,
            reach_bytes: GIB_32,
            wanted_address: None,
            steps: 3,
            class_space_bytes: None,
        }
    }

    fn place(search: Search) -> (Option<u64>, u64) {
        let place = search.run(&AddressSpace::default());
        (place.reserved_address, place.prefix_bytes)
    }

    /// Addresses that the JVMs logged.
    #[test]
    fn the_first_free_address_is_the_one_that_the_jvms_logged() {
        assert_eq!(place(search(100, 2)), (Some(0xf9c0_0000), 0));
        assert_eq!(place(search(2048, 2)), (Some(0x8000_0000), 0));
        assert_eq!(place(search(2050, 2)), (Some(0x7_7fe0_0000), 0));
        assert_eq!(place(search(30720, 16)), (Some(0x8000_0000), 0));
        assert_eq!(place(search(30736, 16)), (Some(0x10_0000_0000), 16 * MIB));
        let at_31_gib = Search { wanted_address: Some(31 << 30), ..search(2048, 2) };
        assert_eq!(place(at_31_gib), (Some(0x7_c000_0000), 2 * MIB));
        let room =
            Search { rules: &Release::of(17).modes, class_space_bytes: Some(1 << 30), ..search(3072, 2) };
        assert_eq!(place(room), (Some(0x7_0000_0000), 0));
        assert_eq!(place(Search { heap_bytes: 29712 * MIB, ..room }), (Some(0xbf00_0000), 0));
    }

    #[test]
    fn where_something_is_in_the_way_the_next_address_is_tried() {
        let top_taken = AddressSpace::default().occupied_by(std::iter::once(0xff00_0000..0xff00_1000));
        let found = search(1024, 2).run(&top_taken);
        assert_eq!(found.first_address, Some(0xc000_0000));
        assert_eq!(found.obstacle, Some(0xff00_0000..0xff00_1000));
        // JDK 25: 3 GiB, 2.5 GiB, 2 GiB; JDK 17: 3 GiB, 342 MiB less, again 342 MiB less.
        assert_eq!(found.reserved_address, Some(0xa000_0000));
        let older = Search { rules: &Release::of(17).modes, ..search(1024, 2) }.run(&top_taken);
        assert_eq!(older.reserved_address, Some(0xc000_0000 - 342 * MIB));
    }

    #[test]
    fn jdk_8_tries_one_address_for_each_mode() {
        let rules = &Release::of(8).modes;
        let of = |heap_mib| Search { rules, class_space_bytes: Some(1 << 30), ..search(heap_mib, 2) };
        // As JVM 8u504 printed: a heap of 3 GiB ends where the class space begins.
        assert_eq!(place(of(1024)), (Some(0xc000_0000), 0));
        assert_eq!(place(of(3072)), (Some(0x7_0000_0000), 0));
        assert_eq!(place(of(30720)), (Some(0x8000_0000), 0));
        assert_eq!(place(of(31744)), (None, 2 * MIB));
        let taken = |range| AddressSpace::default().occupied_by(std::iter::once(range));
        let moved = of(1024).run(&taken(0xff00_0000..0xff00_1000));
        assert_eq!(moved.reserved_address, Some(0x7_8000_0000), "not a lower one below 4 GiB");
        let nowhere = of(3072).run(&taken(0x7_ff00_0000..0x7_ff00_1000)).reserved_address;
        assert_eq!(nowhere, Some(0x7_0000_0000), "the class space's place does not matter");
        assert_eq!(of(3072).run(&taken(0x7_0000_0000..0x7_0000_1000)).reserved_address, None);
        let given = Search { wanted_address: Some(40 << 30), ..of(1024) };
        assert_eq!(
            place(given),
            (Some((40 << 30) - 2 * MIB), 2 * MIB),
            "the heap begins where it was asked to"
        );
    }

    #[test]
    fn where_nothing_is_free_below_32_gib_the_base_is_disjoint_and_then_the_kernel_chooses() {
        let all = |end: u64| AddressSpace::default().occupied_by(std::iter::once(0x1_0000..end));
        assert_eq!(search(64, 2).run(&all(33 << 30)).reserved_address, Some(64 << 30));
        assert_eq!(search(64, 2).run(&all(65 << 30)).reserved_address, Some(96 << 30));
        let chosen = search(64, 2).run(&all(1 << 40));
        assert_eq!((chosen.reserved_address, chosen.prefix_bytes), (None, 2 * MIB));
    }

    #[test]
    fn a_hostile_size_is_an_end_not_an_overflow() {
        for bytes in [u64::MAX, u64::MAX - 4096, 1 << 63] {
            let huge = Search { heap_bytes: bytes, wanted_address: Some(u64::MAX), ..search(1, 2) };
            assert_eq!(huge.run(&AddressSpace::default()).reserved_address, None);
        }
    }
}
