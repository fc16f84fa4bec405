//! A bracket that is open.

use super::names::Name;
use super::text::Stamp;
use assay_model::{GcCpu, GcSizes};

/// An open bracket.
#[derive(Debug)]
pub(super) struct Frame {
    pub name: Name,
    pub stamp: Stamp,
    pub sizes: Option<GcSizes>,
    pub duration: Option<(u64, u64)>,
    pub cpu: Option<GcCpu>,
    pub workers: Option<u64>,
    pub line: u64,
}
