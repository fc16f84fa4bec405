//! Threads that are on no list of a libjvm without symbols: the VM's, collectors'.
//!
//! Each thread of the JVM keeps the address of its `Thread` object among its thread-local values (`pthread_setspecific`), which the C
//! library has in the thread's control block. An object that leads to the kernel's thread, and has the stack on which the block lies, is
//! that of the thread.

use super::{JvmThread, KERNEL_NAMES_OF_VM, ThreadReader, is_shortened};
use crate::Hotspot;
use assay_model::ThreadKind;
use std::ops::Range;

/// glibc keeps the first thread-local values within so many bytes of the control block.
const CONTROL_BLOCK_BYTES: u64 = 0x980;

impl Hotspot<'_> {
    /// The JVM's threads on these stacks, by the C library's control blocks on them. `None`: a thread of somebody else's.
    pub fn threads_on(&self, stacks: &[(u64, Range<u64>)]) -> Vec<Option<JvmThread>> {
        let reader = ThreadReader::without_names(self);
        stacks.iter().map(|(control_block, stack)| reader.thread_on(*control_block, stack)).collect()
    }
}

impl ThreadReader<'_, '_> {
    fn thread_on(&self, control_block: u64, stack: &Range<u64>) -> Option<JvmThread> {
        let source = self.hotspot.source();
        let end = control_block.checked_add(CONTROL_BLOCK_BYTES)?.min(stack.end);
        let resident = source.pages().resident_in(control_block..end).next()?;
        let mut bytes = vec![0; usize::try_from(resident.end - resident.start).ok()?];
        source.read(resident.start, &mut bytes).ok()?;
        let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let word_bytes = source.word_bytes();
        let words = bytes.chunks_exact(word_bytes as usize).map(word);
        let objects = words.filter(|word| *word != 0 && word.is_multiple_of(word_bytes));
        let on_it = |thread: &JvmThread| {
            thread.stack.as_ref().is_some_and(|own| stack.start <= own.start && own.end <= stack.end)
        };
        let mut thread = objects.filter_map(|address| self.thread(address)).find(on_it)?;
        let kernel_name = *self.kernel_names.get(&thread.tid_inside)?;
        thread.kind = match kernel_name {
            // It was given no name yet.
            name if Some(name) == self.process_name => ThreadKind::Other,
            name if KERNEL_NAMES_OF_VM.iter().any(|own| is_shortened(name, own)) => ThreadKind::Vm,
            // Of the JVM's threads that are in no Java list all others are the collector's.
            _ => ThreadKind::Gc,
        };
        Some(thread)
    }
}
