//! Reference modes: how a JVM stores references to objects and classes.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The mode in which a JVM keeps references. Names are the words of the glossary and of study files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ReferenceMode {
    /// A 32-bit JVM.
    #[serde(rename = "32-bit")]
    Bits32,
    /// 64-bit JVM, 32-bit references that are addresses (heap ends below 4 GB).
    #[serde(rename = "compressed-unscaled")]
    CompressedUnscaled,
    /// 64-bit JVM, 32-bit references shifted left by the object alignment (heap ends below 32 GB at shift 3).
    #[serde(rename = "compressed-zero-based")]
    CompressedZeroBased,
    /// Shifted, and a base whose bits do not overlap with those of the offset.
    #[serde(rename = "compressed-disjoint-base")]
    CompressedDisjointBase,
    /// Shifted, and a base that must be added.
    #[serde(rename = "compressed-non-zero-base")]
    CompressedNonZeroBase,
    /// 64-bit references and 64-bit class pointers: the "standard 64-bit" of the 2008 study.
    #[serde(rename = "64-bit")]
    Full64,
    /// 64-bit references, class pointers still compressed: what a heap beyond the limit gets since JDK 15.
    #[serde(rename = "64-bit-ccp")]
    Full64CompressedClassPointers,
}

impl ReferenceMode {
    /// Every mode, in the order in which reports list them.
    pub const ALL: [ReferenceMode; 7] = [
        ReferenceMode::Bits32,
        ReferenceMode::CompressedUnscaled,
        ReferenceMode::CompressedZeroBased,
        ReferenceMode::CompressedDisjointBase,
        ReferenceMode::CompressedNonZeroBase,
        ReferenceMode::Full64CompressedClassPointers,
        ReferenceMode::Full64,
    ];

    /// Whether references are compressed, in whichever way.
    pub fn is_compressed(self) -> bool {
        matches!(
            self,
            ReferenceMode::CompressedUnscaled
                | ReferenceMode::CompressedZeroBased
                | ReferenceMode::CompressedDisjointBase
                | ReferenceMode::CompressedNonZeroBase
        )
    }

    /// The name used in files, options and reports.
    pub fn name(self) -> &'static str {
        match self {
            ReferenceMode::Bits32 => "32-bit",
            ReferenceMode::CompressedUnscaled => "compressed-unscaled",
            ReferenceMode::CompressedZeroBased => "compressed-zero-based",
            ReferenceMode::CompressedDisjointBase => "compressed-disjoint-base",
            ReferenceMode::CompressedNonZeroBase => "compressed-non-zero-base",
            ReferenceMode::Full64 => "64-bit",
            ReferenceMode::Full64CompressedClassPointers => "64-bit-ccp",
        }
    }
}

/// The mode that is asked of a JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RequestedMode {
    /// This one.
    Exactly(ReferenceMode),
    /// Any compressed one: whichever the JVM chooses for the heap.
    Compressed,
}

impl RequestedMode {
    /// The name used in study files and plans.
    pub fn name(self) -> &'static str {
        match self {
            RequestedMode::Exactly(mode) => mode.name(),
            RequestedMode::Compressed => "compressed",
        }
    }

    /// Whether a JVM in this mode has what is asked for.
    pub fn is_met_by(self, mode: ReferenceMode) -> bool {
        match self {
            RequestedMode::Exactly(asked) => asked == mode,
            RequestedMode::Compressed => mode.is_compressed(),
        }
    }

    fn all() -> impl Iterator<Item = RequestedMode> {
        ReferenceMode::ALL.into_iter().map(RequestedMode::Exactly).chain([RequestedMode::Compressed])
    }
}

impl TryFrom<String> for RequestedMode {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        RequestedMode::all().find(|mode| mode.name() == name).ok_or_else(|| format!("unknown mode `{name}`"))
    }
}

impl From<RequestedMode> for String {
    fn from(mode: RequestedMode) -> String {
        mode.name().to_owned()
    }
}

impl JsonSchema for RequestedMode {
    fn schema_name() -> Cow<'static, str> {
        "RequestedMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A reference mode. \"compressed\" is any compressed one, as the JVM chooses for \
                the heap",
            "type": "string", "enum": RequestedMode::all().map(RequestedMode::name).collect::<Vec<_>>(),
        })
    }
}

/// The mode that a JVM really chose, as read from its log, not assumed from its flags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeRead {
    /// The mode.
    pub mode: ReferenceMode,
    /// Whether objects carry compact (8-byte) headers; absent if the log does not say.
    pub compact_headers: Option<bool>,
    /// How far a compressed reference is shifted, in bits; absent for full references.
    pub shift_bits: Option<u8>,
    /// Lowest address of the heap, where the log gives it.
    pub heap_base_address: Option<u64>,
    /// The log line, or the absence, that shows it.
    pub evidence: String,
}
