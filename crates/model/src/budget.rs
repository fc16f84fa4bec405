//! A run with a time budget: what it is to decide, and how far each answer is.

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The budget of a run: blocks are added until everything asked is decided, or the time is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedBudget {
    /// Time that a start of the run may take, seconds; the last block may end after it.
    pub time_s: f64,
    /// Expected length of a block, seconds.
    pub block_s: f64,
    /// Blocks that fit into the time at that length.
    pub blocks: u32,
    /// A smaller difference is of no interest, percent: an interval that lies within it decides that there is none.
    pub difference_percent: f64,
    /// Metrics that are asked for: the one that decides, those of conditions, those of claims. Their intervals hold at every number of
    /// blocks at once.
    pub metrics: Vec<String>,
    /// Conditions of a build, as they were written: `cpu_ms_per_request > +3 %`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// What so many blocks will probably be able to show, by the scatter of an earlier run: in the plan of `--plan --json`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlook: Vec<Outlook>,
}

impl PlannedBudget {
    /// Whether a metric is asked for; of benchmarks, its kind may be.
    pub fn asks(&self, metric: &str) -> bool {
        let is_it =
            |asked: &String| asked == metric || metric.split_once('/').is_some_and(|(kind, _)| kind == asked);
        self.metrics.iter().any(is_it)
    }
}

/// How far the answer to a question of a run with a budget is, for one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Metric identifier.
    pub metric: String,
    /// The variant.
    pub variant: String,
    /// The variant that it is compared with; absent where the question is about a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The condition of a build that asks; absent where the study does, whether the metric differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The blocks up to the first interval that decides; without a decision all of them.
    pub first: BlockSet,
    /// Where the first set shows that a condition holds: the blocks after it, alone, up to the first interval that decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<BlockSet>,
    /// What they say.
    pub outcome: Outcome,
    /// The smallest difference that 80 % of comparisons with as many blocks show, as a ratio of 1 or more; absent of values, and where
    /// fewer than 3 blocks count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_difference_ratio: Option<f64>,
    /// How many more blocks would probably decide; absent where it is decided, and where no number of blocks would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_missing: Option<u32>,
}

/// Blocks that are looked at together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSet {
    /// Their number.
    pub blocks: u32,
    /// The ratio to the baseline, or the value, with an interval that holds at every number of blocks at once; absent with fewer than 3 blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Estimate>,
}

/// What blocks say to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The metric differs, or the condition holds: in the first set, and for a condition in the second one as well.
    Shown,
    /// The condition does not hold; of a study's own question, no difference of interest is left.
    NotSo,
    /// The interval decides, but holds for one server of each variant; more blocks would change nothing.
    OneServerEach,
    /// Not decided yet.
    Undecided,
}

impl Outcome {
    /// The word in stored files.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Shown => "shown",
            Outcome::NotSo => "not-so",
            Outcome::OneServerEach => "one-server-each",
            Outcome::Undecided => "undecided",
        }
    }
}

/// What a run with a budget will probably be able to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlook {
    /// Metric identifier.
    pub metric: String,
    /// The variant.
    pub variant: String,
    /// The variant that it is compared with.
    pub baseline: String,
    /// With so many blocks.
    pub blocks: u32,
    /// The smallest ratio, 1 or more, that 80 % of comparisons with so many blocks show.
    pub difference_ratio: f64,
}

#[cfg(test)]
mod tests {
    use super::Outcome::{self, NotSo, OneServerEach, Shown, Undecided};

    #[test]
    fn an_outcomes_word_is_that_of_stored_files() {
        for outcome in [Shown, NotSo, OneServerEach, Undecided] {
            let stored = serde_json::to_value(outcome).expect("a word");
            assert_eq!(stored, Outcome::word(outcome));
        }
    }
}
