//! The memory that a process is charged for, divided into parts that have bounds of their own.

use crate::facts::is_heap_table;
use crate::findings::words::memory_of;
use crate::owners::DIRECT_BUFFERS;
use assay_model::{Area, MemoryEntry, MemoryReport};

/// x86-64 and 64-bit Arm.
const KERNEL_STACK_BYTES: u64 = 16 << 10;

/// A part of the resident bytes. Each entry is in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryPart {
    Heap,
    Metaspace,
    ClassRest,
    CodeCache,
    JitRest,
    JitWork,
    Stacks,
    Direct,
    BuffersRest,
    GcTables,
    GcRest,
    Malloc,
    Freed,
    Libraries,
    MappedFiles,
    Rest,
}

impl MemoryPart {
    pub const ALL: [MemoryPart; 16] = [
        MemoryPart::Heap,
        MemoryPart::Metaspace,
        MemoryPart::ClassRest,
        MemoryPart::CodeCache,
        MemoryPart::JitRest,
        MemoryPart::JitWork,
        MemoryPart::Stacks,
        MemoryPart::Direct,
        MemoryPart::BuffersRest,
        MemoryPart::GcTables,
        MemoryPart::GcRest,
        MemoryPart::Malloc,
        MemoryPart::Freed,
        MemoryPart::Libraries,
        MemoryPart::MappedFiles,
        MemoryPart::Rest,
    ];

    pub fn title(self) -> &'static str {
        match self {
            MemoryPart::Heap => "Java heap",
            MemoryPart::Metaspace => "class metadata: metaspace",
            MemoryPart::ClassRest => "class metadata: archive and malloc",
            MemoryPart::CodeCache => "JIT-compiled code: code cache",
            MemoryPart::JitRest => "JIT-compiled code: outside the code cache",
            MemoryPart::JitWork => "JIT compiler arenas",
            MemoryPart::Stacks => "stacks",
            MemoryPart::Direct => "direct buffers",
            MemoryPart::BuffersRest => "other native memory of Java objects",
            MemoryPart::GcTables => "GC structures: tables of the heap",
            MemoryPart::GcRest => "GC structures: the rest",
            MemoryPart::Malloc => "JVM internal and malloc",
            MemoryPart::Freed => "retained by malloc, allocator overhead",
            MemoryPart::Libraries => "code: programs and libraries",
            MemoryPart::MappedFiles => "mapped files",
            MemoryPart::Rest => "other",
        }
    }

    fn of(entry: &MemoryEntry) -> MemoryPart {
        let area = Area::of_path(&entry.path);
        let second = entry.path.get(1).map_or("", String::as_str);
        match area {
            Some(Area::JavaHeap) => MemoryPart::Heap,
            Some(Area::ClassMetadata) if matches!(second, "class space" | "non-class") => {
                MemoryPart::Metaspace
            }
            Some(Area::ClassMetadata) => MemoryPart::ClassRest,
            Some(Area::JitCode) if second.starts_with("malloc") => MemoryPart::JitRest,
            Some(Area::JitCode) => MemoryPart::CodeCache,
            Some(Area::JitWork) => MemoryPart::JitWork,
            Some(Area::Stacks) => MemoryPart::Stacks,
            Some(Area::Buffers | Area::Code) if is_mapped_file(second) => MemoryPart::MappedFiles,
            Some(Area::Buffers) if second == DIRECT_BUFFERS => MemoryPart::Direct,
            Some(Area::Buffers) => MemoryPart::BuffersRest,
            Some(Area::Code) => MemoryPart::Libraries,
            Some(Area::GcStructures) if is_heap_table(second) => MemoryPart::GcTables,
            Some(Area::GcStructures) => MemoryPart::GcRest,
            Some(Area::JvmWork | Area::NativeLibraries | Area::MallocHeap) => MemoryPart::Malloc,
            Some(Area::FreedResident | Area::AllocatorOverhead) => MemoryPart::Freed,
            Some(Area::Other | Area::NativeAnonymous) | None => MemoryPart::Rest,
        }
    }
}

fn is_mapped_file(part: &str) -> bool {
    matches!(part, "mapped jars" | "mapped files" | "class files" | "fonts" | "locale")
}

/// Resident memory of a part. A control group is charged once for what the process maps several times.
pub(super) fn resident(snapshot: &MemoryReport, part: MemoryPart) -> u64 {
    memory_of(snapshot.entries.iter().filter(|entry| MemoryPart::of(entry) == part))
}

/// Bytes that a part has taken from malloc, resident or not.
pub(super) fn allocated(snapshot: &MemoryReport, part: MemoryPart) -> u64 {
    let entries = snapshot.entries.iter().filter(|entry| MemoryPart::of(entry) == part);
    entries.fold(0, |sum, entry| sum.saturating_add(entry.size_bytes.unwrap_or(0)))
}

/// The kernel's memory for a process: not in the RSS, but charged to the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelPart {
    PageTables,
    Stacks,
    Slab,
}

impl KernelPart {
    pub const ALL: [KernelPart; 3] = [KernelPart::PageTables, KernelPart::Stacks, KernelPart::Slab];

    pub fn title(self) -> &'static str {
        match self {
            KernelPart::PageTables => "kernel: page tables",
            KernelPart::Stacks => "kernel: stacks of threads",
            KernelPart::Slab => "kernel: slab and socket buffers",
        }
    }
}

/// Memory that the kernel keeps for the process; absent where it is not reported, or includes other processes.
pub(super) fn kernel(snapshot: &MemoryReport, part: KernelPart) -> Option<u64> {
    let beside = &snapshot.outside_rss;
    match part {
        KernelPart::PageTables => beside.page_tables_bytes,
        KernelPart::Stacks => {
            beside.kernel_stacks_bytes.or_else(|| Some(beside.threads?.saturating_mul(KERNEL_STACK_BYTES)))
        }
        KernelPart::Slab => {
            // Only a group with a single process shows its memory.
            let alone = snapshot.cgroup.as_ref().filter(|cgroup| cgroup.processes == Some(1))?;
            Some(alone.slab_bytes?.saturating_add(alone.sockets_bytes.unwrap_or(0)))
        }
    }
}
