//! Native memory tracking: what the JVM itself counts, and the headers that it puts before malloc blocks.

mod by_shape;
mod counters;
mod files;
mod header;
mod scan;
mod tracked;

pub use header::NmtHeader;
pub use scan::Scanned;
pub use tracked::{HeaderForm, Nmt, NmtLevel, TagCounters};
