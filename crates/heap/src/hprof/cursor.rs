//! The bytes of a dump as they come: one thread reads (and unpacks) ahead into a few buffers, the other looks at them.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// So many bytes can be looked at in one piece, wherever buffers end. Names have up to 65,535.
pub(super) const PIECE_BYTES_MAX: usize = 1 << 16;
/// Small enough that what one thread has read is still in the cache when the other looks at it.
const BUFFER_BYTES: usize = 1 << 18;
const BUFFERS: usize = 4;

/// A buffer with what was read into it, from [`PIECE_BYTES_MAX`] on: the rest of the one before goes in front.
struct Filled {
    bytes: Vec<u8>,
    end: usize,
    failure: Option<io::Error>,
}

/// The buffers, before the two sides take them.
pub(super) struct Supply {
    full: (SyncSender<Filled>, Receiver<Filled>),
    empty: (Sender<Vec<u8>>, Receiver<Vec<u8>>),
}

impl Supply {
    pub(super) fn new() -> Supply {
        Supply { full: sync_channel(BUFFERS), empty: channel() }
    }

    /// The reading side, and the looking side at an offset of the dump.
    pub(super) fn split(self, offset: u64, told: &dyn Fn()) -> (Buffers, Cursor<'_>) {
        let first = vec![0; PIECE_BYTES_MAX];
        let base = offset.wrapping_sub(PIECE_BYTES_MAX as u64);
        let cursor = Cursor {
            full: self.full.1,
            empty: self.empty.0,
            bytes: first,
            at: PIECE_BYTES_MAX,
            end: PIECE_BYTES_MAX,
            base,
            failure: None,
            told,
        };
        (Buffers { full: self.full.0, empty: self.empty.1 }, cursor)
    }
}

/// The reading side.
pub(super) struct Buffers {
    full: SyncSender<Filled>,
    empty: Receiver<Vec<u8>>,
}

impl Buffers {
    /// Reads until the source ends or fails, or nobody looks any more.
    pub(super) fn fill_from(self, mut source: impl Read) {
        let mut made = 0;
        loop {
            let returned = if made < BUFFERS { self.empty.try_recv().ok() } else { self.empty.recv().ok() };
            let bytes = match returned {
                Some(bytes) if bytes.len() == PIECE_BYTES_MAX + BUFFER_BYTES => bytes,
                _ if made < BUFFERS => {
                    made += 1;
                    vec![0; PIECE_BYTES_MAX + BUFFER_BYTES]
                }
                // The cursor's first one, which has no room.
                Some(_) => continue,
                None => return,
            };
            let filled = fill(&mut source, bytes);
            let is_last = filled.end < PIECE_BYTES_MAX + BUFFER_BYTES;
            if self.full.send(filled).is_err() || is_last {
                return;
            }
        }
    }
}

fn fill(source: &mut impl Read, mut bytes: Vec<u8>) -> Filled {
    let mut end = PIECE_BYTES_MAX;
    while end < bytes.len() {
        match source.read(&mut bytes[end..]) {
            Ok(0) => break,
            Ok(read) => end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Filled { bytes, end, failure: Some(error) },
        }
    }
    Filled { bytes, end, failure: None }
}

/// The looking side: a place in the dump.
pub(super) struct Cursor<'a> {
    full: Receiver<Filled>,
    empty: Sender<Vec<u8>>,
    bytes: Vec<u8>,
    at: usize,
    end: usize,
    /// Offset in the dump of `bytes[0]`, modulo 2^64.
    base: u64,
    /// Why the source ended, when it did not simply end.
    pub(super) failure: Option<io::Error>,
    told: &'a dyn Fn(),
}

impl Cursor<'_> {
    /// Where it is, in bytes from the dump's start.
    pub(super) fn offset(&self) -> u64 {
        self.base.wrapping_add(self.at as u64)
    }

    /// What can be looked at from here on without reading.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..self.end]
    }

    /// Sees to it that the rest has `count` bytes (up to [`PIECE_BYTES_MAX`]); false when the dump has no more so many.
    pub(super) fn has(&mut self, count: usize) -> bool {
        while self.end - self.at < count {
            if !self.next_buffer() {
                return false;
            }
        }
        true
    }

    /// Goes over bytes of the rest.
    pub(super) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.end);
    }

    /// Goes over bytes; false when the dump ends before.
    pub(super) fn skip(&mut self, mut count: u64) -> bool {
        loop {
            let here = count.min((self.end - self.at) as u64);
            self.at += here as usize;
            count -= here;
            if count == 0 {
                return true;
            }
            if !self.next_buffer() {
                return false;
            }
        }
    }

    /// Looks at bytes, in pieces of multiples of 8; false when the dump ends before.
    pub(super) fn pieces(&mut self, mut count: u64, mut look: impl FnMut(&[u8])) -> bool {
        while count > 0 {
            let here = count.min(PIECE_BYTES_MAX as u64) as usize;
            if !self.has(here) {
                return false;
            }
            look(&self.rest()[..here]);
            self.advance(here);
            count -= here as u64;
        }
        true
    }

    /// The next buffer, with the rest of this one in front of it; false when there is none.
    fn next_buffer(&mut self) -> bool {
        let Ok(filled) = self.full.recv() else { return false };
        (self.told)();
        self.failure = filled.failure;
        let rest = self.end - self.at;
        let at = PIECE_BYTES_MAX - rest;
        let offset = self.offset();
        let before = std::mem::replace(&mut self.bytes, filled.bytes);
        self.bytes[at..PIECE_BYTES_MAX].copy_from_slice(&before[self.at..self.end]);
        (self.at, self.end) = (at, filled.end);
        self.base = offset.wrapping_sub(at as u64);
        // Nobody takes it once the source has ended.
        let _ = self.empty.send(before);
        true
    }
}
