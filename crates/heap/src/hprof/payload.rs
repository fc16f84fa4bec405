//! The bytes inside heap records: sub-records lie in them one behind the other, and with some writers across their ends.
//!
//! Folklore, each held by a test of `tests/hprof_synthetic.rs`:
//! - A record's length has four bytes. JDK 6 and tools that write one HEAP_DUMP (0x0C) of more than 4 GiB let it wrap:
//!   where a 0x0C ends and no record begins, it goes on for another 4 GiB.
//! - Length 0 of a 0x0C means that the writer could not go back to fill it in: it goes on to the end. Of a 0x1C it means
//!   the same with some writers, and an empty segment with the JDK: the following bytes show which.
//! - Writers that cut a stream of sub-records into segments of one size (perfetto) have sub-records that go on behind the
//!   next segment's header.

use super::dump::{Dump, Segment, Stop};
use super::sub_records::begins_with_sub_records;

pub(super) const HEAP_DUMP: u8 = 0x0c;
pub(super) const HEAP_DUMP_SEGMENT: u8 = 0x1c;
pub(super) const HEAP_DUMP_END: u8 = 0x2c;
/// Bytes of a record's header: tag, time, length.
pub(super) const HEADER_BYTES: usize = 9;
/// Bytes that are read behind a segment's header to decide whether sub-records begin there.
const GLANCE_BYTES: usize = 4096;

/// A record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) tag: u8,
    pub(super) length: u32,
}

impl RecordHeader {
    pub(super) fn parse(bytes: &[u8]) -> Option<RecordHeader> {
        let [tag, _, _, _, _, a, b, c, d] = *bytes.first_chunk::<HEADER_BYTES>()?;
        Some(RecordHeader { tag, length: u32::from_be_bytes([a, b, c, d]) })
    }

    /// Whether such a record exists: its tag is known, and its length is one that it can have.
    pub(super) fn is_plausible(self, id_bytes: usize) -> bool {
        let (id, length) = (id_bytes as u64, u64::from(self.length));
        match self.tag {
            0x01 => length >= id && length <= id + (1 << 20),
            0x02 => length == 8 + 2 * id,
            0x03 | 0x0b => length == 4,
            0x04 => length == 8 + 4 * id,
            0x05 => length >= 12 && (length - 12) % id == 0 && length < 1 << 20,
            0x07 => length == 24,
            0x0a => length == 8 + 4 * id,
            0x0e => length == 6,
            0x06 | 0x0d => length < 1 << 26,
            HEAP_DUMP | HEAP_DUMP_SEGMENT => true,
            HEAP_DUMP_END => length == 0,
            _ => false,
        }
    }

    pub(super) fn is_heap(self) -> bool {
        self.tag == HEAP_DUMP || self.tag == HEAP_DUMP_SEGMENT
    }
}

impl<const ID: usize> Dump<'_, ID> {
    /// The header that stands here, if one can.
    pub(super) fn header_here(&mut self) -> Option<RecordHeader> {
        self.cursor.has(HEADER_BYTES);
        RecordHeader::parse(self.cursor.rest()).filter(|header| header.is_plausible(ID))
    }

    /// Begins a heap record whose header has been read.
    pub(super) fn begin_segment(&mut self, header: RecordHeader) {
        let offset = self.cursor.offset();
        let mut end = offset.saturating_add(u64::from(header.length));
        if header.length == 0 {
            let is_over = !self.cursor.has(1);
            let is_empty = self.header_here().is_some_and(|next| match header.tag {
                HEAP_DUMP => next.is_heap() || next.tag == HEAP_DUMP_END,
                _ => true,
            });
            if !is_over && !is_empty {
                end = u64::MAX;
            }
        }
        self.segment = Segment { tag: header.tag, end };
    }

    /// At the end of a heap record and of a sub-record: whether it goes on after all.
    pub(super) fn goes_on(&mut self) -> bool {
        if self.segment.tag != HEAP_DUMP || !self.cursor.has(1) || self.header_here().is_some() {
            return false;
        }
        self.cursor.has(GLANCE_BYTES);
        let goes_on = begins_with_sub_records::<ID>(self.cursor.rest(), &self.tally.classes);
        if goes_on {
            self.unwrap_length();
        }
        goes_on
    }

    fn unwrap_length(&mut self) {
        self.segment.end = self.segment.end.saturating_add(1 << 32);
        self.problems.add_once(
            "a heap record is longer than its length says, which has wrapped at 4 GiB: read to its end",
        );
    }

    /// The next bytes.
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        if self.segment.end - self.cursor.offset() >= N as u64 {
            self.cursor.has(N);
            let bytes = self.cursor.rest().first_chunk::<N>().copied().ok_or(Stop::Over)?;
            self.cursor.advance(N);
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        for byte in &mut bytes {
            self.cross_if_at_end()?;
            self.cursor.has(1);
            *byte = *self.cursor.rest().first().ok_or(Stop::Over)?;
            self.cursor.advance(1);
        }
        Ok(bytes)
    }

    /// Goes over bytes.
    pub(super) fn pass(&mut self, mut count: u64) -> Result<(), Stop> {
        while count > 0 {
            self.cross_if_at_end()?;
            let here = count.min(self.segment.end - self.cursor.offset());
            if !self.cursor.skip(here) {
                return Err(Stop::Over);
            }
            count -= here;
        }
        Ok(())
    }

    /// Within a sub-record: when the segment ends here, goes on in the next one.
    fn cross_if_at_end(&mut self) -> Result<(), Stop> {
        while self.cursor.offset() == self.segment.end {
            if !self.cursor.has(1) {
                return Err(Stop::Over);
            }
            self.cursor.has(HEADER_BYTES + GLANCE_BYTES);
            match self.header_here() {
                Some(next) if next.is_heap() => {
                    // Where sub-records begin anew, the one before was damaged and only seems to go on.
                    let payload = &self.cursor.rest()[HEADER_BYTES..];
                    let payload = &payload[..payload.len().min(next.length as usize)];
                    if !self.cuts_anywhere && begins_with_sub_records::<ID>(payload, &self.tally.classes) {
                        return Err(Stop::Torn);
                    }
                    self.cuts_anywhere |= next.length > 0;
                    self.cursor.advance(HEADER_BYTES);
                    let end = self.cursor.offset().saturating_add(u64::from(next.length));
                    self.segment = Segment { tag: next.tag, end };
                }
                None if self.segment.tag == HEAP_DUMP => self.unwrap_length(),
                _ => return Err(Stop::Torn),
            }
        }
        Ok(())
    }
}
