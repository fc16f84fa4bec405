//! What is part of the program: the stored form of `assay studies --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ready-made studies and scenarios.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyMadeList {
    /// [`crate::schema::STUDIES`].
    pub schema: String,
    /// Version of Assay.
    pub assay_version: String,
    /// For `assay run`.
    pub studies: Vec<ReadyMadeStudy>,
    /// For `--scenario` of `assay load` and `assay capacity`.
    pub scenarios: Vec<ReadyMadeScenario>,
}

/// A ready-made study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyMadeStudy {
    /// Its name.
    pub name: String,
    /// What it answers.
    pub question: String,
    /// The workload that it starts; absent where it names a server of its own.
    pub workload: Option<String>,
    /// Whether `--quick` shortens it.
    pub has_short_form: bool,
}

/// A ready-made scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyMadeScenario {
    /// Its name.
    pub name: String,
    /// The workload whose server answers it.
    pub workload: String,
}
