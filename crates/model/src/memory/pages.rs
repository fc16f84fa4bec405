//! What the kernel can do with resident pages, and where they lie.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resident bytes by the kind of their pages. The first three add up to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageKinds {
    /// Memory of this process alone: anonymous pages, and those of a private file mapping that the process has written. They stay, unless they
    /// are swapped out.
    pub private_bytes: u64,
    /// Views of shared memory (`/dev/shm`, memfd, System V): the memory stays as long as the file or segment does, and each mapping of it is
    /// counted in the RSS.
    pub shared_bytes: u64,
    /// Pages of files that are as in the file, or are written back to it: the kernel can drop them when memory is short.
    pub droppable_bytes: u64,
    /// Of all three: in transparent huge pages. Absent where the kernel does not say (before Linux 6.7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub huge_bytes: Option<u64>,
}

impl PageKinds {
    /// Both together.
    #[must_use]
    pub fn and(self, other: PageKinds) -> PageKinds {
        PageKinds {
            private_bytes: self.private_bytes.saturating_add(other.private_bytes),
            shared_bytes: self.shared_bytes.saturating_add(other.shared_bytes),
            droppable_bytes: self.droppable_bytes.saturating_add(other.droppable_bytes),
            huge_bytes: self.huge_bytes.zip(other.huge_bytes).map(|(a, b)| a.saturating_add(b)),
        }
    }
}

/// A range of addresses of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResidentRange {
    /// First address, hexadecimal: `0x7f12a4000000`. JSON's numbers are doubles in many tools, and addresses have more bits.
    pub start: String,
    /// The address behind the last byte.
    pub end: String,
    /// Resident bytes of it.
    pub resident_bytes: u64,
}
