//! Resident memory: what it is called, one snapshot of a process in short and in full, what changed, what grows, what a limit should be.

mod advice;
mod area;
mod change;
mod end;
mod growth;
mod heap_objects;
mod page_out;
mod pages;
mod report;
mod running;
mod sample;
mod tool_report;
mod trim;

pub use advice::{Advice, AdviceLine};
pub use area::{Area, AreaBytes, FigureSource};
pub use change::{Cause, MemoryChange};
pub use end::MemoryEnd;
pub use growth::{Grower, GrowthGround, GrowthKind, GrowthVerdict};
pub use heap_objects::{ClassObjects, HeapHolder, HeapLive, HolderKind};
pub use page_out::{DeadMemory, MemoryPageOut, PagedOutPart};
pub use pages::{PageKinds, ResidentRange};
pub use report::{
    Allocator, AllocatorFacts, ArenaFacts, CgroupMemory, JvmMemoryFacts, MemoryCopy, MemoryEntry,
    MemoryReport, OutsideRss, OwnersLeftOut, PieceKind, SnapshotDepth, SourceBytes, ThreadKind, ThreadMemory,
    UnknownPiece,
};
pub use running::{RunningJvm, RunningJvms};
pub use sample::MemorySample;
pub use tool_report::{MemoryTool, MemoryToolReport, ReportedEntry, ReportedMemory};
pub use trim::{MemoryTrim, TrimCall};
