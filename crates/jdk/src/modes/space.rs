//! The addresses of a process, as far as they decide where a heap can lie.

use std::ops::Range;

/// Page of x86-64, and of most arm64 kernels.
const PAGE_BYTES: u64 = 4096;
/// `vm.mmap_min_addr` where nobody changed it: 64 KiB on most distributions.
const LOWEST_ADDRESS: u64 = 64 << 10;
/// User addresses of x86-64 with four levels of page tables end one page below 128 TiB. With five levels the kernel gives
/// higher ones only to who asks for them, and HotSpot's disjoint bases beyond 128 TiB do.
const END_ADDRESS: u64 = (1 << 47) - PAGE_BYTES;

/// The largest heap that a 32-bit JVM starts with on a 64-bit kernel: what is free between its program and libraries, less its code
/// cache. Measured on JDK 17.
pub const MAX_HEAP_BYTES_32_BIT: u64 = 2200 << 20;

/// Address ranges taken when the heap is reserved, and the limits of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressSpace {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Lowest address that may be mapped (`vm.mmap_min_addr`).
    pub lowest_address: u64,
    /// Address behind the last of the process.
    pub end_address: u64,
    /// What is mapped already, sorted, without overlap.
    pub occupied: Vec<Range<u64>>,
    /// Bytes that may still be reserved (`ulimit -v` less what is); absent where there is no limit.
    pub reservable_bytes: Option<u64>,
}

impl Default for AddressSpace {
    /// A process on x86-64 Linux with nothing where a heap might lie: programs and libraries are far above 64 GiB.
    fn default() -> Self {
        AddressSpace {
            page_bytes: PAGE_BYTES,
            lowest_address: LOWEST_ADDRESS,
            end_address: END_ADDRESS,
            occupied: Vec::new(),
            reservable_bytes: None,
        }
    }
}

impl AddressSpace {
    /// That of a JVM of this word size on a host of which nothing more is known.
    pub fn usual(bits: u8) -> AddressSpace {
        let space = AddressSpace::default();
        match bits {
            32 => AddressSpace { end_address: space.lowest_address + MAX_HEAP_BYTES_32_BIT, ..space },
            _ => space,
        }
    }

    /// The same with these addresses taken, in whatever order they come.
    pub fn occupied_by(mut self, taken: impl IntoIterator<Item = Range<u64>>) -> AddressSpace {
        self.occupied.extend(taken);
        self.occupied.sort_by_key(|taken| taken.start);
        self.occupied.dedup_by(|next, before| {
            let is_joined = next.start <= before.end;
            if is_joined {
                before.end = before.end.max(next.end);
            }
            is_joined
        });
        self
    }

    /// What is in the way of a reservation; nothing when it succeeds. The kernel takes a wished address only if all of it
    /// is free, and the JVM gives back what it gets elsewhere.
    pub fn obstacle(&self, start: u64, bytes: u64) -> Option<Range<u64>> {
        let end = start.saturating_add(bytes);
        if start < self.lowest_address {
            return Some(0..self.lowest_address);
        }
        if end > self.end_address {
            return Some(self.end_address..u64::MAX);
        }
        let first = self.occupied.partition_point(|taken| taken.end <= start);
        self.occupied.get(first).filter(|taken| taken.start < end).cloned()
    }

    /// The longest free range.
    pub(super) fn largest_gap_bytes(&self) -> u64 {
        let starts = std::iter::once(self.lowest_address).chain(self.occupied.iter().map(|taken| taken.end));
        let ends = self.occupied.iter().map(|taken| taken.start).chain([self.end_address]);
        starts.zip(ends).map(|(start, end)| end.saturating_sub(start)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_the_lowest_pages_and_the_end_are_in_the_way() {
        let taken = [0x8000_0000..0x9000_0000, 0x40_0000..0x40_8000, 0x40_8000..0x41_0000];
        let space = AddressSpace::default().occupied_by(taken);
        assert_eq!(space.occupied.len(), 2, "neighbours are one");
        assert_eq!(space.obstacle(0x1_0000, 0x1000), None);
        assert_eq!(space.obstacle(0xf000, 0x1000), Some(0..0x1_0000));
        assert_eq!(space.obstacle(0x41_0000, 0x7fbf_0000), None, "it ends where the next begins");
        assert_eq!(space.obstacle(0x41_0000, 0x7fbf_1000), Some(0x8000_0000..0x9000_0000));
        assert_eq!(space.obstacle(0x8fff_f000, 0x1000), Some(0x8000_0000..0x9000_0000));
        assert_eq!(space.obstacle(0x9000_0000, 0x1000), None);
        assert!(space.obstacle(u64::MAX, u64::MAX).is_some());
        assert_eq!(space.largest_gap_bytes(), END_ADDRESS - 0x9000_0000);
    }
}
