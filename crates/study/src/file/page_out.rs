//! `page_out` of a study or a level: dead memory that is written to swap while a server runs.

use crate::file::units::Seconds;
use assay_model::DeadMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dead memory that is paged out of the server and its replicas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct PageOutTable {
    /// Kinds of dead memory: `freed`, `stale-stacks`, `free-heap`.
    pub memory: Vec<DeadMemory>,
    /// Time from one page-out to the next, such as `"30s"`. The first comes that long after the server is ready.
    pub every: Seconds,
}
