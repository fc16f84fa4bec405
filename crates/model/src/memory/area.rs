//! Causes of resident memory, and how a figure was established.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cause of resident memory, after the areas of the MARUSA study (Ogata et al., OOPSLA 2010). The areas of one snapshot
/// at a process add up to the kernel's RSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Area {
    /// The Java heap: live and dead objects, and pages that hold none now but stay resident.
    #[serde(rename = "Java heap")]
    JavaHeap,
    /// Executables, shared libraries and their data, mapped jars, fonts and other files.
    #[serde(rename = "code")]
    Code,
    /// What the JVM and the JDK's libraries keep for their own work: symbols, strings, threads, services, logging.
    #[serde(rename = "JVM internal")]
    JvmWork,
    /// What other native libraries allocate, and a program that a JVM runs in.
    #[serde(rename = "native libraries")]
    NativeLibraries,
    /// Metaspace, compressed class space, the class-data archive, and malloc blocks that hang off class loaders.
    #[serde(rename = "class metadata")]
    ClassMetadata,
    /// The code cache, and what compiled methods keep outside it.
    #[serde(rename = "JIT-compiled code")]
    JitCode,
    /// Memory of the compilers while they work, and what they keep for the next time.
    #[serde(rename = "JIT compiler arenas")]
    JitWork,
    /// Given to `free()`, kept by the allocator.
    #[serde(rename = "retained by malloc")]
    FreedResident,
    /// Headers, rounding and page tails of allocators, and the headers of native memory tracking.
    #[serde(rename = "allocator overhead")]
    AllocatorOverhead,
    /// Thread stacks, as far as they were touched.
    #[serde(rename = "stacks")]
    Stacks,
    /// Native memory that Java objects own: direct buffers, mapped files, and what else is freed by a cleaner.
    #[serde(rename = "direct and mapped buffers")]
    Buffers,
    /// Card tables, remembered sets, bitmaps, forwarding tables, task queues.
    #[serde(rename = "GC structures")]
    GcStructures,
    /// The kernel's own pages (`[vdso]`), shared memory and devices that nothing else claims.
    #[serde(rename = "other")]
    Other,
    /// In use in malloc's heap, by an owner who is not known. Of a snapshot of mappings alone: all of malloc's heap.
    #[serde(rename = "malloc, no known owner")]
    MallocHeap,
    /// Memory in no known region. Of a snapshot of mappings alone: anonymous memory that mappings cannot distinguish.
    #[serde(rename = "no known region")]
    NativeAnonymous,
}

impl Area {
    /// Every area, in the order in which pictures stack them.
    pub const ALL: [Area; 15] = [
        Area::JavaHeap,
        Area::ClassMetadata,
        Area::JitCode,
        Area::JitWork,
        Area::Code,
        Area::Stacks,
        Area::Buffers,
        Area::GcStructures,
        Area::JvmWork,
        Area::NativeLibraries,
        Area::FreedResident,
        Area::AllocatorOverhead,
        Area::Other,
        Area::MallocHeap,
        Area::NativeAnonymous,
    ];

    /// Number of its color and pattern, the same in all pictures. An area that is added later takes the next one.
    pub fn look(self) -> usize {
        match self {
            Area::JavaHeap => 0,
            Area::ClassMetadata => 1,
            Area::JitCode => 2,
            Area::JitWork => 3,
            Area::Code => 4,
            Area::Stacks => 5,
            Area::Buffers => 6,
            Area::GcStructures => 7,
            Area::JvmWork => 8,
            Area::FreedResident => 9,
            Area::AllocatorOverhead => 10,
            Area::Other => 11,
            Area::MallocHeap => 12,
            Area::NativeAnonymous => 13,
            Area::NativeLibraries => 14,
        }
    }

    /// The area that the path of an entry, or of a cause, begins with.
    pub fn of_path(path: &[String]) -> Option<Area> {
        Area::ALL.into_iter().find(|area| path.first().is_some_and(|first| first == area.title()))
    }

