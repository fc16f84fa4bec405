//! `assay compare`: two runs side by side.

use crate::{Estimate, Problem, Provenance, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How two runs differ, and how their setups differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunComparison {
    /// `assay.run-comparison/1`
    pub schema: String,
    /// The first run.
    pub before: ComparedRun,
    /// The second.
    pub after: ComparedRun,
    /// Every metric of every variant that both have.
    pub changes: Vec<RunChange>,
    /// Differences in setup: machine, JVMs, options, settings.
    pub circumstances: Vec<Circumstance>,
    /// Variants of the first run alone.
    pub only_before: Vec<String>,
    /// Variants of the second run alone.
    pub only_after: Vec<String>,
    /// What could not be compared.
    pub problems: Vec<Problem>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRun {
    /// Its folder, as it was given.
    pub folder: String,
    /// Name of the study.
    pub study: String,
    /// The metric that decides, an identifier.
    pub primary_metric: String,
    /// When its first trial was started, RFC 3339; absent where none was.
    pub started_at: Option<String>,
    /// Machine and program.
    pub provenance: Provenance,
}

/// One metric of one variant in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunChange {
    /// Name of the variant.
    pub variant: String,
    /// Metric identifier.
    pub metric: String,
    /// In the first run.
    pub before: Estimate,
    /// In the second.
    pub after: Estimate,
    /// Second by first: geometric means of the blocks, with Welch's 95 % interval of their ratio. The blocks of two runs were not measured
    /// side by side: what the machine did to one of them alone is in the ratio, and not in its interval.
    pub ratio: Estimate,
    /// The same in words.
    pub verdict: Verdict,
}

/// A difference in setup: a JVM, an option, a setting of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstance {
    /// Machine, JVM or study.
    pub about: CircumstanceOf,
    /// Its name, for example `kernel`, or `JVM of 64-bit`.
    pub what: String,
    /// In the first run; absent where it had none, or nothing is known.
    pub before: Option<String>,
    /// In the second.
    pub after: Option<String>,
}

/// Where a difference in setup lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CircumstanceOf {
    /// The machine, or Assay itself.
    Host,
    /// A JVM.
    Jvm,
    /// What the study asks for.
    Study,
}
