//! Memory that a process maps at several addresses: the kernel counts it as resident at each of them, and it is there once.
//!
//! ZGC without generations maps its heap three times (JDK 11 to 23), and what a program maps twice of one file or of shared memory is
//! the same. Two mappings have a page in common where file and offset are the same and neither has a page of its own there.

use assay_linux::{Mapping, PageMap, PageRun};
use assay_model::OutsideRss;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages of others in a file may be this part of it where smaps and page map are of different moments, or rounded.
const OTHERS_SHARE_MAX: u64 = 64;

/// What is mapped more than once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct MappedAgain {
    /// Resident pages that the process has at a lower address as well.
    pub(crate) pages: PageMap,
    /// Of files that are mapped several times, and by no other process: bytes of memory that the kernel calls shared, since they are
    /// mapped more than once.
    own_bytes: u64,
    /// The same as the kernel counts them, at each address.
    own_counted_bytes: u64,
}

impl MappedAgain {
    /// Looks at the mappings of a process and at its resident pages.
    pub(crate) fn of(mappings: &[Mapping], pages: &PageMap) -> MappedAgain {
        let mut files: BTreeMap<(&str, u64), Vec<&Mapping>> = BTreeMap::new();
        for mapping in mappings.iter().filter(|m| m.is_file() && m.rss_bytes != 0) {
            files.entry((&mapping.device, mapping.inode)).or_default().push(mapping);
        }
        let mut again = MappedAgain::default();
        let mut runs = Vec::new();
        for mappings in files.into_values().filter(|mappings| 1 < mappings.len()) {
            let before = runs.len();
            let memory_bytes = add_repeats(pages, &mappings, &mut runs);
            if before < runs.len() {
                again.add_file(&mappings, memory_bytes);
            }
        }
        runs.sort_unstable_by_key(|run: &PageRun| run.addresses.start);
        again.pages = PageMap::new(runs, pages.page_bytes());
        again
    }

    /// Adds a file, of which the process has so many bytes, to what no other process maps: the pages are then divided among its own
    /// addresses alone.
    fn add_file(&mut self, mappings: &[&Mapping], memory_bytes: u64) {
        let sum = |of: fn(&Mapping) -> Option<u64>| mappings.iter().map(|m| of(m)).sum::<Option<u64>>();
        let kernel_s = [sum(|m| m.pss_bytes), sum(|m| m.anonymous_bytes), sum(|m| m.private_bytes)];
        let ([Some(pss), Some(written), Some(private)], Some(shared)) = (kernel_s, sum(|m| m.shared_bytes))
        else {
            return;
        };
        let own_share = pss.saturating_sub(written);
        if memory_bytes <= own_share.saturating_add(memory_bytes / OTHERS_SHARE_MAX) {
            self.own_bytes += memory_bytes.saturating_sub(private.saturating_sub(written));
            self.own_counted_bytes = self.own_counted_bytes.saturating_add(shared);
        }
    }

    /// Takes what the process shares with nobody out of what the kernel calls shared.
    pub(crate) fn correct(&self, beside: &mut OutsideRss) {
        if let (Some(shared), Some(own)) = (&mut beside.shared_bytes, &mut beside.uss_bytes) {
            *shared = shared.saturating_sub(self.own_counted_bytes);
            *own = own.saturating_add(self.own_bytes);
        }
    }
}

/// Adds the addresses of pages of one file that lower addresses have as well; the bytes of the file that are there at all.
fn add_repeats(pages: &PageMap, mappings: &[&Mapping], runs: &mut Vec<PageRun>) -> u64 {
    // Parts of the file that were met, from start to end, none next to another.
    let mut met: BTreeMap<u64, u64> = BTreeMap::new();
    for mapping in mappings {
        let Range { start, end } = mapping.addresses;
        let first = pages.runs().partition_point(|run| run.addresses.end <= start);
        let inside = pages.runs()[first..].iter().take_while(|run| run.addresses.start < end);
        for run in inside.filter(|run| run.is_file) {
            let (from, to) = (run.addresses.start.max(start), run.addresses.end.min(end));
            let Some(offset) = mapping.offset_bytes.checked_add(from - start) else { continue };
            let Some(offset_end) = offset.checked_add(to - from) else { continue };
            for known in take(&mut met, offset..offset_end) {
                let addresses = from + (known.start - offset)..from + (known.end - offset);
                runs.push(PageRun { addresses, is_file: true });
            }
        }
    }
    met.iter().map(|(start, end)| end - start).sum()
}

