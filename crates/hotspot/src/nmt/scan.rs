//! Finding tracked blocks by their headers, with no knowledge of the allocator.

use super::header::{FOOTER, NmtHeader};
use super::{HeaderForm, Nmt};
use assay_linux::MemorySource;
use std::ops::Range;

/// Bytes that are read at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// What a scan covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scanned {
    /// Resident bytes that were looked at.
    pub bytes: u64,
    /// Resident bytes that could not be read: the process changed its mappings since.
    pub unreadable_bytes: u64,
    /// Headers that were refused because no footer follows.
    pub refused: u64,
}

impl Nmt {
    /// Calls `use_block` with the payload's address and the header of each tracked block in the resident part of a
    /// range, in the order of their addresses. `None`: this JVM's headers have no canary, or nothing is tracked.
    ///
    /// A block's payload is skipped: blocks do not nest, and a payload may hold headers of blocks that
    /// were there before. Blocks are aligned to 16 bytes, on 32-bit JVMs to 8 (glibc, jemalloc and tcmalloc alike: none
    /// of them is smaller than its header).
    pub fn scan(
        &self,
        source: &dyn MemorySource,
        range: Range<u64>,
        mut use_block: impl FnMut(u64, NmtHeader),
    ) -> Option<Scanned> {
        if !self.is_tracking() || !self.form.has_canary() {
            return None;
        }
        let step = if self.form == HeaderForm::Canary64 { 16 } else { 8 };
        let mut scanned = Scanned::default();
        let mut buffer = vec![0; (PIECE_BYTES + HEADER_BYTES) as usize];
        // Nothing before this address is looked at: it belongs to the block that was found last.
        let mut from = range.start.checked_next_multiple_of(step)?;
        for part in source.pages().resident_in(range) {
            let mut at = part.start.checked_next_multiple_of(step)?;
            while at < part.end {
                let bytes = (part.end - at).min(PIECE_BYTES);
                // A header may begin in this piece and end in the next one, where steps are smaller than headers.
                let with_next = (part.end - at).min(bytes + HEADER_BYTES - step);
                let piece = &mut buffer[..with_next as usize];
                if source.read(at, piece).is_ok() {
                    scanned.bytes += bytes;
                    from = from.max(at);
                    let piece = MemoryPiece { at, end: at + bytes, bytes: piece };
                    from = self.scan_piece(source, &piece, from, step, &mut scanned, &mut use_block);
                } else {
                    scanned.unreadable_bytes += bytes;
                }
                at += bytes;
            }
        }
        Some(scanned)
    }

    /// Scans one piece, and returns where the next one begins.
    fn scan_piece(
        &self,
        source: &dyn MemorySource,
        piece: &MemoryPiece<'_>,
        mut from: u64,
        step: u64,
        scanned: &mut Scanned,
        use_block: &mut impl FnMut(u64, NmtHeader),
    ) -> u64 {
        while from < piece.end {
            let Some(here) = piece.bytes.get((from - piece.at) as usize..) else { break };
            let Some(header) = self.header_in(here) else {
                from += step;
                continue;
            };
            let payload = from.saturating_add(HEADER_BYTES);
            let payload_end = payload.saturating_add(header.asked_bytes);
            if piece.footer_at(source, payload_end) == Some(FOOTER) {
                use_block(payload, header);
                let end = payload_end.saturating_add(FOOTER.len() as u64);
                from = end.checked_next_multiple_of(step).unwrap_or(u64::MAX);
            } else {
                scanned.refused += 1;
                from += step;
            }
        }
        from
    }
}

/// Bytes of a header with a canary.
const HEADER_BYTES: u64 = 16;

/// A part of the memory that was read.
struct MemoryPiece<'a> {
    at: u64,
    end: u64,
    /// From `at` on; a little more than up to `end`.
    bytes: &'a [u8],
}

impl MemoryPiece<'_> {
    fn footer_at(&self, source: &dyn MemorySource, address: u64) -> Option<[u8; 2]> {
        let offset = usize::try_from(address.checked_sub(self.at)?).ok()?;
        if let Some(footer) = self.bytes.get(offset..).and_then(|rest| rest.first_chunk()) {
            return Some(*footer);
        }
        let mut footer = [0; 2];
        source.read(address, &mut footer).ok()?;
        Some(footer)
    }
}
