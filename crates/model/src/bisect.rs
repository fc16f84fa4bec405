//! What `assay bisect` finds: the first commit that made a program slower.

use crate::closed::closed;
use crate::{Problem, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What a bisection ends with.
    BisectVerdict {
        /// One commit is the first slow one.
        Commit = "commit",
        /// One of several is, which could not be told apart: all but the last could not be measured.
        Range = "range",
        /// None is, or none by as much as the least that is looked for.
        NoChange = "no-change",
        /// The time was over, or too little could be measured.
        Undecided = "undecided",
    }
}

/// A bisection over the commits that follow a good one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectReport {
    /// `assay.bisect/1`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The study whose load was used.
    pub study: String,
    /// The metric that decides, an identifier.
    pub metric: String,
    /// The repository.
    pub repository: String,
    /// The commit that all others are compared with.
    pub good: BisectCommit,
    /// Those that follow it, the oldest first; the last one is the bad one.
    pub commits: Vec<BisectCommit>,
    /// Comparisons, in the order in which they were made.
    pub comparisons: Vec<BisectComparison>,
    /// The least change for the worse that is looked for, percent.
    pub least_percent: f64,
    /// How probable an answer has to be.
    pub probability: f64,
    /// Probability that there is no such change.
    pub no_change_probability: f64,
    /// The answer.
    pub verdict: BisectVerdict,
    /// Index of the oldest commit that may be the first slow one, and of the newest; of an undecided bisection those of the narrowest row
    /// that has it with the probability asked for, if there is one.
    pub first: Option<u32>,
    /// See `first`.
    pub last: Option<u32>,
    /// Mean change of the commits from there on, percent; absent without a first slow commit. Commits before it do not count.
    pub change_percent: Option<f64>,
    /// Folder of the runs.
    pub runs: String,
    /// What did not go as it should.
    pub problems: Vec<Problem>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectCommit {
    /// Its id.
    pub id: String,
    /// As short as the repository allows.
    pub short: String,
    /// First line of its message.
    pub subject: String,
    /// Probability that it is the first slow one.
    pub probability: f64,
    /// Why it could not be measured; absent where it could, or was not tried.
    pub left_out: Option<String>,
}

/// One comparison of a commit with the good one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectComparison {
    /// Index of the commit.
    pub commit: u32,
    /// Ratio to the good one in each pair of trials that counts; above 1 is more of the metric.
    pub ratios: Vec<f64>,
    /// The run directory.
    pub run: String,
}
