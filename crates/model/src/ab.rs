//! `assay ab`: two builds of a server side by side.

use crate::closed::closed;
use crate::{Design, Estimate, JvmFacts, Problem, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the server that the second command starts differs from that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbReport {
    /// `assay.ab/1`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The first command.
    pub before: AbSide,
    /// The second.
    pub after: AbSide,
    /// Whether both are the same command in the same folder: then every difference is an error of the comparison.
    pub is_a_a: bool,
    /// The load, in words.
    pub load: String,
    /// How the pairs were laid out in time.
    pub design: Design,
    /// The time that was given, seconds; what was measured of each pair is in it.
    pub budget_s: f64,
    /// The time that it took, seconds.
    pub took_s: f64,
    /// A change for the worse beyond this fails a build, percent.
    pub limit_percent: f64,
    /// Every figure, in the order in which they are read: what varies least comes first.
    pub figures: Vec<AbFigure>,
    /// The count of instructions in emulated guests; absent in results of versions that did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<AbCounted>,
    /// Seed of every random draw.
    pub seed: u64,
    /// The run directory, absolute.
    pub run: String,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// How instructions were counted in emulated guests, or why they were not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbCounted {
    /// Requests before counting, and those that were counted, in each guest.
    pub requests: [u64; 2],
    /// JVM options that both sides had in their guests, before their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    /// The time that it took, seconds.
    pub took_s: f64,
    /// The run directory of the guests, absolute; absent where nothing was counted.
    pub run: Option<String>,
    /// Why nothing was counted; absent where it was.
    pub not_counted: Option<String>,
}

/// One of the two builds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbSide {
    /// Its command, without what may be secret.
    pub command: String,
    /// The folder in which it is started.
    pub directory: String,
    /// Its JVM; absent where the command starts it by other means.
    pub jvm: Option<JvmFacts>,
}

/// One metric of both builds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbFigure {
    /// Metric identifier.
    pub metric: String,
    /// Of the first build, in the unit of the metric.
    pub before: Option<Estimate>,
    /// Of the second.
    pub after: Option<Estimate>,
    /// Second by first, paired; its interval holds however often it was looked at.
    pub ratio: Option<Estimate>,
    /// The same over the pairs that were measured to confirm it, alone; absent where nothing had to be confirmed.
    pub again: Option<Estimate>,
    /// Pairs that it was taken from.
    pub pairs: u32,
    /// The smallest change that so many pairs with this spread would have shown in four of five comparisons, percent.
    pub smallest_percent: Option<f64>,
    /// What it says.
    pub verdict: AbVerdict,
    /// Why there is none; absent where there is one.
    pub absent: Option<String>,
}

closed! {
    /// What a figure of two builds says.
    AbVerdict {
        /// The second build is worse beyond the limit, and the pairs measured to confirm it say so alone.
        Worse = "worse",
        /// The second build is worse beyond the limit, and no pairs measured to confirm it say so alone: the time was over, or they do not.
        Unconfirmed = "unconfirmed",
        /// The second build is worse, and it is not shown that it is beyond the limit.
        WorseWithinLimit = "worse-within-limit",
        /// The second build is better.
        Better = "better",
        /// The interval contains no change, and excludes the limit.
        Same = "same",
        /// The interval contains no change, and the limit, too.
        NotShown = "not-shown",
        /// Too few pairs, or no figure.
        Undecided = "undecided",
    }
}
