//! The records of threads, where the programs keep them: read without a system call, 10,000 of them in a few milliseconds.

use super::record::{TID, WORDS, Words, tid_of};
use memmap2::{MmapOptions, MmapRaw};
use std::io;
use std::os::fd::AsRawFd;

/// Index of a record. Records start at index 1: the programs use 0 for "no record".
pub(crate) type RecordNumber = u32;

/// A thread's record as it was read.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) place: RecordNumber,
    pub(crate) tid: u32,
    pub(crate) words: Words,
}

/// All places, as memory of this process.
#[derive(Debug)]
pub(crate) struct Records {
    memory: MmapRaw,
    places: RecordNumber,
}

impl Records {
    /// Those of a map of the kernel with so many entries.
    pub(crate) fn of(map: &impl AsRawFd, places: RecordNumber) -> io::Result<Records> {
        let bytes = places as usize * size_of::<Words>();
        Ok(Records { memory: MmapOptions::new().len(bytes).map_raw_read_only(map)?, places })
    }

    /// The record of every thread that has one.
    pub(crate) fn all(&self) -> impl Iterator<Item = Record> {
        (1..self.places).filter_map(|place| self.at(place))
    }

    /// The record at a place, if there is one.
    pub(crate) fn at(&self, place: RecordNumber) -> Option<Record> {
        let first = place as usize * WORDS;
        if self.places <= place || tid_of(self.word(first + TID)) == 0 {
            return None;
        }
        let words: Words = std::array::from_fn(|word| self.word(first + word));
        Some(Record { place, tid: tid_of(words[TID]), words })
    }

    /// One word, read once: the kernel changes it meanwhile.
    fn word(&self, at: usize) -> u64 {
        assert!((at + 1) * size_of::<u64>() <= self.memory.len());
        #[expect(unsafe_code, reason = "a reference must not point to changing memory")]
        // SAFETY: within the mapping, which begins at a page and lives as long as `self`; nobody shortens a map of the kernel.
        unsafe {
            self.memory.as_ptr().cast::<u64>().add(at).read_volatile()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_place_without_a_thread_has_no_record_and_beyond_the_last_there_is_none() {
        let mut file = tempfile::tempfile().expect("a file");
        for place in 0..3u64 {
            for word in 0..WORDS as u64 {
                // The number of the thread is the lower half of its word.
                let is_tid = word == TID as u64;
                let value = if is_tid { (7 << 32) | (place / 2 * 1000) } else { place };
                file.write_all(&value.to_ne_bytes()).expect("room");
            }
        }
        let records = Records::of(&file, 3).expect("a mapping");
        let all: Vec<_> = records.all().map(|record| (record.place, record.tid, record.words[0])).collect();
        assert_eq!(all, [(2, 1000, 2)]);
        assert!(
            records.at(1).is_none() && records.at(3).is_none() && records.at(RecordNumber::MAX).is_none()
        );
    }
}
