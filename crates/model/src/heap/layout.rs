//! `assay heap layout`: where the fields of a class are.

use super::HeapModel;
use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What lies at an offset of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutPart {
    /// Mark word, class pointer, length of an array.
    Header,
    /// A field that the class or a super class declares.
    Field,
    /// A field that the JVM adds.
    Injected,
    /// Nothing: before, between or behind fields.
    Padding,
}

/// A range of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldPlace {
    /// Its kind.
    pub part: LayoutPart,
    /// From the object's start on, in bytes.
    pub offset_bytes: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The field's name, or a word for the header's part: `mark`, `class`, `mark and class`; empty for padding.
    pub name: String,
    /// Java's name of the field's type: `int`, `reference`; empty where there is none.
    #[serde(rename = "type")]
    pub kind: String,
    /// The class that declares it; empty where there is none.
    pub declared_by: String,
}

/// An object of a class in one model. Places are sorted, touch each other, and add up to `instance_bytes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassLayout {
    /// The model.
    pub model: HeapModel,
    /// External name: `java.util.HashMap$Node`.
    pub class: String,
    /// Size of an instance in bytes, alignment included.
    pub instance_bytes: u64,
    /// Whether it is an estimate (OpenJ9), or rules of the JVM.
    pub is_estimate: bool,
    /// Whether JVMs of the model's release can have it.
    #[serde(default = "crate::heap::prediction::in_release")]
    pub is_in_release: bool,
    /// All parts, in order.
    pub places: Vec<FieldPlace>,
}

/// The stored form: one class in every model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapLayouts {
    /// [`crate::schema::HEAP_LAYOUT`].
    pub schema: String,
    /// Where the class was found: a dump, a class path, a process.
    pub source: String,
    /// One for each model, in the models' order.
    pub layouts: Vec<ClassLayout>,
    /// What could not be read.
    #[serde(default)]
    pub problems: Vec<Problem>,
}
