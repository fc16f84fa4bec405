//! Resident memory of a process: every byte that the kernel counts, given to a cause.
//!
//! [`read()`] joins three views: the kernel's (mappings and page map), the JVM's (its own structures) and the allocator's.
//! Each is painted over the one before, what is known better over what is known less well (`snapshot`); the blocks of
//! malloc's heap get owners (`owners`); then the resident bytes are added up by entry (`assemble`). So the entries add up
//! to the kernel's RSS by construction, and what nobody names stays visible, as unknown.
//!
//! [`sample()`] is the short form, from mappings alone, for snapshots at a rate of one a second.

mod address_map;
mod advise;
mod assemble;
mod copying;
mod depth;
mod ending;
mod entry_table;
mod explain;
mod facts;
mod findings;
mod growth;
mod heap_classes;
mod jvm;
mod jvm_spans;
mod layout;
mod live_heap;
#[cfg(test)]
mod live_tests;
mod mapped;
mod mapped_again;
mod native_image;
mod options;
mod owners;
mod page_kinds;
mod page_out;
mod process;
mod pthread;
mod ranges;
mod read;
mod record;
mod sample;
mod snapshot;
mod stacks;
mod system_map;
mod tool_report;
mod trim;
mod unknown;
mod windows;

pub use advise::{BesideHeap, advise, beside_heap, heap_within, limit_of};
pub use assay_model::SnapshotDepth;
pub use depth::heap_read_cpu_ns;
pub use ending::{Ending, KillCounts};
pub use explain::explain_change;
pub use findings::container::unseen_limit;
pub use findings::{findings, least_gain};
pub use growth::{growth_finding, judge_growth};
pub use options::{HEAP_READ_BYTES_MAX, MarkHeap, ReadOptions};
pub use page_out::{PageOutError, PageOutOptions, page_out};
pub use read::{read, read_source};
pub use record::{Record, RecordError, read_record};
pub use sample::{MemoryError, sample};
pub use tool_report::{ToolReportError, read_tool_report, tool_of, tool_report};
pub use trim::{TrimError, Trimmed, trim, trim_in_thread};

/// What each rule says in general: those of [`mod@findings`], that of growth, then those of [`mod@advise`].
pub fn rules() -> Vec<assay_model::Explanation> {
    findings::rules().chain([growth::MEMORY_GROWS.explained()]).chain(advise::rules()).collect()
}
