//! The object that holds an allocator: where its variables lie, and what its constants say.

use assay_linux::{Mapping, MemorySource};
use object::{Object, ObjectSection, ObjectSegment, ReadCache, SegmentFlags, elf};
use std::fs::File;
use std::ops::Range;

/// Constants of one file; jemalloc and tcmalloc have 14 KiB.
const CONSTANTS_BYTES_MAX: u64 = 4 << 20;
/// Variables of one file; jemalloc and tcmalloc have 2 MiB, a large program 100.
const VARIABLES_BYTES_MAX: u64 = 1 << 30;

/// A library, or the program itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    /// Its writable memory, `.data` and `.bss`; whole words.
    pub variables: Range<u64>,
    /// Its constants, from the file; they have its version in them. Empty when the file has none, or too many.
    pub constants: Vec<u8>,
}

/// Reads the object that is first mapped here.
pub(crate) fn read(source: &dyn MemorySource, first: &Mapping) -> Option<Library> {
    let cache = ReadCache::new(source.open_mapped_file(first).ok()?);
    let file = object::File::<&ReadCache<File>>::parse(&cache).ok()?;
    let bias = bias(&file, first)?;
    let writable = file.segments().filter(|segment| is_writable(segment.flags())).last()?;
    if VARIABLES_BYTES_MAX < writable.size() {
        return None;
    }
    let start = bias.checked_add(writable.address())?;
    let variables = start.next_multiple_of(8)..start.checked_add(writable.size())? & !7;
    let constants = file.section_by_name(".rodata").filter(|section| section.size() <= CONSTANTS_BYTES_MAX);
    let constants = constants.and_then(|section| section.data().ok()).unwrap_or_default().to_owned();
    Some(Library { variables, constants })
}

/// By how much a process has moved the addresses of a file.
pub(crate) fn bias<'a>(file: &object::File<'a, &'a ReadCache<File>>, first: &Mapping) -> Option<u64> {
    // Offset 0 of the file is mapped at the lowest segment.
    let lowest = file.segments().map(|segment| segment.address()).min()?;
    first.addresses.start.checked_sub(lowest & !0xfff)
}

fn is_writable(flags: SegmentFlags) -> bool {
    matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(elf::PF_W))
}