    /// Its resident bytes in one snapshot; zero only if other areas of the same scan are there, since an area that was not
    /// seen is not listed.
    pub fn bytes_in(self, areas: &[AreaBytes]) -> u64 {
        areas.iter().filter(|a| a.area == self).fold(0, |sum, a| sum.saturating_add(a.resident_bytes))
    }

    /// Its name, in stored files as well: the first part of an entry's path.
    pub fn title(self) -> &'static str {
        match self {
            Area::JavaHeap => "Java heap",
            Area::Code => "code",
            Area::JvmWork => "JVM internal",
            Area::NativeLibraries => "native libraries",
            Area::ClassMetadata => "class metadata",
            Area::JitCode => "JIT-compiled code",
            Area::JitWork => "JIT compiler arenas",
            Area::FreedResident => "retained by malloc",
            Area::AllocatorOverhead => "allocator overhead",
            Area::Stacks => "stacks",
            Area::Buffers => "direct and mapped buffers",
            Area::GcStructures => "GC structures",
            Area::Other => "other",
            Area::MallocHeap => "malloc, no known owner",
            Area::NativeAnonymous => "no known region",
        }
    }

    /// Its explanation, in a sentence for readers who do not know the name.
    pub fn explanation(self) -> &'static str {
        match self {
            Area::JavaHeap => {
                "Java objects, live and dead, and heap pages that hold none now but stay resident"
            }
            Area::Code => "programs, shared libraries and their data, jars and other files that are mapped",
            Area::JvmWork => {
                "what the JVM and its libraries keep for their own work: symbols, strings, threads, services"
            }
            Area::NativeLibraries => {
                "what libraries that are not the JDK's allocate: JNI, agents, the C library"
            }
            Area::ClassMetadata => {
                "classes and methods as the JVM keeps them: metaspace, class space, the class-data archive"
            }
            Area::JitCode => "machine code made by the JIT compilers, with its data",
            Area::JitWork => {
                "memory of the JIT compilers while they compile, and memory that they keep for the next \
                    compilation"
            }
            Area::FreedResident => "given to free() by the program, kept by the allocator, still resident",
            Area::AllocatorOverhead => "headers, rounding and page tails of the allocators",
            Area::Stacks => "thread stacks, as far as they were touched; guards take addresses, not memory",
            Area::Buffers => "native memory that Java objects own: direct buffers and mapped files",
            Area::GcStructures => "the collector's own tables: cards, remembered sets, bitmaps, queues",
            Area::Other => "the kernel's own pages, shared memory and devices",
            Area::MallocHeap => "in use in malloc's heap, by an owner who could not be found",
            Area::NativeAnonymous => "anonymous memory that no rule could name",
        }
    }
}

/// How a figure was established, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureSource {
    /// The kernel's mappings and page map.
    Kernel,
    /// Structures that the JVM exports for debuggers (`gHotSpotVMStructs`).
    VmStructs,
    /// Symbol table of libjvm, and the layout pack of that release, checked at run time.
    Symbols,
    /// Separate debug information.
    DebugInfo,
    /// Headers and counters of native memory tracking.
    Nmt,
    /// The allocator's own structures.
    Allocator,
    /// Inferred: from what the memory contains.
    Content,
    /// Inferred: who points at it.
    Pointers,
    /// The JVM's own answer to a diagnostic command that was requested.
    Jcmd,
}

impl FigureSource {
    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            FigureSource::Kernel => "kernel",
            FigureSource::VmStructs => "VM structures",
            FigureSource::Symbols => "symbols",
            FigureSource::DebugInfo => "debug information",
            FigureSource::Nmt => "NMT",
            FigureSource::Allocator => "allocator",
            FigureSource::Content => "content",
            FigureSource::Pointers => "pointers",
            FigureSource::Jcmd => "jcmd",
        }
    }

    /// Whether the figure rests on inference rather than on somebody's books.
    pub fn is_inference(self) -> bool {
        matches!(self, FigureSource::Content | FigureSource::Pointers)
    }
}

/// Resident bytes of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AreaBytes {
    /// The area.
    #[serde(rename = "name")]
    pub area: Area,
    /// Resident bytes.
    pub resident_bytes: u64,
}
