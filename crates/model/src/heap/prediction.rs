//! `assay heap predict`: what a heap occupies in every model.

use super::{ClassLayout, ModelName};
use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model in which the objects were found, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DumpModel {
    /// The model.
    pub name: ModelName,
    /// What shows it, with figures: how many neighbours in memory agree, how many contradict.
    pub evidence: String,
    /// Feature release of the JDK that ran; absent where the heap does not have its version.
    pub jdk: Option<u32>,
    /// Its whole version, where the heap has it: `17.0.15`; otherwise the releases whose classes have the same fields: `15 to 18`.
    pub jdk_version: Option<String>,
    /// Alignment of objects in bytes, inferred from their addresses.
    pub alignment_bytes: Option<u64>,
}

/// The parts of a size. They add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FootprintParts {
    /// Mark words, class pointers, lengths of arrays, and what is lost before an array's first element.
    pub headers_bytes: u64,
    /// Fields and elements that refer to objects.
    pub references_bytes: u64,
    /// Fields and elements that are numbers, and fields that the JVM adds that are not references.
    pub primitives_bytes: u64,
    /// What alignment, gaps and `@Contended` lose.
    pub padding_bytes: u64,
}

/// A class in one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassFootprint {
    /// External name: `java.lang.String`, `byte[]`, `java.lang.String[]`. Loaders may have one each of a name: they are
    /// listed apart.
    pub name: String,
    /// Objects.
    pub instances: u64,
    /// Bytes of all its objects.
    pub bytes: u64,
}

/// The heap in one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFootprint {
    /// The model's name.
    pub name: ModelName,
    /// Feature release whose layout rules were used.
    pub jdk: u32,
    /// Whether it is an estimate (OpenJ9), or rules of the JVM.
    pub is_estimate: bool,
    /// Whether JVMs of that release can have it.
    #[serde(default = "in_release")]
    pub is_in_release: bool,
    /// Bytes of all objects.
    pub total_bytes: u64,
    /// Total less the total in the model of the dump; absent when that is not known.
    pub difference_bytes: Option<i64>,
    /// Its parts.
    pub parts: FootprintParts,
    /// Every class that has objects, in the same order in every model: by bytes in the model of the dump, most first.
    pub classes: Vec<ClassFootprint>,
}

/// The value of results that were stored before the key was.
pub(super) const fn in_release() -> bool {
    true
}

/// How a heap fits another mode's limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrossOver {
    /// The model it would have.
    pub name: ModelName,
    /// What the same objects occupy in it.
    pub total_bytes: u64,
    /// The largest `-Xmx` that gets this model (with zero-based decoding, where `decoding` says so); absent where memory is
    /// the only limit.
    pub max_heap_bytes: Option<u64>,
    /// Of a model beyond a limit: the smallest `-Xmx` that holds as many objects as the largest below the limit does. Sizes
    /// between hold fewer. Absent where there is no such limit below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_even_bytes: Option<u64>,
    /// `unscaled`, `zero-based`, `base`; absent where references are full.
    pub decoding: Option<String>,
    /// One sentence: what it means for this heap.
    pub claim: String,
}

/// A GC log's allocation in a model, if garbage is composed like the objects found in the heap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GarbageInModel {
    /// The model's name.
    pub name: ModelName,
    /// Freed bytes for each second of the log.
    pub freed_bytes_per_s: f64,
    /// Total in this model by the total in the model of the JVM that wrote the log; in that of the dump where the log does
    /// not tell.
    pub ratio: f64,
}

/// The stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeapPrediction {
    /// [`crate::schema::HEAP_PREDICTION`].
    pub schema: String,
    /// Version of Assay.
    pub assay_version: String,
    /// The dump's path, `stdin`, or the process.
    pub source: String,
    /// The model in which the objects were found; absent when the heap does not show it.
    pub dump_model: Option<ModelName>,
    /// What shows it.
    pub dump: Option<DumpModel>,
    /// Whether the objects are only those of the part of the heap that could be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// Objects: instances, arrays, classes' mirrors.
    pub objects: u64,
    /// One for each model, in the models' order.
    pub models: Vec<ModelFootprint>,
    /// Heap sizes at which another model pays.
    pub cross_overs: Vec<CrossOver>,
    /// From a GC log, if one was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub garbage: Vec<GarbageInModel>,
    /// The basis of those figures, in words: the log, its span, and that garbage is composed as the heap is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garbage_basis: Option<String>,
    /// One class laid out in every model: the requested one, else the instance class that changes most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub example: Vec<ClassLayout>,
    /// How long the process was stopped, if it was a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_ms: Option<f64>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl HeapPrediction {
    /// The heap in a model; `None` when that was not asked for.
    pub fn model(&self, name: ModelName) -> Option<&ModelFootprint> {
        self.models.iter().find(|model| model.name == name)
    }
}