/// Adds a part to those that were met, and gives what of it had been met before.
fn take(met: &mut BTreeMap<u64, u64>, part: Range<u64>) -> Vec<Range<u64>> {
    let (mut start, mut end) = (part.start, part.end);
    let mut known = Vec::new();
    // From the last that begins before the part's end, backwards: those that touch it become one with it.
    while let Some((&from, &to)) = met.range(..=end).next_back().filter(|(_, to)| start <= **to) {
        let common = part.start.max(from)..part.end.min(to);
        if common.start < common.end {
            known.push(common);
        }
        (start, end) = (start.min(from), end.max(to));
        met.remove(&from);
    }
    met.insert(start, end);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A mapping of shared memory, as the kernel counts it where all `addresses` mappings of a page are in `processes` processes.
    fn shared(start_mib: u64, offset_mib: u64, mib: u64, addresses: u64, inode: u64) -> Mapping {
        Mapping {
            addresses: start_mib * MIB..(start_mib + mib) * MIB,
            permissions: *b"rw-s",
            offset_bytes: offset_mib * MIB,
            device: "00:01".to_owned(),
            inode,
            rss_bytes: mib * MIB,
            pss_bytes: Some(mib * MIB / addresses),
            private_bytes: Some(0),
            shared_bytes: Some(mib * MIB),
            anonymous_bytes: Some(0),
            ..Mapping::default()
        }
    }

    fn pages(runs: &[(Range<u64>, bool)]) -> PageMap {
        let run = |(mib, is_file): &(Range<u64>, bool)| PageRun {
            addresses: mib.start * MIB..mib.end * MIB,
            is_file: *is_file,
        };
        PageMap::new(runs.iter().map(run).collect(), 4096)
    }

    fn corrected(again: &MappedAgain, shared: u64, own: u64) -> (Option<u64>, Option<u64>) {
        let mut beside =
            OutsideRss { shared_bytes: Some(shared), uss_bytes: Some(own), ..OutsideRss::default() };
        again.correct(&mut beside);
        (beside.shared_bytes, beside.uss_bytes)
    }

    #[test]
    fn memory_at_three_addresses_is_there_once_and_belongs_to_the_process_alone() {
        let views = [100, 200, 300].map(|start| shared(start, 0, 60, 3, 7));
        let again = MappedAgain::of(&views, &pages(&[(100..160, true), (200..260, true), (300..360, true)]));
        assert_eq!(again.pages.resident_bytes(), 120 * MIB);
        assert_eq!(again.pages.resident_bytes_in(0..200 * MIB), 0, "the lowest address counts");
        assert_eq!(corrected(&again, 180 * MIB, 40 * MIB), (Some(0), Some(100 * MIB)));
    }

    #[test]
    fn what_another_process_maps_as_well_stays_shared() {
        let views = [100, 200].map(|start| shared(start, 0, 60, 3, 7));
        let again = MappedAgain::of(&views, &pages(&[(100..160, true), (200..260, true)]));
        assert_eq!(again.pages.resident_bytes(), 60 * MIB);
        assert_eq!(corrected(&again, 120 * MIB, 40 * MIB), (Some(120 * MIB), Some(40 * MIB)));
    }

    #[test]
    fn only_pages_that_both_mappings_have_of_the_same_place_in_the_file_are_repeated() {
        let mappings = [shared(100, 0, 60, 1, 7), shared(200, 50, 60, 1, 7), shared(300, 0, 60, 1, 8)];
        // The second has pages of its own from 205 on, where the program wrote to them.
        let again = MappedAgain::of(
            &mappings,
            &pages(&[
                (100..152, true),
                (158..160, true),
                (200..205, true),
                (205..260, false),
                (300..360, true),
            ]),
        );
        assert_eq!(again.pages, pages(&[(200..202, true)]));
        let apart = [shared(100, 0, 60, 1, 7), shared(200, 60, 60, 1, 7)];
        assert_eq!(
            MappedAgain::of(&apart, &pages(&[(100..160, true), (200..260, true)])),
            MappedAgain { pages: pages(&[]), ..MappedAgain::default() }
        );
    }

    #[test]
    fn a_part_that_joins_two_that_were_met_repeats_both() {
        let mut met = BTreeMap::new();
        assert_eq!(take(&mut met, 10..20), []);
        assert_eq!(take(&mut met, 30..40), []);
        assert_eq!(take(&mut met, 20..22), []);
        let mut known = take(&mut met, 5..35);
        known.sort_by_key(|part| part.start);
        assert_eq!(known, [10..22, 30..35]);
        assert_eq!(met, BTreeMap::from([(5, 40)]));
    }
}
