//! One snapshot of a process in full: what `assay memory PID --json` prints.

use super::{
    AreaBytes, ClassObjects, FigureSource, GrowthVerdict, HeapLive, MemoryEnd, PageKinds, ResidentRange,
};
use crate::closed::closed;
use crate::{Finding, JvmContainer, Problem, Provenance, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How deep a snapshot goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SnapshotDepth {
    /// Mappings, pages and the structures of JVM and allocator. Nothing is searched by pointers: what is in use in
    /// malloc's heap is one entry, unless native memory tracking names it. For sampling once a second.
    Structures,
    /// Owners of malloc blocks and of nameless memory as well: the Java heap is scanned for pointers to them.
    #[default]
    Owners,
}

/// Memory that was copied before it was analysed, so that it is of one moment however long the snapshot takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCopy {
    /// Bytes that were copied. Assay's own memory grew by as much meanwhile.
    pub copied_bytes: u64,
    /// How long copying took.
    pub copy_ns: u64,
    /// Bytes that were to be copied and found no room: they were read later, and may be newer than the rest.
    pub left_out_bytes: u64,
    /// Bytes of Java objects that were read later, while the process ran: which class holds native memory may be newer than
    /// the rest.
    pub heap_read_later_bytes: u64,
}

/// Why a snapshot did not search for owners although that was the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnersLeftOut {
    /// Resident bytes of Java objects, all of which a search for owners reads.
    pub heap_resident_bytes: u64,
    /// So many of them are read at most where no depth is given.
    pub heap_read_bytes_max: u64,
    /// CPU time that reading them takes, estimated.
    pub heap_read_cpu_ns: u64,
    /// The command that searches for owners all the same.
    pub command: String,
}

/// Every resident byte of a process, given to an entry. The entries add up to `rss_bytes` exactly, and so do the areas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryReport {
    /// `assay.memory/5`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The process, as Assay's own PID namespace numbers it.
    pub pid: u32,
    /// Name of the program (`comm`); command lines are not stored, since they may hold secrets.
    pub program: String,
    /// Main class, jar or module of a JVM that `java` started: all that is kept of its command line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub main: Option<String>,
    /// Start of the process, clock ticks since boot: with `pid` and `boot_id` it is the process and no later one with the
    /// same number. Absent in recordings of memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_ticks: Option<u64>,
    /// The boot that `start_ticks` counts from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boot_id: Option<String>,
    /// Wall-clock time of the scan, RFC 3339.
    pub taken_at: String,
    /// The same on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// How long the scan took, from the first to the last read.
    pub scan_ns: u64,
    /// CPU time that the scan took in Assay.
    pub scan_cpu_ns: u64,
    /// How deep it went.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<SnapshotDepth>,
    /// Present where the depth was left to Assay, and the Java heap is too large for a search for owners.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owners_left_out: Option<OwnersLeftOut>,
    /// How long the process was stopped; absent when it was not.
    pub frozen_ns: Option<u64>,
    /// What was copied while the process was stopped; absent if it was not stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy: Option<MemoryCopy>,
    /// The kernel's RSS at the start of the scan: Σ of `Rss` over `smaps`.
    pub rss_bytes: u64,
    /// RSS at the end of the scan less that at its start.
    pub rss_change_during_scan_bytes: i64,
    /// Σ of the entries less `rss_bytes`: what the process changed between the reads. 0 on a frozen process.
    pub difference_bytes: i64,
    /// Bytes in no known region plus bytes in malloc blocks without a known owner.
    pub unknown_bytes: u64,
    /// Of `rss_bytes`: bytes whose area rests on inference (content or pointers) rather than on somebody's books.
    pub inferred_bytes: u64,
    /// Areas, the biggest first.
    pub areas: Vec<AreaBytes>,
    /// Entries, the biggest first.
    pub entries: Vec<MemoryEntry>,
    /// Resident bytes by the source that established them.
    pub sources: Vec<SourceBytes>,
    /// What the unknown bytes look like, the biggest first; bounded.
    pub unknown: Vec<UnknownPiece>,
    /// Absent when the process is not a JVM that could be read.
    pub jvm: Option<JvmMemoryFacts>,
    /// The C library's allocator, as far as it could be walked.
    pub allocator: Option<AllocatorFacts>,
    /// Threads, the biggest stack first; bounded.
    pub threads: Vec<ThreadMemory>,
    /// The kernel's figures that are not in the RSS, or count it in another way.
    pub outside_rss: OutsideRss,
    /// The control group that the process is charged to.
    pub cgroup: Option<CgroupMemory>,
    /// What could be given back, by which setting, and how many bytes that would bring; the biggest first.
    pub findings: Vec<Finding<RuleId>>,
    /// Whether memory grows, over the record that ends with this snapshot; absent where it was not judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub growth: Option<GrowthVerdict>,
    /// How the process ended, where this is the last snapshot of a record of its whole life; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<MemoryEnd>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl MemoryReport {
    /// Whether owners of malloc's blocks were looked for.
    pub fn has_owners(&self) -> bool {
        self.depth != Some(SnapshotDepth::Structures)
    }

    /// Bytes of memory that the RSS stands for: fewer where the process maps the same memory at several addresses.
    pub fn bytes_of_memory(&self) -> u64 {
        let again = |entry: &MemoryEntry| entry.resident_bytes.saturating_sub(entry.bytes_of_memory());
        let repeated = self.entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(again(entry)));
        self.rss_bytes.saturating_sub(repeated)
    }
}

