//! Native memory tracking: what the JVM itself counts, and the headers that it puts before malloc blocks.

mod by_shape;
mod counters;
mod files;
mod header;
mod scan;
mod text;
mod tracked;

pub use header::NmtHeader;
pub use scan::Scanned;
pub use text::{NmtAmount, NmtPart, NmtSite, NmtTagText, NmtText, is_nmt_text, parse_nmt_text};
pub use tracked::{HeaderForm, Nmt, NmtLevel, TagCounters};
