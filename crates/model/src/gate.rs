//! What a run says about a condition that fails a build.

use crate::Estimate;

/// One condition about one variant of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCase {
    /// The condition as it was written: `cpu_ms_per_request > +3 %`.
    pub condition: String,
    /// The variant; absent where the run has none that the condition is about.
    pub variant: Option<String>,
    /// The baseline, where the condition is about a change.
    pub baseline: Option<String>,
    /// What the condition is about, in the metric's unit or in percent of the baseline; absent where the run does not have it.
    pub measured: Option<Estimate>,
    /// Its unit.
    pub unit: &'static str,
    /// What the run says.
    pub verdict: GateVerdict,
}

/// What a run says about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateVerdict {
    /// The whole interval meets it.
    Holds,
    /// No part of the interval meets it; or the condition is about any change at all, and the interval contains no change.
    NotShown,
    /// The interval contains the limit, or there is no interval.
    Undecided,
}
