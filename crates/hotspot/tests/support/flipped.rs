//! Memory that lies.

use assay_linux::{AlteredMemory, LiveProcess, MemorySource};
use assay_testkit::Damage;
use std::sync::atomic::{AtomicU64, Ordering};

/// A process that never reads the same: at each read one other word in so many is random, or near to what it was, or
/// another address of the process.
pub fn flipped(process: &LiveProcess, one_in: u64, seed: u64) -> impl MemorySource + '_ {
    let addresses: Vec<u64> = process.pages().runs().iter().map(|run| run.addresses.start).collect();
    let damage = Damage { addresses, ..Damage::new(seed << 32, one_in) };
    let reads = AtomicU64::new(0);
    AlteredMemory::new(process, move |address, buffer| {
        let read = reads.fetch_add(1, Ordering::Relaxed);
        damage.apply_anew(read, address, buffer);
    })
}

/// Puts a word into what was read at `address`, where it lies in it.
pub fn put(word: &[u8], at: u64, address: u64, bytes: &mut [u8]) {
    let begin = at.checked_sub(address).and_then(|begin| usize::try_from(begin).ok());
    if let Some(place) = begin.and_then(|begin| bytes.get_mut(begin..begin + word.len())) {
        place.copy_from_slice(word);
    }
}
