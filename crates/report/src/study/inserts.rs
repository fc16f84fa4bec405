//! What a study's report shows of things that have reports of their own.

use assay_model::{GcReport, MemoryReport};

/// What other reports draw for a study's page; the root of this crate puts them together.
pub struct Inserts {
    /// A small map of all resident memory: the look, the picture's id, its title.
    pub memory_map: fn(&MemoryReport, &str, &str) -> String,
    /// Figures of a GC log by name, and its findings: rule, severity, claim, evidence, what to change.
    pub gc_digest: fn(&GcReport) -> GcDigest,
}

/// Of [`Inserts::gc_digest`].
pub type GcDigest = (Vec<(&'static str, String)>, Vec<[String; 5]>);
