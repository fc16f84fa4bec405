//! Memory of a process, copied in one go: a search of several seconds still works on memory of one moment, and a process
//! that is stopped for it goes on as soon as the copy is there.
//!
//! Copying takes 0.2 ms for a MiB on one processor, which is the kernel's look at every page; so several threads copy, and
//! pages that lie scattered are asked for many at a time.

use crate::{BeforeMemory, LiveProcess, MemorySource, ReadError, monotonic_ns, thread_cpu_ns};
use memmap2::MmapMut;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes and runs of pages that one call copies; the kernel takes up to 1024 runs.
const BATCH_BYTES: u64 = 4 << 20;
const BATCH_RUNS: usize = 1024;
/// More threads than this gain nothing: the memory is the limit.
const THREADS_MAX: usize = 4;

/// Room for a copy. What is expected to be filled is resident as soon as the room is made, so that the copy does not wait for the kernel to
/// find pages. The rest takes no memory unless it is needed.
#[derive(Debug, Default)]
pub struct CopyRoom(Option<MmapMut>);

/// The smallest page of any machine.
const PAGE_BYTES_MIN: usize = 4096;

impl CopyRoom {
    /// Room for so many bytes; none where the memory for it cannot be had.
    pub fn of(bytes: u64, expected_bytes: u64) -> CopyRoom {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes != 0);
        let mut room = CopyRoom(bytes.and_then(|bytes| MmapMut::map_anon(bytes).ok()));
        let expected = usize::try_from(expected_bytes).unwrap_or(usize::MAX);
        for page in room.bytes_mut().chunks_mut(PAGE_BYTES_MIN).take(expected.div_ceil(PAGE_BYTES_MIN)) {
            // The first write of a page makes it resident.
            page[0] = 1;
        }
        room
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

/// A live process of which some memory was copied. The rest is read on demand.
#[derive(Debug)]
pub struct CopiedMemory {
    source: LiveProcess,
    /// In the order of their addresses.
    extents: Vec<Extent>,
    room: CopyRoom,
    copied_bytes: u64,
    left_out_bytes: u64,
    copying_ns: u64,
    helpers_cpu_ns: u64,
}

/// Addresses whose bytes lie one behind the other in the copy, from `at` on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Extent {
    addresses: Range<u64>,
    at: usize,
}

/// Runs of resident pages, and where they go: to `at` in the copy and behind.
struct Batch<'b> {
    runs: Vec<Range<u64>>,
    at: usize,
    bytes: &'b mut [u8],
}

impl CopiedMemory {
    /// Copies the resident pages of ranges, which are in the order of their addresses and apart, as far as there is room.
    pub fn copy(source: LiveProcess, ranges: &[Range<u64>], mut room: CopyRoom) -> CopiedMemory {
        let (began_ns, cpu_began_ns) = (monotonic_ns(), thread_cpu_ns());
        let (batches, left_out_bytes) = cut(&source, ranges, room.bytes().len() as u64);
        let batches = with_room(batches, room.bytes_mut());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = threads.min(THREADS_MAX).min(batches.len()).saturating_sub(1);
        let queue = Mutex::new(batches.into_iter());
        let (extents, cpu_ns) = std::thread::scope(|scope| {
            let helpers: Vec<_> =
                (0..helpers).map(|_| scope.spawn(|| copy_batches(&source, &queue))).collect();
            let mut all = copy_batches(&source, &queue);
            for (extents, cpu_ns) in helpers.into_iter().filter_map(|helper| helper.join().ok()) {
                all.0.extend(extents);
                all.1 += cpu_ns;
            }
            all
        });
        let extents = joined(extents);
        CopiedMemory {
            copied_bytes: extents.iter().map(|extent| extent.addresses.end - extent.addresses.start).sum(),
            source,
            extents,
            room,
            left_out_bytes,
            copying_ns: monotonic_ns().saturating_sub(began_ns),
            helpers_cpu_ns: cpu_ns.saturating_sub(thread_cpu_ns().saturating_sub(cpu_began_ns)),
        }
    }

    /// The process.
    pub fn process(&self) -> &LiveProcess {
        &self.source
    }

    /// Whether all of a range was copied.
    pub fn holds(&self, addresses: &Range<u64>) -> bool {
        self.place_of(addresses).is_some()
    }

    /// Where a range begins in the copy.
    fn place_of(&self, addresses: &Range<u64>) -> Option<usize> {
        let next = self.extents.partition_point(|extent| extent.addresses.end <= addresses.start);
        let extent = self.extents.get(next).filter(|extent| addresses.end <= extent.addresses.end)?;
        Some(extent.at + addresses.start.checked_sub(extent.addresses.start)? as usize)
    }

    /// Bytes that were copied.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// Resident bytes of the ranges for which there was no room.
    pub fn left_out_bytes(&self) -> u64 {
        self.left_out_bytes
    }

