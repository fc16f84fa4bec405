//! The objects of a heap, from a dump or a running JVM.

use assay_heap::ClassHistogram;
use assay_model::DumpModel;

/// What objects there are, and where they were found.
pub(super) struct Heap {
    pub histogram: ClassHistogram,
    pub source: String,
    pub known_model: Option<DumpModel>,
    pub known_stranger: Option<String>,
    /// How long a process was stopped for it.
    pub frozen_ms: Option<f64>,
}
