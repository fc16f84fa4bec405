//! Which area a mapping belongs to, inferred from the layout of the address space.
//!
//! Each rule is folklore about the program that made the mapping. A rule is used only where it cannot well be wrong;
//! what no rule claims is [`Area::NativeAnonymous`].

use assay_linux::Mapping;
use assay_model::Area;
use std::collections::BTreeMap;
use std::ops::Range;

/// glibc aligns the heaps of its secondary arenas to `HEAP_MAX_SIZE`, 64 MiB with 64-bit and 1 MiB with 32-bit
/// pointers, and reserves that much: a readable part in front, an inaccessible rest behind (`malloc/arena.c`).
const ARENA_BYTES_64: u64 = 64 << 20;
const ARENA_BYTES_32: u64 = 1 << 20;
/// Addresses of a 32-bit process end here.
const ADDRESSES_32_END: u64 = 1 << 32;
/// The class space begins at a multiple of this behind the archive (`Metaspace::reserve_address_alignment`).
const CLASS_SPACE_ALIGN_BYTES: u64 = 16 << 20;
/// `CompressedClassSpaceSize` unless the user sets it.
const CLASS_SPACE_BYTES: u64 = 1 << 30;
/// HotSpot guards a Java thread's stack with four pages, glibc any other one with one; pages have up to 64 KiB.
const GUARD_BYTES_MAX: u64 = 256 << 10;
/// Stacks are multiples of this, the guard included or not.
const STACK_STEP_BYTES: u64 = 64 << 10;
/// A stack larger than this is not distinguished from other memory.
const STACK_BYTES_MAX: u64 = 64 << 20;

/// Reads four words of the process's memory at an address, of 32 bits if asked so, and says whether it could.
pub(crate) type ReadWords<'a> = &'a dyn Fn(u64, &mut [u64; 4], bool) -> bool;

/// The mappings of one process, with what only all of them together show.
pub(crate) struct Layout<'a> {
    mappings: &'a [Mapping],
    bits_32: bool,
    class_space: Option<Range<u64>>,
    /// Sizes of guard and stack that occur more than once.
    stack_shapes: BTreeMap<(u64, u64), u32>,
    read_words: ReadWords<'a>,
}

impl<'a> Layout<'a> {
    /// Looks at all mappings of a process, in the order of their addresses.
    pub(crate) fn new(mappings: &'a [Mapping], read_words: ReadWords<'a>) -> Self {
        let end = mappings.iter().filter(|m| !m.name.starts_with('[')).map(|m| m.addresses.end).max();
        let mut stack_shapes = BTreeMap::new();
        for pair in mappings.windows(2) {
            if let Some(shape) = stack_shape(&pair[0], &pair[1]) {
                *stack_shapes.entry(shape).or_insert(0) += 1;
            }
        }
        let bits_32 = end.is_some_and(|end| end <= ADDRESSES_32_END);
        Layout { mappings, bits_32, class_space: find_class_space(mappings), stack_shapes, read_words }
    }

    /// The area of a mapping, given by its index, the Java heap's range left aside.
    pub(crate) fn area_of(&self, index: usize) -> Area {
        let mapping = &self.mappings[index];
        match mapping.name.as_str() {
            "" => {}
            "[heap]" => return Area::MallocHeap,
            "[stack]" => return Area::Stacks,
            // Linux 5.17 lets programs name anonymous memory; glibc 2.39 does if `glibc.mem.decorate_maps=1` asks.
            name if name.starts_with("[anon: glibc: malloc") => return Area::MallocHeap,
            name if name.starts_with("[anon: glibc: pthread stack") => return Area::Stacks,
            name if name.starts_with("[anon:") => {}
            // [vdso], [vvar], [vsyscall]: the kernel's own pages.
            name if name.starts_with('[') => return Area::Other,
            // ZGC keeps its heap in shared memory of this name. JDK 17 maps it three times, and the kernel counts
            // each of them as resident.
            name if name.starts_with("/memfd:java_heap") => return Area::JavaHeap,
            name if is_shared_memory(name) => return Area::Other,
            name if is_class_archive(name) => return Area::ClassMetadata,
            _ => return Area::Code,
        }
        if mapping.is_executable() {
            Area::JitCode
        } else if self.class_space.as_ref().is_some_and(|space| contains(space, mapping)) {
            Area::ClassMetadata
        } else if self.is_arena(index) {
            Area::MallocHeap
        } else if self.is_stack(index) {
            Area::Stacks
        } else {
            Area::NativeAnonymous
        }
    }

    /// The compressed class space, where it can be located.
    #[cfg(test)]
    pub(crate) fn class_space(&self) -> Option<&Range<u64>> {
        self.class_space.as_ref()
    }

