//! Dead memory written to swap: the stored form of `assay memory PID --page-out KINDS --json`.

use crate::closed::closed;
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// Memory whose contents nobody reads again.
    DeadMemory {
        /// Inside blocks that the program has freed and malloc keeps, and in the unused ends of its heaps.
        Freed = "freed",
        /// Stacks of waiting threads, below the stack pointer: left from calls that have returned.
        StaleStacks = "stale-stacks",
        /// The Java heap's free regions, and its spaces above their last object.
        FreeHeap = "free-heap",
    }
}

/// What paging out did to a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPageOut {
    /// `assay.memory-page-out/1`
    pub schema: String,
    /// The process.
    pub pid: u32,
    /// Whether nothing was done, and figures are predictions alone.
    pub is_dry_run: bool,
    /// Bytes of swap that were free before: of the machine, or fewer where the control group allows fewer.
    pub swap_free_bytes: u64,
    /// Swap devices that are not in memory: pages come back from there as fast as the disk is.
    pub swap_on_disk: Vec<String>,
    /// Resident bytes before.
    pub rss_bytes_before: u64,
    /// Resident bytes directly after; absent where nothing was done.
    pub rss_bytes_after: Option<u64>,
    /// By how much the RSS fell, including what the process did meanwhile; negative when it grew.
    pub actual_bytes: Option<i64>,
    /// How long it was then watched, nanoseconds; absent where nothing was done, or the process ended meanwhile.
    pub watched_ns: Option<u64>,
    /// Each kind that was asked for.
    pub parts: Vec<PagedOutPart>,
    /// What could not be done, with its reason.
    pub problems: Vec<Problem>,
}

/// One kind of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PagedOutPart {
    /// Its kind.
    pub memory: DeadMemory,
    /// Resident bytes in whole pages of it, before.
    pub predicted_bytes: u64,
    /// Bytes of them that were not resident directly after.
    pub paged_out_bytes: Option<u64>,
    /// Bytes of these that were resident again at the end of the watch: the process has used them for something else.
    pub came_back_bytes: Option<u64>,
}

impl MemoryPageOut {
    /// Sum of a figure over the parts; `None` where a part does not have it.
    pub fn sum(&self, figure: impl Fn(&PagedOutPart) -> Option<u64>) -> Option<u64> {
        self.parts.iter().map(figure).sum()
    }
}
