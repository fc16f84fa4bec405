//! Resident memory by area.

use serde::{Deserialize, Serialize};

/// A cause of resident memory. At this stage areas are told apart by mappings alone: what the mappings cannot
/// tell is `NativeAnonymous`, and says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The Java heap: the range that the JVM's log names.
    JavaHeap,
    /// Executables, shared libraries, mapped jars and other files.
    Code,
    /// The class-data archive and the compressed class space, where the mapping shows them.
    ClassMetadata,
    /// JIT-compiled code: anonymous mappings that are executable.
    JitCode,
    /// Thread stacks that the kernel or the layout shows.
    Stacks,
    /// malloc's heap: `[heap]` and arenas that the layout shows.
    MallocHeap,
    /// Anonymous memory that mappings alone cannot tell apart: metaspace, GC structures, arenas, stacks.
    NativeAnonymous,
    /// Everything else: `[vdso]`, shared memory, devices.
    Other,
}

impl Area {
    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Area::JavaHeap => "Java heap",
            Area::Code => "code and mapped files",
            Area::ClassMetadata => "class metadata",
            Area::JitCode => "JIT-compiled code",
            Area::Stacks => "stacks",
            Area::MallocHeap => "malloc heap",
            Area::NativeAnonymous => "native, not told apart",
            Area::Other => "other",
        }
    }
}

/// Resident bytes of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaBytes {
    /// The area.
    pub area: Area,
    /// Resident bytes.
    pub resident_bytes: u64,
}

/// One look at a process. The areas add up to `rss_bytes` of the same scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySample {
    /// When, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Σ of the mappings' resident bytes.
    pub rss_bytes: u64,
    /// Proportional set size, where the kernel gives it.
    pub pss_bytes: Option<u64>,
    /// Swapped-out bytes, where the kernel gives them.
    pub swap_bytes: Option<u64>,
    /// Resident bytes by area; an area that was not seen is not listed.
    pub areas: Vec<AreaBytes>,
}
