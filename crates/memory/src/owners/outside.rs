//! Who holds Java objects from outside the heap: stacks of threads, and references of native code.

use super::roots::JDK_LIBRARIES;
use super::rules::JNI_REFERENCES;
use super::search::Search;
use super::table::Owners;
use crate::entry_table::{EntryKey, EntryTable};
use crate::jvm::Jvm;
use crate::stacks::{stack_in_use, without_numbers};
use crate::windows::{WindowBuffer, windows};
use assay_allocators::{BlockState, Blocks};
use assay_hotspot::ReferencePlaces;
use assay_linux::MemorySource;
use assay_model::{Area, ThreadKind};
use std::ops::Range;

/// The holder of objects to which native code has references (`NewGlobalRef`).
const OF_NATIVE_CODE: &str = "JNI references";

/// An object that is held from outside the heap.
pub(super) struct HeldFromOutside {
    /// The place of the object.
    pub(super) place: u64,
    pub(super) holder: String,
    /// Stacks also have what calls have left behind; references of native code are what they are.
    pub(super) is_sure: bool,
}

/// The objects that stacks and references of native code lead to, of those whose places are wanted.
pub(super) fn held_from_outside(
    search: &Search<'_>,
    jvm: &Jvm<'_>,
    entries: &EntryTable,
    (reference_bytes, places): (u64, &ReferencePlaces<'_>),
    is_wanted: impl Fn(u64) -> bool,
) -> Vec<HeldFromOutside> {
    let mut found = Vec::new();
    let mut note = |word: u64, is_narrow: bool, holder: &str, is_sure: bool| {
        let as_address = if is_narrow { None } else { places.of_object(word) };
        for place in
            [as_address, places.of_word(word)].into_iter().flatten().filter(|place| is_wanted(*place))
        {
            found.push(HeldFromOutside { place, holder: holder.to_owned(), is_sure });
        }
    };
    for block in jni_reference_blocks(search.index.blocks(), &search.owners, entries) {
        words_of(search.source, block, |word| note(word, false, OF_NATIVE_CODE, true));
    }
    for thread in jvm.threads.iter().filter(|thread| thread.kind == ThreadKind::Java) {
        let Some(stack) = stack_in_use(search.source, thread) else { continue };
        // JDK 8 names no thread here: the kernel does.
        let of_kernel = search.source.threads().iter().find(|facts| facts.tid_inside == thread.tid_inside);
        let name = thread.name.as_deref().or(of_kernel.map(|facts| facts.name.as_str()));
        let holder = format!("stack of thread {}", without_numbers(name.unwrap_or("without a name")));
        words_of(search.source, stack, |word| {
            note(word, false, &holder, false);
            // Compiled code keeps narrow references, two in a word.
            if reference_bytes == 4 {
                note(word & u64::from(u32::MAX), true, &holder, false);
                note(word >> 32, true, &holder, false);
            }
        });
    }
    found
}

/// What the owners of malloc's blocks say about references into the Java heap.
#[derive(Debug, Default)]
pub(crate) struct NativeRoots {
    /// Blocks with the references of native code.
    pub(crate) references: Vec<Range<u64>>,
    /// Blocks without references, whatever lies in them: freed ones, and those of libraries and of Java objects. A stream of zlib knows
    /// where an array ends, which is where the next object begins.
    pub(crate) without: Vec<Range<u64>>,
}

/// Neighbours with no more than this between them, headers of blocks, are one range.
const BETWEEN_BYTES_MAX: u64 = 32;

/// Sorts the blocks of malloc by what a mark of the Java heap may take from them.
pub(crate) fn native_roots(blocks: &Blocks, owners: &Owners, entries: &EntryTable) -> NativeRoots {
    let has_none = |key: &EntryKey| {
        matches!(key.area, Area::Buffers | Area::NativeLibraries)
            || key.below.first().is_some_and(|part| part == JDK_LIBRARIES)
    };
    let is_without: Vec<bool> = entries.keys().iter().map(has_none).collect();
    let mut without: Vec<Range<u64>> = Vec::new();
    for (block, number) in blocks.iter().zip(0..) {
        let owner = owners.get(number).and_then(|owner| is_without.get(owner.index()));
        if block.state == BlockState::Used && owner != Some(&true) {
            continue;
        }
        let addresses = block.addresses();
        match without.last_mut() {
            Some(last) if addresses.start <= last.end.saturating_add(BETWEEN_BYTES_MAX) => {
                last.end = last.end.max(addresses.end);
            }
            _ => without.push(addresses),
        }
    }
    NativeRoots { references: jni_reference_blocks(blocks, owners, entries), without }
}

/// The blocks of malloc with the references of native code to Java objects.
fn jni_reference_blocks(blocks: &Blocks, owners: &Owners, entries: &EntryTable) -> Vec<Range<u64>> {
    let (area, name) = JNI_REFERENCES;
    let is_of_jni: Vec<bool> =
        entries.keys().iter().map(|key| key.area == area && key.below == [name]).collect();
    if !is_of_jni.contains(&true) {
        return Vec::new();
    }
    let of_jni = blocks.iter().zip(0..).filter(|(_, number)| {
        owners.get(*number).is_some_and(|owner| is_of_jni.get(owner.index()) == Some(&true))
    });
    of_jni.map(|(block, _)| block.addresses()).collect()
}

/// Calls `each` with the aligned words of a range that are resident.
fn words_of(source: &dyn MemorySource, range: Range<u64>, mut each: impl FnMut(u64)) {
    let mut buffer = WindowBuffer::default();
    for window in source.readable_pages().resident_in(range).flat_map(windows) {
        if let Some(bytes) = buffer.read(source, &window) {
            let (words, _) = bytes.as_chunks::<8>();
            words.iter().map(|word| u64::from_le_bytes(*word)).filter(|word| *word != 0).for_each(&mut each);
        }
    }
}
