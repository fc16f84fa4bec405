//! What all rules of layout work on: fields that want a place, and what a class leaves to those below it.

use super::{ModelName, Sizes};
use crate::{ClassShape, FieldKind};
use assay_jdk::objects::{InjectedKind, ObjectFacts};

/// Whether a field is kept away from others (`@Contended`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention<'a> {
    /// It is not.
    None,
    /// From all others.
    Alone,
    /// From those that are not of this group.
    Group(&'a str),
}

/// A field to be placed.
#[derive(Debug, Clone, Copy)]
pub struct FieldToPlace<'a> {
    /// Its name.
    pub name: &'a str,
    /// Java's name of its type; `reference`; `word` where the JVM says no more.
    pub kind: &'static str,
    /// Its size, which is its alignment too: 1, 2, 4 or 8.
    pub bytes: u64,
    /// Whether it refers to an object.
    pub is_reference: bool,
    /// Whether the JVM adds it.
    pub is_injected: bool,
    /// Whether it is kept apart.
    pub contention: Contention<'a>,
}

/// What a class leaves to classes below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InheritedLayout {
    /// Where fields and padding end.
    pub end: u64,
    /// Where the last field ends; the header's end where there is none.
    pub fields_end: u64,
    /// What is free between header and the last field's end, sorted. They stay few: a field makes one only where it fits
    /// none.
    pub holes: Vec<Hole>,
    /// Whether the last field is a reference.
    pub ends_with_reference: bool,
    /// Whether something of it or of a class above is contended.
    pub is_apart: bool,
    /// Whether it or a class above has fields.
    pub has_fields: bool,
    /// OpenJ9: whether it or a class above has a lock word.
    pub has_lock_word: bool,
}

impl InheritedLayout {
    /// Behind the header of an object.
    pub fn header(sizes: &Sizes) -> InheritedLayout {
        let end = sizes.header_bytes;
        InheritedLayout {
            end,
            fields_end: end,
            holes: Vec::new(),
            ends_with_reference: false,
            is_apart: false,
            has_fields: false,
            has_lock_word: false,
        }
    }
}

/// Bytes of a machine's word.
pub fn word_bytes(model: ModelName) -> u64 {
    if model == ModelName::Bits32 { 4 } else { 8 }
}

/// Own fields of a class: those that it declares, in its order, and behind them those that the JVM adds.
pub fn wanted<'a>(
    shape: &'a ClassShape,
    facts: &'a ObjectFacts,
    sizes: &Sizes,
    word_bytes: u64,
) -> Vec<FieldToPlace<'a>> {
    let apart = facts.contended_fields(&shape.name);
    let declared = shape.fields.iter().map(|field| FieldToPlace {
        name: &field.name,
        kind: kind_name(field.kind),
        bytes: sizes.bytes_of(field.kind),
        is_reference: field.kind == FieldKind::Reference,
        is_injected: false,
        contention: match apart.and_then(|apart| apart.get(&*field.name)) {
            None => Contention::None,
            Some(group) if group.is_empty() => Contention::Alone,
            Some(group) => Contention::Group(group),
        },
    });
    let injected = facts.injected(&shape.name).iter().map(|field| FieldToPlace {
        name: &field.name,
        kind: field.kind.name(),
        bytes: field.kind.bytes(word_bytes, sizes.reference_bytes),
        is_reference: field.kind == InjectedKind::Reference,
        is_injected: true,
        contention: Contention::None,
    });
    declared.chain(injected).collect()
}

/// Whether a static field of the class is contended. It gets no padding of its own, but classes below are kept apart as
/// below any class with something contended.
pub fn has_contended_static(shape: &ClassShape, facts: &ObjectFacts) -> bool {
    let Some(apart) = facts.contended_fields(&shape.name) else { return false };
    shape.statics.iter().any(|field| apart.contains_key(&*field.name))
}

/// Java's name of a field's type.
pub fn kind_name(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Primitive(primitive) => primitive.name(),
        FieldKind::Reference => "reference",
    }
}

/// A gap without a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Where it begins.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

impl Hole {
    pub fn fits(&self, bytes: u64) -> bool {
        self.start.next_multiple_of(bytes) + bytes <= self.end
    }
}