impl MemoryEntry {
    /// Bytes of memory, counted once however often the process maps it.
    pub fn bytes_of_memory(&self) -> u64 {
        self.memory_bytes.unwrap_or(self.resident_bytes)
    }
}

/// A cause of resident memory that is not split further.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEntry {
    /// From the area's title to the entry, for example `["Java heap", "old", "used"]`.
    pub path: Vec<String>,
    /// Resident bytes.
    pub resident_bytes: u64,
    /// Bytes of memory that these are, where they are fewer: the process maps the same memory at several addresses, and the kernel
    /// counts it as resident at each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory_bytes: Option<u64>,
    /// Bytes that it takes of the address space or of malloc, resident or not, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size_bytes: Option<u64>,
    /// Number of things (blocks, threads, buffers), where they are counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// How it was established: the weakest source that took part.
    pub source: FigureSource,
    /// Its resident bytes by the kind of their pages. Absent in snapshots of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pages: Option<PageKinds>,
    /// Where it lies, in the order of the addresses; only with `--ranges`. Their resident bytes add up to those of the entry.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ranges: Option<Vec<ResidentRange>>,
    /// Its explanation in plain words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<String>,
}

impl PageKinds {
    /// Those of all entries; absent where one of them has none.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a MemoryEntry>) -> Option<PageKinds> {
        entries.into_iter().map(|entry| entry.pages).reduce(|all, of| Some(all?.and(of?))).flatten()
    }
}

/// Resident bytes that one source established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceBytes {
    /// The source.
    pub source: FigureSource,
    /// Resident bytes.
    pub resident_bytes: u64,
}

closed! {
    /// What nobody could be found for.
    PieceKind {
        /// Memory in no known region.
        Region = "region",
        /// Blocks of a size that are in use in malloc, with no known owner.
        Block = "block",
    }
}

/// Something unknown, described.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownPiece {
    /// Where it is.
    pub kind: PieceKind,
    /// Where, or which size class: `7f12a4000000-7f12a4021000 rw-p`, `blocks of 48 bytes`.
    pub what: String,
    /// Kind of contents: `zeros`, `text`, `pointers into libjvm`, `mixed`.
    pub contents: String,
    /// Resident bytes.
    pub resident_bytes: u64,
    /// Number of blocks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
}