    /// How long it took.
    pub fn copying_ns(&self) -> u64 {
        self.copying_ns
    }

    /// CPU time of other threads than the one that asked for the copy.
    pub fn helpers_cpu_ns(&self) -> u64 {
        self.helpers_cpu_ns
    }
}

/// Cuts the pages of ranges into batches of at most `room_bytes` in all; gives the bytes that found no room, too.
fn cut(source: &LiveProcess, ranges: &[Range<u64>], room_bytes: u64) -> (Vec<Vec<Range<u64>>>, u64) {
    let (mut batches, mut runs, mut bytes) = (Vec::new(), Vec::new(), 0);
    let (mut room_bytes, mut left_out_bytes) = (room_bytes, 0);
    for part in ranges.iter().flat_map(|range| source.readable_pages().resident_in(range.clone())) {
        let mut start = part.start;
        while start < part.end {
            let end = part.end.min(start + (BATCH_BYTES - bytes).min(room_bytes));
            if start == end {
                left_out_bytes += part.end - start;
                break;
            }
            runs.push(start..end);
            bytes += end - start;
            room_bytes -= end - start;
            if bytes == BATCH_BYTES || runs.len() == BATCH_RUNS {
                batches.push(std::mem::take(&mut runs));
                bytes = 0;
            }
            start = end;
        }
    }
    batches.extend((!runs.is_empty()).then_some(runs));
    (batches, left_out_bytes)
}

fn bytes_of(run: &Range<u64>) -> usize {
    (run.end - run.start) as usize
}

/// Gives each batch its part of the room.
fn with_room(batches: Vec<Vec<Range<u64>>>, mut room: &mut [u8]) -> Vec<Batch<'_>> {
    let mut at = 0;
    let with_part = |runs: Vec<Range<u64>>| {
        let (bytes, rest) = std::mem::take(&mut room).split_at_mut(runs.iter().map(bytes_of).sum());
        room = rest;
        let batch = Batch { runs, at, bytes };
        at += batch.bytes.len();
        batch
    };
    batches.into_iter().map(with_part).collect()
}

/// Copies batches until there are none left; gives what was copied, and the CPU time of this thread.
fn copy_batches<'b>(
    source: &LiveProcess,
    queue: &Mutex<impl Iterator<Item = Batch<'b>>>,
) -> (Vec<Extent>, u64) {
    let began_ns = thread_cpu_ns();
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut extents = Vec::new();
    while let Some(Batch { runs, at, bytes }) = next() {
        let is_whole = source.read_runs(&runs, bytes);
        let (mut at, mut rest) = (at, bytes);
        for run in runs {
            let (own, behind) = rest.split_at_mut(bytes_of(&run));
            let next_at = at + own.len();
            if is_whole || source.read(run.start, own).is_ok() {
                extents.push(Extent { addresses: run, at });
            } else {
                copy_pages(source, &run, at, own, &mut extents);
            }
            (at, rest) = (next_at, behind);
        }
    }
    (extents, thread_cpu_ns().saturating_sub(began_ns))
}

/// Copies a run of which the process gave pages back meanwhile.
fn copy_pages(
    source: &LiveProcess,
    run: &Range<u64>,
    at: usize,
    bytes: &mut [u8],
    extents: &mut Vec<Extent>,
) {
    let page_bytes = source.pages().page_bytes();
    for (i, page) in bytes.chunks_mut(page_bytes as usize).enumerate() {
        let start = run.start + i as u64 * page_bytes;
        if source.read(start, page).is_ok() {
            let addresses = start..start + page.len() as u64;
            extents.push(Extent { addresses, at: at + i * page_bytes as usize });
        }
    }
}

/// Merges ranges that are adjacent both in the process and in the copy.
fn joined(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable_by_key(|extent| extent.addresses.start);
    extents.dedup_by(|next, last| {
        let follows =
            last.addresses.end == next.addresses.start && last.at + bytes_of(&last.addresses) == next.at;
        if follows {
            last.addresses.end = next.addresses.end;
        }
        follows
    });
    extents
}

impl BeforeMemory for CopiedMemory {
    fn behind(&self) -> &dyn MemorySource {
        &self.source
    }

    fn is_of_one_moment_before(&self, addresses: &Range<u64>) -> bool {
        self.readable_pages().resident_in(addresses.clone()).all(|part| self.holds(&part))
    }

    fn read_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let end = address.checked_add(buffer.len() as u64).ok_or(ReadError::Unmapped)?;
        match self.place_of(&(address..end)) {
            Some(at) => {
                buffer.copy_from_slice(&self.room.bytes()[at..at + buffer.len()]);
                Ok(())
            }
            None => self.source.read(address, buffer),
        }
    }
}
