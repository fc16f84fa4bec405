//! `assay host --what-if`: a rule's advice, tried on the user's own load.

use crate::closed::closed;
use crate::{Estimate, HostRule, PlannedTreatment, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What a trial of a rule's advice says.
    WhatIfVerdict {
        /// The interval has improvements only.
        Confirmed = "confirmed",
        /// The interval has no improvement as large as the least that is worth having.
        Refuted = "refuted",
        /// Neither: more blocks, or a quieter machine, would narrow the interval.
        Inconclusive = "inconclusive",
    }
}

/// What the machine's present value of a setting and the recommended one give, compared on a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhatIf {
    /// `assay.what-if/2`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The rule.
    pub rule: HostRule,
    /// The study whose load was used.
    pub study: String,
    /// The metric that decides, an identifier.
    pub metric: String,
    /// What was changed.
    pub changes: Vec<PlannedTreatment>,
    /// Recommended / present, geometric mean of the blocks, with its 95 % interval; absent where no block counts for both.
    pub ratio: Option<Estimate>,
    /// Blocks in which both count.
    pub blocks: u32,
    /// The least improvement that is worth having, percent of the present value.
    pub least_percent: f64,
    /// What follows.
    pub verdict: WhatIfVerdict,
    /// The run directory.
    pub run: String,
}
