//! Stacks of threads as the C library keeps them: also of threads that the JVM does not know, and of threads that have
//! ended, whose stacks wait for the next one.
//!
//! Folklore (glibc, x86-64): at the upper end of each stack that `pthread_create` made lies the thread's control block.
//! Its first and third word are its own address, and the start and size of the stack's block stand further on in it.
//! The control block is found by these properties alone, so that no version's offsets are needed.
//! Held by: `the_stacks_of_ended_threads_are_found_by_their_control_blocks`.

use crate::windows::{WindowBuffer, windows};
use assay_linux::{Mapping, MemorySource};
use std::ops::Range;

/// A stack begins where a mapping begins, behind its guard; memory without a guard that was mapped above it may be joined
/// with it, as much as there is of it. Stacks larger than this are known from the JVM, or not found.
const BEHIND_GUARD_BYTES_MAX: u64 = 64 << 20;
/// Heaps of glibc's arenas but the main one begin at multiples of this, with a pointer to their arena, which follows on such
/// a beginning (48 bytes at most). A stack begins behind its guard, and so never there.
const ARENA_HEAP_BYTES: u64 = 64 << 20;
const ARENA_OFFSET: Range<u64> = 1..49;
/// The first thread's control block and thread-local variables take a few pages.
const FIRST_THREAD_BYTES_MAX: u64 = 256 << 10;
/// Control blocks are aligned to this (`TLS_TCB_ALIGN` of x86-64).
const ALIGN_BYTES: u64 = 64;
/// Where in a control block the description of the stack may stand, in bytes.
const DESCRIPTION: Range<usize> = 0x200..0x980;
/// A control block ends at most this far below the end of its stack.
const BEHIND_BYTES_MAX: u64 = 0x3000;
/// Where glibc 2.17 to 2.42 keeps the thread's id. It only shows whether the thread lives.
const TID_OFFSET: u64 = 0x2d0;
const STACK_BYTES: Range<u64> = 16 << 10..4 << 30;

/// A stack that the C library allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PthreadStack {
    /// The block, guard included.
    pub(crate) addresses: Range<u64>,
    /// Where the C library's description of the thread lies.
    pub(crate) control_block: u64,
    /// Thread id inside the process's namespace; 0 or negative when it has ended.
    pub(crate) tid_inside: Option<u32>,
}

/// Stacks whose control blocks lie in a range.
pub(crate) fn stacks_in(source: &dyn MemorySource, range: &Range<u64>) -> Vec<PthreadStack> {
    let (mut stacks, mut buffer) = (Vec::new(), WindowBuffer::default());
    if source.word_bytes() != 8 {
        return stacks;
    }
    let parts = starts_of_mappings(source, range).filter(|(mapping, _)| !is_malloc_heap(source, mapping));
    let parts = parts.flat_map(|(_, part)| source.pages().resident_in(part));
    for window in parts.flat_map(windows) {
        let Some(bytes) = buffer.read(source, &window) else { continue };
        stacks.extend(control_blocks(bytes, window.start).filter_map(|at| stack_of(source, at)));
    }
    stacks
}

/// The parts of a range that lie near the start of a mapping, each with the mapping.
fn starts_of_mappings<'a>(
    source: &'a dyn MemorySource,
    range: &Range<u64>,
) -> impl Iterator<Item = (&'a Mapping, Range<u64>)> {
    let Range { start, end } = *range;
    let mappings = source.mappings();
    let first = mappings.partition_point(|m| m.addresses.end <= start);
    let within = mappings[first..].iter().take_while(move |m| m.addresses.start < end);
    within.filter_map(move |m| {
        let near_end = m.addresses.end.min(m.addresses.start.saturating_add(BEHIND_GUARD_BYTES_MAX));
        let part = m.addresses.start.max(start)..near_end.min(end);
        (part.start < part.end).then_some((m, part))
    })
}

/// Whether a mapping begins with a heap of glibc's malloc, which is read often enough.
fn is_malloc_heap(source: &dyn MemorySource, mapping: &Mapping) -> bool {
    let start = mapping.addresses.start;
    let arena = || source.u64(start).map(|arena| arena % ARENA_HEAP_BYTES);
    let is_arena = || arena().is_some_and(|offset| ARENA_OFFSET.contains(&offset));
    mapping.name == "[heap]" || (start.is_multiple_of(ARENA_HEAP_BYTES) && is_arena())
}