    /// A heap of a glibc arena: it and the inaccessible rest fill one aligned block, and its head says so too. The head
    /// is asked since the JVM reserves metaspace in blocks of 64 MiB that may look the same.
    fn is_arena(&self, index: usize) -> bool {
        let mapping = &self.mappings[index];
        let size = if self.bits_32 { ARENA_BYTES_32 } else { ARENA_BYTES_64 };
        let start = mapping.addresses.start;
        let Some(end) = start.checked_add(size).filter(|_| start.is_multiple_of(size)) else { return false };
        let fills_block = mapping.addresses.end == end
            || self.mappings.get(index + 1).is_some_and(|rest| {
                rest.is_inaccessible()
                    && rest.addresses.start == mapping.addresses.end
                    && end <= rest.addresses.end
            });
        let mut words = [0; 4];
        mapping.permissions == *b"rw-p"
            && 0 < mapping.rss_bytes
            && fills_block
            && (self.read_words)(start, &mut words, self.bits_32)
            && is_arena_head(words, mapping)
    }

    /// A thread's stack: directly above a guard, and of a shape that occurs more than once.
    fn is_stack(&self, index: usize) -> bool {
        let below = index.checked_sub(1).map(|below| &self.mappings[below]);
        let shape = below.and_then(|guard| stack_shape(guard, &self.mappings[index]));
        shape.is_some_and(|shape| self.stack_shapes.get(&shape).is_some_and(|count| 1 < *count))
    }
}

/// `heap_info` of glibc: pointer to the arena, heap before, bytes used, bytes made accessible.
fn is_arena_head([arena, _before, used_bytes, accessible_bytes]: [u64; 4], mapping: &Mapping) -> bool {
    arena != 0 && used_bytes <= accessible_bytes && accessible_bytes == mapping.size_bytes()
}

/// Sizes of guard and stack, if two mappings look like that.
///
/// HotSpot (17, 25; x86-64): a Java thread has its guard of 16 KiB inside the stack's 1 MiB; other threads have one of
/// glibc's of 4 KiB below 1 MiB. Held against the JVM's own `System.map` by
/// `what_is_called_a_stack_is_one_by_the_jvm_s_own_account`. A stack that the kernel merged with memory above it is
/// missed.
fn stack_shape(guard: &Mapping, stack: &Mapping) -> Option<(u64, u64)> {
    let (below, size) = (guard.size_bytes(), stack.size_bytes());
    let neighbours = guard.is_inaccessible() && guard.addresses.end == stack.addresses.start;
    let anonymous = guard.name.is_empty() && stack.name.is_empty() && stack.permissions == *b"rw-p";
    let sized = below <= GUARD_BYTES_MAX && size <= STACK_BYTES_MAX;
    let round = size.is_multiple_of(STACK_STEP_BYTES) || (below + size).is_multiple_of(STACK_STEP_BYTES);
    (neighbours && anonymous && sized && round && below < size).then_some((below, size))
}

/// The compressed class space, where it can be located: the JVM reserves it behind the archive of class data, 1 GiB from
/// the next multiple of 16 MiB on (17, 25). Located only if unbroken anonymous memory ends exactly there; not with
/// `-Xshare:off` or another `CompressedClassSpaceSize`.
///
/// Held by: `the_class_space_is_where_the_jvm_s_log_says`.
fn find_class_space(mappings: &[Mapping]) -> Option<Range<u64>> {
    // G1 maps a part of the archive into the Java heap too; nothing of this kind lies behind that.
    let archives = mappings.iter().enumerate().filter(|(_, m)| is_class_archive(&m.name));
    archives.filter_map(|(i, archive)| class_space_behind(&mappings[i..], archive.addresses.end)).next()
}

fn class_space_behind(mappings: &[Mapping], archive_end: u64) -> Option<Range<u64>> {
    let start = archive_end.checked_next_multiple_of(CLASS_SPACE_ALIGN_BYTES)?;
    let end = start.checked_add(CLASS_SPACE_BYTES)?;
    let mut reached = archive_end;
    let mut starts_there = start == archive_end;
    for mapping in mappings.iter().skip(1) {
        if mapping.addresses.start != reached || mapping.is_file() || mapping.permissions[3] != b'p' {
            return None;
        }
        // The archive's own reservation may be merged with the first part of the class space while both are unused.
        starts_there |= mapping.addresses.start == start;
        reached = mapping.addresses.end;
        if end <= reached {
            return (reached == end && starts_there).then_some(start..end);
        }
    }
    None
}

fn contains(range: &Range<u64>, mapping: &Mapping) -> bool {
    range.start <= mapping.addresses.start && mapping.addresses.end <= range.end
}

/// The archive of class data: `lib/server/classes.jsa`, `classes_nocoops.jsa`, `classes_coh.jsa`, or one of the user's.
fn is_class_archive(name: &str) -> bool {
    name.strip_suffix(" (deleted)").unwrap_or(name).ends_with(".jsa")
}

/// Shared memory and devices have an inode but are not files that somebody could map code from.
fn is_shared_memory(name: &str) -> bool {
    ["/dev/", "/memfd:", "/SYSV", "anon_inode:"].iter().any(|start| name.starts_with(start))
}
