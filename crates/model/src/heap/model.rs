//! Heap models: everything about a JVM's mode that the size of an object depends on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way of laying out objects. Zero-based, disjoint and non-zero base have the same sizes: they are one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ModelName {
    /// A 32-bit JVM.
    #[serde(rename = "32-bit")]
    Bits32,
    /// References and class pointers of 32 bits, objects aligned to 8 bytes.
    #[serde(rename = "compressed")]
    Compressed,
    /// As above, aligned to 16 bytes: heaps up to 64 GB.
    #[serde(rename = "compressed-align16")]
    CompressedAlign16,
    /// As above, aligned to 32 bytes: heaps up to 128 GB.
    #[serde(rename = "compressed-align32")]
    CompressedAlign32,
    /// References of 64 bits, class pointers compressed: what a heap beyond the limit gets since JDK 15.
    #[serde(rename = "64-bit-ccp")]
    Bits64CompressedClassPointers,
    /// References and class pointers of 64 bits.
    #[serde(rename = "64-bit")]
    Bits64,
    /// Compressed references and compact object headers (8 bytes).
    #[serde(rename = "compact")]
    Compact,
    /// As above, aligned to 16 bytes.
    #[serde(rename = "compact-align16")]
    CompactAlign16,
    /// References of 64 bits and compact object headers.
    #[serde(rename = "compact-64-bit")]
    Compact64,
    /// OpenJ9 with compressed references: an estimate.
    #[serde(rename = "openj9-compressed")]
    OpenJ9Compressed,
    /// OpenJ9 with references of 64 bits: an estimate.
    #[serde(rename = "openj9-64-bit")]
    OpenJ9Full,
}

impl ModelName {
    /// Every model, in the order in which reports list them.
    pub const ALL: [ModelName; 11] = [
        ModelName::Bits32,
        ModelName::Compressed,
        ModelName::CompressedAlign16,
        ModelName::CompressedAlign32,
        ModelName::Bits64CompressedClassPointers,
        ModelName::Bits64,
        ModelName::Compact,
        ModelName::CompactAlign16,
        ModelName::Compact64,
        ModelName::OpenJ9Compressed,
        ModelName::OpenJ9Full,
    ];

    /// The name used in files, options and reports.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Bits32 => "32-bit",
            ModelName::Compressed => "compressed",
            ModelName::CompressedAlign16 => "compressed-align16",
            ModelName::CompressedAlign32 => "compressed-align32",
            ModelName::Bits64CompressedClassPointers => "64-bit-ccp",
            ModelName::Bits64 => "64-bit",
            ModelName::Compact => "compact",
            ModelName::CompactAlign16 => "compact-align16",
            ModelName::Compact64 => "compact-64-bit",
            ModelName::OpenJ9Compressed => "openj9-compressed",
            ModelName::OpenJ9Full => "openj9-64-bit",
        }
    }
}

/// A model with the release whose layout rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HeapModel {
    /// Its name.
    pub name: ModelName,
    /// Feature release of the JDK: rules differ for 8 to 14, 15 to 24, and 25 on; where arrays begin, for up to 22 and from
    /// 23 on. Compact headers exist from 24 on.
    pub jdk: u32,
}
