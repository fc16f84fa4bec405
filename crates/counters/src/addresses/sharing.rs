//! Lines of the caches that several threads use while one of them writes, from sampled addresses of data.

use assay_model::{DataPlace, LineUser, SharedLine};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bytes of a line: of every x86 processor and most Arm ones.
const LINE: u64 = 64;
/// Most cache lines that are counted separately.
const LINES_MAX: usize = 1_000_000;
/// Lines that are listed, and threads of each.
const LISTED_MAX: usize = 40;
const THREADS_MAX: usize = 16;

/// A sampled access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) tid: u32,
    pub(crate) address: u64,
    pub(crate) is_store: bool,
}

#[derive(Debug, Default)]
struct Use {
    samples: u64,
    stores: u64,
    words: BTreeSet<u8>,
}

/// The lines that more than one thread uses, and one writes.
pub(crate) fn shared_lines(accesses: &[Access], place_of: &dyn Fn(u64) -> DataPlace) -> Vec<SharedLine> {
    let mut lines: HashMap<u64, BTreeMap<u32, Use>> = HashMap::new();
    for access in accesses {
        let line = access.address / LINE;
        // An address of 0 is none: the unit did not record it.
        if line == 0 || (LINES_MAX <= lines.len() && !lines.contains_key(&line)) {
            continue;
        }
        let of = lines.entry(line).or_default().entry(access.tid).or_default();
        of.samples += 1;
        of.stores += u64::from(access.is_store);
        of.words.insert((access.address % LINE / 8) as u8);
    }
    let mut shared: Vec<SharedLine> =
        lines.into_iter().filter_map(|(line, users)| shared_line(line * LINE, users, place_of)).collect();
    shared.sort_by_key(|line| (Reverse(line.samples), line.address));
    shared.truncate(LISTED_MAX);
    shared
}

fn shared_line(
    address: u64,
    users: BTreeMap<u32, Use>,
    place_of: &dyn Fn(u64) -> DataPlace,
) -> Option<SharedLine> {
    let stores: u64 = users.values().map(|of| of.stores).sum();
    if users.len() < 2 || stores == 0 {
        return None;
    }
    let words: usize = users.values().map(|of| of.words.len()).sum();
    let different: BTreeSet<u8> = users.values().flat_map(|of| of.words.iter().copied()).collect();
    let mut threads: Vec<LineUser> = users
        .into_iter()
        .map(|(tid, of)| LineUser {
            tid,
            samples: of.samples,
            stores: of.stores,
            words: of.words.into_iter().collect(),
        })
        .collect();
    threads.sort_by_key(|of| (Reverse(of.samples), of.tid));
    let samples = threads.iter().map(|of| of.samples).sum();
    threads.truncate(THREADS_MAX);
    Some(SharedLine {
        address,
        place: place_of(address),
        samples,
        stores,
        threads,
        is_false_sharing: words == different.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(tid: u32, address: u64, is_store: bool) -> Access {
        Access { tid, address, is_store }
    }

    fn lines(accesses: &[Access]) -> Vec<SharedLine> {
        shared_lines(accesses, &|_| DataPlace::JavaHeap)
    }

    #[test]
    fn threads_that_write_neighbours_in_a_line_share_it_falsely() {
        let accesses = [
            access(1, 0x1000, true),
            access(2, 0x1008, true),
            access(1, 0x1000, true),
            // Each has a line of its own.
            access(1, 0x2000, true),
            access(2, 0x2040, true),
        ];
        let found = lines(&accesses);
        assert_eq!(found.len(), 1, "{found:?}");
        let line = &found[0];
        assert_eq!((line.address, line.samples, line.stores), (0x1000, 3, 3));
        assert!(line.is_false_sharing && line.place == DataPlace::JavaHeap);
        assert_eq!((line.threads[0].tid, line.threads[0].samples), (1, 2));
        assert_eq!((&line.threads[0].words[..], &line.threads[1].words[..]), (&[0][..], &[1][..]));
    }

    #[test]
    fn threads_that_use_the_same_word_share_the_data() {
        let found = lines(&[access(1, 0x1000, true), access(2, 0x1004, false)]);
        assert!(!found[0].is_false_sharing, "the same eight bytes: {found:?}");
    }

    #[test]
    fn what_is_only_read_or_used_by_one_is_not_shared() {
        assert_eq!(lines(&[access(1, 0x1000, false), access(2, 0x1008, false)]), []);
        assert_eq!(lines(&[access(1, 0x1000, true), access(1, 0x1008, true)]), []);
        assert_eq!(lines(&[access(1, 0, true), access(2, 8, true)]), [], "no address was known");
    }
}
