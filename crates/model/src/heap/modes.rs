//! `assay heap modes`: which reference mode a heap size gets, and why.

use crate::{Finding, Problem, ReferenceMode, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One JVM with one collector and one `-Xmx`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeCell {
    /// Home of the JVM, or its version where two have the same.
    pub java: String,
    /// Feature release.
    pub jdk: u32,
    /// `Serial`, `Parallel`, `G1`, `Z`, `Shenandoah`.
    pub collector: String,
    /// What is given as `-Xmx`, in bytes.
    pub max_heap_bytes: u64,
    /// Other options that decide: `-XX:ObjectAlignmentInBytes=16`.
    pub options: Vec<String>,
    /// The mode by the JVM's own rules; absent when they are not known for this JVM.
    pub computed_mode: Option<ReferenceMode>,
    /// Where the heap would begin; absent where the kernel chooses.
    pub computed_base_address: Option<u64>,
    /// Bits that a compressed reference is shifted by.
    pub shift_bits: Option<u8>,
    /// What decides the mode, in one clause.
    pub decided_by: String,
    /// The mode that a JVM started so said it has; absent without `--verify`, and where it cannot be started.
    pub verified_mode: Option<ReferenceMode>,
    /// Where its heap began.
    pub base_address: Option<u64>,
    /// Why it could not be verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_verified_because: Option<String>,
}

impl ModeCell {
    /// JVM, collector and heap size: the identity of the cell.
    pub fn key(&self) -> (&str, &str, u64) {
        (&self.java, &self.collector, self.max_heap_bytes)
    }

    /// Whether a JVM started so has another mode than was computed.
    pub fn has_other_mode(&self) -> bool {
        matches!((self.computed_mode, self.verified_mode), (Some(computed), Some(found)) if computed != found)
    }

    /// Whether a JVM started so has the mode that was computed, but its heap begins elsewhere. In a 32-bit JVM, whose heap
    /// lies where there is room, that says nothing.
    pub fn has_other_base(&self) -> bool {
        let bases = (self.computed_base_address, self.base_address);
        self.computed_mode.is_some()
            && self.computed_mode == self.verified_mode
            && self.verified_mode != Some(ReferenceMode::Bits32)
            && matches!(bases, (Some(computed), Some(found)) if computed != found)
    }
}

/// The largest heap of one mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeThreshold {
    /// Home of the JVM.
    pub java: String,
    /// The collector.
    pub collector: String,
    /// Alignment of objects in bytes.
    pub alignment_bytes: u64,
    /// The mode.
    pub mode: ReferenceMode,
    /// The largest `-Xmx` that gets it, in bytes, in steps of 1 MiB.
    pub largest_max_heap_bytes: u64,
    /// Whether JVMs were started on both sides of it.
    pub is_verified: bool,
}

/// A range of the address space of a JVM on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressRange {
    /// First address.
    pub start_address: u64,
    /// Address behind the last.
    pub end_address: u64,
    /// What is there, for people: `free`, `program`, `malloc`, `archive`, `class space`, `heap`, `reserved by the kernel`, ...
    pub what: String,
    /// Whether nothing is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_free: Option<bool>,
    /// Whether the heap may lie there.
    pub may_hold_heap: bool,
}

/// What a GC log or a process says about its mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeOfLog {
    /// The file, or the process.
    pub source: String,
    /// Its mode; absent when the log does not say.
    pub mode: Option<crate::ModeRead>,
    /// `CMPRSS` mark and the like, for J9: whether references are compressed.
    pub j9_is_compressed: Option<bool>,
}

/// The stored form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapModes {
    /// [`crate::schema::HEAP_MODES`].
    pub schema: String,
    /// Version of Assay.
    pub assay_version: String,
    /// Cells, by JVM, collector and size.
    pub cells: Vec<ModeCell>,
    /// Thresholds, by JVM, collector and alignment.
    pub thresholds: Vec<ModeThreshold>,
    /// The address space below 64 GiB of a JVM on this host, sorted; what is in the way of a heap.
    pub address_map: Vec<AddressRange>,
    /// Home of the JVM whose addresses those are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_map_java: Option<String>,
    /// For a wanted heap size, if one was given.
    pub advice: Vec<Finding<RuleId>>,
    /// Modes of processes and logs, if any were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<ModeOfLog>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}