/// What the JVM says of itself, read from its memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JvmMemoryFacts {
    /// Full version, for example `17.0.15+6-Debian-1deb12u1`, `8u504 (HotSpot 25.504-b01)`.
    pub version: Option<String>,
    /// Feature release, for example 17.
    pub feature: Option<u32>,
    /// `G1`, `Serial`, `Parallel`, `Z`, `Shenandoah`, `Epsilon`.
    pub collector: Option<String>,
    /// `off`, `summary`, `detail`.
    pub native_memory_tracking: Option<String>,
    /// Whether it has the diagnostic command that trims malloc (`System.trim_native_heap`); absent in results of versions that did not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub has_trim_command: Option<bool>,
    /// How the layout of private structures was found: `layout pack 17`, `none`.
    pub layout: Option<String>,
    /// Committed part of the Java heap.
    pub heap_committed_bytes: Option<u64>,
    /// Bytes up to the tops of the heap's spaces.
    pub heap_used_bytes: Option<u64>,
    /// `MaxHeapSize`.
    pub heap_bytes_max: Option<u64>,
    /// The classes whose objects take most of the heap, garbage included, the biggest first; bounded. Absent where the objects
    /// were not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heap_classes: Option<Vec<ClassObjects>>,
    /// The live part of the heap, and its holders; absent where no mark was made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heap_live: Option<HeapLive>,
    /// Address space of those of the collector's tables that have an entry for each piece of the heap: they have room for
    /// `MaxHeapSize`, and are resident as far as the heap was used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gc_tables_bytes: Option<u64>,
    /// Metaspace in use, class space included.
    pub metaspace_used_bytes: Option<u64>,
    /// `MaxMetaspaceSize`; absent when it is unlimited or unknown.
    pub metaspace_bytes_max: Option<u64>,
    /// `CompressedClassSpaceSize`, where there is a class space.
    pub class_space_bytes_max: Option<u64>,
    /// Code cache in use.
    pub code_cache_used_bytes: Option<u64>,
    /// `ReservedCodeCacheSize`.
    pub code_cache_bytes_max: Option<u64>,
    /// Size of a Java thread's stack.
    pub thread_stack_bytes: Option<u64>,
    /// `MaxDirectMemorySize`, or the heap's limit, which holds where it is not set.
    pub direct_bytes_max: Option<u64>,
    /// Resident bytes of direct buffers that the JDK allocated, which the limit counts; memory that native code hands out as a buffer is
    /// not among it.
    pub direct_used_bytes: Option<u64>,
    /// Methods that the JIT compilers were compiling, such as `app.Rules::evaluate`; none where they were idle, or that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub compiling: Vec<String>,
    /// Live Java threads.
    pub java_threads: Option<u64>,
    /// Classes loaded.
    pub classes: Option<u64>,
    /// What it took from its control group; absent where that cannot be read, and in results of versions that did not ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container: Option<JvmContainer>,
    /// Flags that matter to memory, with their values: name to value as text.
    pub flags: std::collections::BTreeMap<String, String>,
}

closed! {
    /// An allocator.
    Allocator {
        /// The C library's own, or that of a program with the C library linked in.
        Glibc = "glibc",
        /// jemalloc.
        Jemalloc = "jemalloc",
        /// tcmalloc.
        Tcmalloc = "tcmalloc",
        /// mimalloc.
        Mimalloc = "mimalloc",
        /// That of musl, the C library.
        Musl = "musl",
    }
}

/// An allocator in the process, and what it holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AllocatorFacts {
    /// Which it is.
    pub name: Allocator,
    /// Its version, where that is known.
    pub version: Option<String>,
    /// Bytes in blocks that are in use (their usable size), not only the resident ones.
    pub used_bytes: Option<u64>,
    /// Number of blocks in use.
    pub used_blocks: Option<u64>,
    /// Bytes in freed blocks, not only the resident ones.
    pub freed_bytes: Option<u64>,
    /// By how much the RSS falls if the process calls `malloc_trim(0)` now.
    pub trim_gain_bytes: Option<u64>,
    /// Arenas; bounded.
    pub arenas: Vec<ArenaFacts>,
}

/// One arena of an allocator. Counts that an allocator does not keep are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ArenaFacts {
    /// Its number, 0 for the main one.
    pub index: u32,
    /// Bytes that it got from the kernel (`system_mem`).
    pub system_bytes: u64,
    /// Bytes in blocks in use.
    pub used_bytes: u64,
    /// Freed bytes in bins, the unsorted one included.
    pub bins_bytes: Option<u64>,
    /// Freed bytes in fast bins.
    pub fast_bins_bytes: Option<u64>,
    /// Freed bytes in the caches of threads.
    pub thread_cache_bytes: Option<u64>,
    /// Bytes never handed out, or merged into the end (`top`).
    pub top_bytes: Option<u64>,
    /// Of all freed bytes: the resident ones.
    pub freed_resident_bytes: Option<u64>,
    /// What a trim gives back of this arena.
    pub trim_gain_bytes: Option<u64>,
}

