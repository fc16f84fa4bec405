//! One snapshot of a process: every mapping's resident bytes, added up by area.

use crate::layout::Layout;
use assay_linux::{FreezeError, LinuxError, Mapping, ProcRoot};
use assay_model::{Area, AreaBytes, HeapRange, MemorySample};
use std::collections::BTreeMap;
use std::ops::Range;

/// A mapping that reaches over an end of the Java heap is split by its page map; beyond this many bytes outside the
/// heap (a page map of 128 MB) it is not.
const SPLIT_BYTES_MAX: u64 = 64 << 30;

/// Why a process's memory could not be sampled.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The kernel did not give its mappings.
    #[error(transparent)]
    Linux(#[from] LinuxError),
    /// It could not be stopped as asked.
    #[error(transparent)]
    Freeze(#[from] FreezeError),
    /// The process has no memory: it has ended, or is a kernel thread.
    #[error("process {pid} has no mappings: it has ended, or is a thread of the kernel")]
    NoMappings {
        /// The process.
        pid: u32,
    },
}

/// Looks at the mappings of a process and adds their resident bytes up by area. `heap` is the range that the JVM's log
/// names (`-Xlog:pagesize=info` prints it once, in every reference mode; `gc+heap+coops=debug` only where references are
/// compressed); without it the Java heap is not located and is in `NativeAnonymous`.
///
/// Cost: CPU time in the caller, nearly all of it the kernel's walk over the page tables. Measured
/// (`examples/sample_cost.rs`, JDK 17 and 25): 3 to 4 ms for 250 mappings with 160 MB resident, 10 ms with 0.6 GB,
/// 20 ms with 2.1 GB. While the kernel walks a mapping, a thread of the target that maps, unmaps or protects memory
/// waits: at most for the largest mapping, some 8 ms per resident GB. Page faults do not wait. A sample a second is
/// harmless; a hundred are not.
///
/// A mapping inside the heap range is Java heap, even if it maps a file: with G1 the JVM maps archived objects into the
/// heap. Where the kernel has merged the heap's memory with what lies beside it, `smaps` gives one figure for both; the
/// page map then says how much of it lies outside. Pages of zeros count there but not in `Rss`, so the heap's share may
/// come out too small by those outside it, never too large by anything else. If the page map cannot be read, the whole
/// mapping is `NativeAnonymous`.
///
/// # Errors
/// When the mappings cannot be read: the process is gone or belongs to somebody else.
pub fn sample(
    proc: &ProcRoot,
    pid: u32,
    heap: Option<HeapRange>,
    monotonic_ns: u64,
) -> Result<MemorySample, MemoryError> {
    let mappings = proc.open_smaps(pid)?.collect::<Result<Vec<_>, _>>()?;
    if mappings.is_empty() {
        return Err(MemoryError::NoMappings { pid });
    }
    let heap = heap.map(|h| h.start_address..h.start_address.saturating_add(h.reserved_bytes));
    let read_words = |address, words: &mut [u64; 4], bits_32| read_words(proc, pid, address, words, bits_32);
    let layout = Layout::new(&mappings, &read_words);
    let mut areas = BTreeMap::new();
    let mut add = |area: Area, bytes: u64| *areas.entry(area).or_insert(0) += bytes;
    for (i, mapping) in mappings.iter().enumerate() {
        let outside_heap = || layout.area_of(i);
        match heap.as_ref().map_or(Overlap::None, |heap| overlap(mapping, heap)) {
            Overlap::None => add(outside_heap(), mapping.rss_bytes),
            Overlap::Whole => add(Area::JavaHeap, mapping.rss_bytes),
            Overlap::Part { outside } => {
                let bytes_outside = resident_outside(proc, pid, mapping, &outside);
                add(Area::JavaHeap, mapping.rss_bytes - bytes_outside);
                add(outside_heap(), bytes_outside);
            }
        }
    }
    let sum = |of: fn(&Mapping) -> Option<u64>| mappings.iter().map(of).sum::<Option<u64>>();
    Ok(MemorySample {
        monotonic_ns,
        rss_bytes: mappings.iter().map(|m| m.rss_bytes).sum(),
        pss_bytes: sum(|m| m.pss_bytes),
        swap_bytes: sum(|m| m.swap_bytes),
        areas: areas.into_iter().map(|(area, resident_bytes)| AreaBytes { area, resident_bytes }).collect(),
    })
}

/// How a mapping lies to the Java heap.
enum Overlap {
    None,
    Whole,
    Part { outside: Vec<Range<u64>> },
}

fn overlap(mapping: &Mapping, heap: &Range<u64>) -> Overlap {
    let Range { start, end } = mapping.addresses;
    if end <= heap.start || heap.end <= start {
        return Overlap::None;
    }
    let outside: Vec<_> =
        [start..heap.start, heap.end..end].into_iter().filter(|range| range.start < range.end).collect();
    if outside.is_empty() { Overlap::Whole } else { Overlap::Part { outside } }
}

/// Resident bytes of a mapping that lie in these parts of it; all of them if that is unknown.
fn resident_outside(proc: &ProcRoot, pid: u32, mapping: &Mapping, parts: &[Range<u64>]) -> u64 {
    let size: u64 = parts.iter().map(|part| part.end - part.start).sum();
    if SPLIT_BYTES_MAX < size {
        return mapping.rss_bytes;
    }
    let present = parts.iter().map(|part| proc.read_present_bytes(pid, part.clone()));
    let present = present.sum::<Result<u64, _>>().unwrap_or(mapping.rss_bytes);
    present.min(mapping.rss_bytes)
}

/// Four words of the process's memory, for the layout's one question to it. The page is resident when it is asked for,
/// so that reading it changes nothing.
pub(crate) fn read_words(
    proc: &ProcRoot,
    pid: u32,
    address: u64,
    words: &mut [u64; 4],
    bits_32: bool,
) -> bool {
    let mut bytes = [0; 32];
    let bytes = &mut bytes[..if bits_32 { 16 } else { 32 }];
    if proc.read_memory(pid, address, bytes).is_err() {
        return false;
    }
    for (word, of_word) in words.iter_mut().zip(bytes.chunks(bytes.len() / 4)) {
        // Little endian: x86 and Arm.
        *word = of_word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    true
}
