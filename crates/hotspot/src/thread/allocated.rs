//! What Java threads have allocated in the Java heap, as the JVM counts it.
//!
//! A thread adds up what it used of each TLAB when it gives that back, and what it allocated outside of any at once; of its current TLAB it
//! has used what lies before its top (`Thread::cooked_allocated_bytes`). What threads had allocated that have ended since is in a private
//! variable from JDK 18 on (`ThreadService::_exited_allocated_bytes`).

use super::{ListRead, ThreadReader};
use crate::Hotspot;
use std::collections::BTreeMap;

/// The variable for threads that have ended.
const EXITED: &str = "_ZN13ThreadService23_exited_allocated_bytesE";
/// How often a thread is read that is just giving a TLAB back.
const READS_MAX: u32 = 8;
/// A TLAB is part of a region or of eden.
const TLAB_BYTES_MAX: u64 = 1 << 32;

/// What the Java threads of a JVM have allocated since they started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllocatedBytes {
    /// By the address of the JVM's `Thread` object and the thread's id inside: an address is used again.
    pub by_thread: BTreeMap<(u64, u32), u64>,
    /// By threads that have ended; absent where the JVM does not count it, or no symbol leads to it.
    pub exited: Option<u64>,
}

impl Hotspot<'_> {
    /// What each Java thread has allocated up to now. `None`: the JVM does not export it, is a 32-bit one, or was just starting or ending a
    /// thread whenever it was looked at.
    pub fn allocated_bytes(&self) -> Option<AllocatedBytes> {
        let source = self.source();
        if source.word_bytes() != 8 {
            return None;
        }
        let of_thread = |field| self.offset(&[("Thread", field), ("JavaThread", field)]);
        let of_tlab = |field| self.offset(&[("ThreadLocalAllocBuffer", field)]);
        let (bytes, tlab) = (of_thread("_allocated_bytes")?, of_thread("_tlab")?);
        let places = [bytes, tlab + of_tlab("_start")?, tlab + of_tlab("_top")?];
        let listed = ThreadReader::without_names(self).java_thread_list()?;
        if listed.read != ListRead::Whole {
            return None;
        }
        let by_thread = listed.addresses.into_iter().filter_map(|thread| {
            let os_thread = self.pointer(thread, &[("Thread", "_osthread"), ("JavaThread", "_osthread")])?;
            let tid = source.u32(self.place(os_thread, &[("OSThread", "_thread_id")])?)?;
            Some(((thread, tid), self.allocated_by(thread, places)?))
        });
        let by_thread = by_thread.collect();
        let exited = self.symbols().address(EXITED).and_then(|place| source.word_anew(place));
        Some(AllocatedBytes { by_thread, exited })
    }

    fn allocated_by(&self, thread: u64, [bytes, start, top]: [u64; 3]) -> Option<u64> {
        let of = |place: u64| self.source().word_anew(thread.checked_add(place)?);
        for _ in 0..READS_MAX {
            let before = of(bytes)?;
            let used = of(top)?.checked_sub(of(start)?).filter(|used| *used < TLAB_BYTES_MAX);
            // Between the two readings of the sum no TLAB was given back, so that none is counted twice or not at all.
            if let (Some(used), true) = (used, of(bytes)? == before) {
                return before.checked_add(used);
            }
        }
        None
    }
}
