//! Which area a mapping belongs to, told from the mapping alone.
//!
//! Each rule is folklore about one program that makes the mapping; where a rule can be wrong it is not used.

use assay_linux::Mapping;
use assay_model::Area;

/// glibc aligns the heaps of its secondary arenas to `HEAP_MAX_SIZE`, 64 MiB with 64-bit and 1 MiB with 32-bit
/// pointers, and reserves that much: a readable part in front, an inaccessible rest behind.
const ARENA_BYTES_64: u64 = 64 << 20;
const ARENA_BYTES_32: u64 = 1 << 20;
/// Addresses of a 32-bit process end here.
const ADDRESSES_32_END: u64 = 1 << 32;

/// Knows the mappings before the one that is asked about: some can only be told by their neighbours.
#[derive(Debug, Default)]
pub(crate) struct Classifier {
    /// Whether the process has 32-bit addresses, as far as seen.
    bits_32: bool,
}

impl Classifier {
    /// For a process whose mappings end at this address.
    pub(crate) fn new(addresses_end: u64) -> Self {
        Classifier { bits_32: addresses_end <= ADDRESSES_32_END }
    }

    /// The area of a mapping that is not in the Java heap. `next` is the mapping behind it.
    pub(crate) fn area_of(&self, mapping: &Mapping, next: Option<&Mapping>) -> Area {
        match mapping.name.as_str() {
            "[heap]" => return Area::MallocHeap,
            "[stack]" => return Area::Stacks,
            name if is_class_archive(name) => return Area::ClassMetadata,
            // Linux 5.17 lets programs name anonymous memory; glibc does since 2.39 if
            // `glibc.mem.decorate_maps=1` asks for it.
            name if name.starts_with("[anon: glibc: malloc") => return Area::MallocHeap,
            name if name.starts_with("[anon: glibc: pthread stack") => return Area::Stacks,
            "" => {}
            name if name.starts_with("[anon") => {}
            // [vdso], [vvar], [vsyscall]: the kernel's own pages.
            name if name.starts_with('[') => return Area::Other,
            name if is_shared_memory(name) => return Area::Other,
            _ => return Area::Code,
        }
        if mapping.is_executable() {
            Area::JitCode
        } else if self.is_arena(mapping, next) {
            Area::MallocHeap
        } else {
            Area::NativeAnonymous
        }
    }

    /// A heap of a glibc arena: begins at a multiple of its size, and it and the inaccessible rest end at the next one.
    fn is_arena(&self, mapping: &Mapping, next: Option<&Mapping>) -> bool {
        let size = if self.bits_32 { ARENA_BYTES_32 } else { ARENA_BYTES_64 };
        let start = mapping.addresses.start;
        let rest = next.filter(|n| n.is_inaccessible() && n.addresses.start == mapping.addresses.end);
        let Some(end) = start.checked_add(size) else { return false };
        start.is_multiple_of(size)
            && mapping.permissions == *b"rw-p"
            && rest.is_some_and(|rest| mapping.addresses.end < end && end <= rest.addresses.end)
    }
}

/// The archive of class data: `lib/server/classes.jsa`, `classes_nocoops.jsa`, `classes_coh.jsa`, or one of the user's.
fn is_class_archive(name: &str) -> bool {
    name.strip_suffix(" (deleted)").unwrap_or(name).ends_with(".jsa")
}

/// Shared memory and devices have an inode but are not files that somebody could map code from.
fn is_shared_memory(name: &str) -> bool {
    ["/dev/", "/memfd:", "/SYSV", "anon_inode:"].iter().any(|start| name.starts_with(start))
}
