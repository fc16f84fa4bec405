//! What a result says about a condition that fails a build.

use crate::Estimate;
use std::borrow::Cow;

/// One condition about one variant of a run, one log, or one capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCase {
    /// The condition as it was written: `cpu_ms_per_request > +3 %`.
    pub condition: String,
    /// The variant, or the log; absent where the result has none that the condition is about, or only one.
    pub variant: Option<String>,
    /// The baseline, where the condition is about a change.
    pub baseline: Option<String>,
    /// The value that the condition is about, in `unit`; absent where the result does not have it. A value known without error has an interval of
    /// no width.
    pub measured: Option<Estimate>,
    /// The same of fresh blocks alone, where a run with a budget measured some to see whether what the first ones show recurs.
    pub again: Option<Estimate>,
    /// Its unit; of a change `%`.
    pub unit: &'static str,
    /// What the result says.
    pub verdict: GateVerdict,
    /// What would decide it, or narrow the interval; of a value without an interval that decides it, why it does.
    pub remedy: Cow<'static, str>,
}

/// What a result says about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateVerdict {
    /// The whole interval meets it: the build fails.
    Holds,
    /// No part of the interval meets it.
    Passes,
    /// A part of the interval meets it: not shown beyond noise.
    NotShown,
    /// Not decidable: the value, or its interval, is missing.
    Undecided,
}

impl GateVerdict {
    /// The verdict on a measured value by whether the condition holds for a value. The relation is one-sided, or the value has no error.
    pub fn of(measured: Option<Estimate>, holds: impl Fn(f64) -> bool) -> GateVerdict {
        let Some((low, high)) = measured.and_then(|measured| measured.ends()) else {
            return GateVerdict::Undecided;
        };
        match (holds(low), holds(high)) {
            (true, true) => GateVerdict::Holds,
            (false, false) => GateVerdict::Passes,
            _ => GateVerdict::NotShown,
        }
    }
}
