//! What a process is charged for, cut into the parts that have bounds of their own.

use crate::facts::is_heap_table;
use assay_model::{Area, MemoryEntry, MemoryReport};

/// x86-64 and 64-bit Arm.
const KERNEL_STACK_BYTES: u64 = 16 << 10;

/// A part of the resident bytes. Each entry is in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
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

impl Part {
    pub const ALL: [Part; 16] = [
        Part::Heap,
        Part::Metaspace,
        Part::ClassRest,
        Part::CodeCache,
        Part::JitRest,
        Part::JitWork,
        Part::Stacks,
        Part::Direct,
        Part::BuffersRest,
        Part::GcTables,
        Part::GcRest,
        Part::Malloc,
        Part::Freed,
        Part::Libraries,
        Part::MappedFiles,
        Part::Rest,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Part::Heap => "Java heap",
            Part::Metaspace => "class metadata: metaspace",
            Part::ClassRest => "class metadata: archive and malloc",
            Part::CodeCache => "JIT-compiled code: code cache",
            Part::JitRest => "JIT-compiled code: outside the code cache",
            Part::JitWork => "JIT compiler arenas",
            Part::Stacks => "stacks",
            Part::Direct => "direct buffers",
            Part::BuffersRest => "other native memory of Java objects",
            Part::GcTables => "GC structures: tables of the heap",
            Part::GcRest => "GC structures: the rest",
            Part::Malloc => "JVM internal and malloc",
            Part::Freed => "retained by malloc, allocator overhead",
            Part::Libraries => "code: programs and libraries",
            Part::MappedFiles => "mapped files",
            Part::Rest => "other",
        }
    }

    fn of(entry: &MemoryEntry) -> Part {
        let area = Area::of_path(&entry.path);
        let second = entry.path.get(1).map_or("", String::as_str);
        match area {
            Some(Area::JavaHeap) => Part::Heap,
            Some(Area::ClassMetadata) if matches!(second, "class space" | "non-class") => Part::Metaspace,
            Some(Area::ClassMetadata) => Part::ClassRest,
            Some(Area::JitCode) if second.starts_with("malloc") => Part::JitRest,
            Some(Area::JitCode) => Part::CodeCache,
            Some(Area::JitWork) => Part::JitWork,
            Some(Area::Stacks) => Part::Stacks,
            Some(Area::Buffers | Area::Code) if is_mapped_file(second) => Part::MappedFiles,
            Some(Area::Buffers) if second.contains("DirectByteBuffer") => Part::Direct,
            Some(Area::Buffers) => Part::BuffersRest,
            Some(Area::Code) => Part::Libraries,
            Some(Area::GcStructures) if is_heap_table(second) => Part::GcTables,
            Some(Area::GcStructures) => Part::GcRest,
            Some(Area::JvmWork | Area::NativeLibraries | Area::MallocHeap) => Part::Malloc,
            Some(Area::FreedResident | Area::AllocatorOverhead) => Part::Freed,
            Some(Area::Other | Area::NativeAnonymous) | None => Part::Rest,
        }
    }
}

fn is_mapped_file(part: &str) -> bool {
    matches!(part, "mapped jars" | "mapped files" | "class files" | "fonts" | "locale")
}

/// Resident bytes of a part.
pub(super) fn resident(snapshot: &MemoryReport, part: Part) -> u64 {
    let entries = snapshot.entries.iter().filter(|entry| Part::of(entry) == part);
    entries.fold(0, |sum, entry| sum.saturating_add(entry.resident_bytes))
}

/// What a part has taken of malloc, resident or not.
pub(super) fn allocated(snapshot: &MemoryReport, part: Part) -> u64 {
    let entries = snapshot.entries.iter().filter(|entry| Part::of(entry) == part);
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

/// What the kernel keeps for the process; absent where it is not told, or is told for others too.
pub(super) fn kernel(snapshot: &MemoryReport, part: KernelPart) -> Option<u64> {
    let beside = &snapshot.outside_rss;
    match part {
        KernelPart::PageTables => beside.page_tables_bytes,
        KernelPart::Stacks => {
            beside.kernel_stacks_bytes.or_else(|| Some(beside.threads?.saturating_mul(KERNEL_STACK_BYTES)))
        }
        KernelPart::Slab => {
            // Only a group of one tells what this process has.
            let alone = snapshot.cgroup.as_ref().filter(|cgroup| cgroup.processes == Some(1))?;
            Some(alone.slab_bytes?.saturating_add(alone.sockets_bytes.unwrap_or(0)))
        }
    }
}