/// Whether the control block of the first thread lies in a range: the loader maps it, and it describes no stack.
pub(crate) fn holds_first_thread(source: &dyn MemorySource, range: &Range<u64>) -> bool {
    let bytes = range.end - range.start;
    let is_near = || starts_of_mappings(source, range).next().is_some();
    if source.word_bytes() != 8 || FIRST_THREAD_BYTES_MAX < bytes || !is_near() {
        return false;
    }
    source.pages().resident_in(range.clone()).any(|part| {
        let mut window = vec![0; (part.end - part.start) as usize];
        source.read(part.start, &mut window).is_ok() && control_blocks(&window, part.start).next().is_some()
    })
}

/// Addresses in a window whose first word and third word are the address itself.
fn control_blocks(window: &[u8], start: u64) -> impl Iterator<Item = u64> + '_ {
    let word =
        |at: usize| window.get(at..at + 8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default()));
    let first = start.next_multiple_of(ALIGN_BYTES) - start;
    (first as usize..window.len().saturating_sub(24)).step_by(ALIGN_BYTES as usize).filter_map(move |at| {
        let address = start + at as u64;
        (word(at)? == address && word(at + 16)? == address).then_some(address)
    })
}

fn stack_of(source: &dyn MemorySource, control_block: u64) -> Option<PthreadStack> {
    let start = control_block.checked_add(DESCRIPTION.start as u64)?;
    // The control block ends the stack, and behind it may lie the guard of the next one, which is never resident.
    let there = source.pages().resident_in(start..start.checked_add(DESCRIPTION.len() as u64)?).next()?;
    let mut bytes = [0; DESCRIPTION.end - DESCRIPTION.start];
    let bytes = &mut bytes[..(there.end - start) as usize];
    source.read(start, bytes).ok()?;
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
    let addresses = words.windows(2).find_map(|pair| block(control_block, pair[0], pair[1]))?;
    let tid_inside = source.u32(control_block + TID_OFFSET).filter(|tid| tid.cast_signed() > 0);
    Some(PthreadStack { addresses, control_block, tid_inside })
}

fn block(control_block: u64, start: u64, bytes: u64) -> Option<Range<u64>> {
    let end = start.checked_add(bytes)?;
    let whole_pages = start.is_multiple_of(4096) && bytes.is_multiple_of(4096);
    let holds = start < control_block && control_block < end && end - control_block <= BEHIND_BYTES_MAX;
    (whole_pages && holds && STACK_BYTES.contains(&bytes)).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_linux::{LiveProcess, ProcRoot};
    use std::sync::mpsc::channel;
    use std::thread::Builder;

    fn address_on_this_stack() -> u64 {
        let here = 0_u8;
        (&raw const here) as u64
    }

    #[test]
    fn the_stacks_of_ended_threads_are_found_by_their_control_blocks() {
        // Larger by far than those of other tests: glibc gives none of them a stack of more than four times the size.
        let large = || Builder::new().stack_size(16 << 20);
        let ended = large().spawn(address_on_this_stack).expect("a thread").join().expect("no panic");
        let ((to_us, from_it), (end, until)) = (channel(), channel::<()>());
        let running = Builder::new().spawn(move || {
            to_us.send(address_on_this_stack()).expect("a reader");
            let _ = until.recv();
        });
        let alive = from_it.recv().expect("it runs");
        let source = LiveProcess::open(&ProcRoot::default(), std::process::id()).expect("this process");
        let found = stacks_in(&source, &(0..u64::MAX));
        drop(end);
        running.expect("a thread").join().expect("no panic");
        let of = |address| found.iter().find(|stack| stack.addresses.contains(&address)).expect("a stack");
        assert_eq!(of(ended).tid_inside, None, "{found:x?}");
        let tid = of(alive).tid_inside.expect("it runs");
        assert!(source.threads().iter().any(|thread| thread.tid_inside == tid), "{tid}");
    }
}
