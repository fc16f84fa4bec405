//! The `[guest]` table: the emulated machine in which trials run.

use crate::file::units::Size;
use assay_model::GuestMachine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The emulated machine in which trials run, a guest for each block. `assay run` there makes the block as it would here, with the levels' `host` and
/// `limits` applied to the guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GuestTable {
    /// The machine.
    pub machine: GuestMachine,
    /// Beginning of the version of its kernel, of those that `scripts/fetch-emulator` fetched: `"6.1"`, `"7"`. Default: that of Debian 12.
    pub kernel: Option<String>,
    /// Virtual processors. Default: one for each memory node.
    #[schemars(range(min = 1, max = 16))]
    pub processors: Option<u32>,
    /// Memory nodes (NUMA), among which processors and memory are divided. Default: 1.
    #[schemars(range(min = 1, max = 16))]
    pub nodes: Option<u32>,
    /// Memory beyond what its files take. Default: `1g`.
    pub memory: Option<Size>,
    /// Files and folders that the servers need and that the study does not name otherwise. Relative paths begin at the study file's folder.
    pub files: Option<Vec<String>>,
}
