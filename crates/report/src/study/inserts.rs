//! What a study's report shows of things that have reports of their own.

use assay_kit::Table;
use assay_model::{GcReport, LateCause, LimitAttribution, MemoryReport};

/// What other reports draw for a study's page; the root of this crate puts them together.
pub struct Inserts {
    /// A small map of all resident memory: the look, the picture's id, its title.
    pub memory_map: fn(&MemoryReport, &str, &str) -> String,
    /// Figures of a GC log by name, and its findings: rule, severity, claim, evidence, what to do.
    pub gc_digest: fn(&GcReport) -> GcDigest,
    /// Why requests were late, a bar for each cause: their causes, the picture's title, its id.
    pub late_picture: fn(&LimitAttribution, &str, &str) -> String,
    /// The key of those pictures, as HTML.
    pub late_key: fn() -> String,
    /// The figures behind one, under a caption.
    pub late_table: fn(&LimitAttribution, String) -> Table,
    /// A cause, for people.
    pub late_cause: fn(LateCause) -> &'static str,
}

/// Of [`Inserts::gc_digest`].
pub type GcDigest = (Vec<(&'static str, String)>, Vec<[String; 5]>);