closed! {
    /// Purpose of a thread.
    ThreadKind {
        /// Runs Java code.
        Java = "Java",
        /// A JIT compiler's.
        Compiler = "compiler",
        /// A collector's.
        Gc = "GC",
        /// The JVM's own: VM thread, watcher, signal dispatcher.
        Vm = "VM",
        /// Unknown to the JVM.
        Native = "native",
    }
}

/// A thread and its stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMemory {
    /// Thread id, as Assay's own PID namespace numbers it.
    pub tid: u32,
    /// Java name where there is one, else the kernel's.
    pub name: String,
    /// Purpose of the thread.
    pub kind: ThreadKind,
    /// Size of the stack.
    pub stack_bytes: Option<u64>,
    /// Resident part of it.
    pub stack_resident_bytes: u64,
    /// Of the resident part: below the stack pointer, left from deeper calls.
    pub stack_stale_bytes: Option<u64>,
}

/// The kernel's figures outside the RSS.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OutsideRss {
    /// `VmRSS` of `status`, which lags behind on a busy process.
    pub vm_rss_bytes: Option<u64>,
    /// Largest RSS so far (`VmHWM`).
    pub rss_peak_bytes: Option<u64>,
    /// Proportional set size: shared pages divided by the number of processes that share them.
    pub pss_bytes: Option<u64>,
    /// Unique set size: pages of this process only. Those that it maps several times count once.
    pub uss_bytes: Option<u64>,
    /// Shared with other processes, as far as the kernel says; what the process maps several times itself is not among it.
    pub shared_bytes: Option<u64>,
    /// Swapped out.
    pub swap_bytes: Option<u64>,
    /// Page tables (`VmPTE`).
    pub page_tables_bytes: Option<u64>,
    /// Kernel stacks: threads times the architecture's stack size; computed.
    pub kernel_stacks_bytes: Option<u64>,
    /// In transparent huge pages.
    pub huge_pages_bytes: Option<u64>,
    /// In explicit huge pages, which the RSS does not count.
    pub hugetlb_bytes: Option<u64>,
    /// Locked in memory (`VmLck`).
    pub locked_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
}

/// The memory charged to the process's control group, and its composition.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CgroupMemory {
    /// Path of the group.
    pub path: String,
    /// Charged now (`memory.current`, or `memory.usage_in_bytes`).
    pub current_bytes: Option<u64>,
    /// Limit; absent means none.
    pub limit_bytes: Option<u64>,
    /// Largest charge so far.
    pub peak_bytes: Option<u64>,
    /// Anonymous memory.
    pub anonymous_bytes: Option<u64>,
    /// Page cache, mapped or not.
    pub file_bytes: Option<u64>,
    /// Page cache that could be dropped (inactive).
    pub inactive_file_bytes: Option<u64>,
    /// Shared memory and tmpfs, part of `file_bytes`.
    pub shmem_bytes: Option<u64>,
    /// Kernel stacks.
    pub kernel_stacks_bytes: Option<u64>,
    /// Page tables.
    pub page_tables_bytes: Option<u64>,
    /// Slab.
    pub slab_bytes: Option<u64>,
    /// Socket buffers.
    pub sockets_bytes: Option<u64>,
    /// Kernel memory in all, where only the sum is given.
    pub kernel_bytes: Option<u64>,
    /// Σ of the RSS of the processes in the group.
    pub processes_rss_bytes: Option<u64>,
    /// Processes in the group.
    pub processes: Option<u64>,
    /// `current_bytes` less what the parts above explain.
    pub unexplained_bytes: Option<i64>,
    /// Processes of the group that the kernel killed for memory, at any limit, since the group was made (`oom_kill`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oom_kills: Option<u64>,
    /// How often the charge ran into the group's own limit since then (`max` of `memory.events`, or `memory.failcnt`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit_hits: Option<u64>,
}
