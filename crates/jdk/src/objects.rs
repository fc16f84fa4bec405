//! What no heap dump and no class file says about the layout of JDK classes: fields that the JVM adds, and fields and
//! classes that it keeps away from others' cache lines.
//!
//! A table for each release that could be looked at. A release without a table gets that of the nearest lower one: such
//! fields come and go with releases, so a few classes of it may be off. [`ObjectFacts::release`] says which it is.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The facts of one release.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectFacts {
    /// Feature release.
    #[serde(skip)]
    pub release: u32,
    /// The version of the JVM that the table was held against; absent where it is from the JDK's sources alone.
    #[serde(skip)]
    pub verified_with: Option<String>,
    /// Classes that are kept apart as a whole.
    pub contended_classes: BTreeSet<String>,
    /// Groups of the fields of a class that are kept apart, by field; the nameless group is each field for itself.
    pub contended_fields: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) injected: BTreeMap<String, Vec<InjectedField>>,
}

/// A field that the JVM adds to a class.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectedField {
    /// The JVM's name for it.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: InjectedKind,
}

/// What an added field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "Java's own names")]
pub enum InjectedKind {
    /// A machine's word: 4 bytes in a 32-bit JVM, else 8.
    Word,
    Reference,
    Long,
    Int,
    Short,
    Byte,
    Boolean,
}

impl InjectedKind {
    /// Its name in a picture of an object.
    pub fn name(self) -> &'static str {
        match self {
            InjectedKind::Word => "word",
            InjectedKind::Reference => "reference",
            InjectedKind::Long => "long",
            InjectedKind::Int => "int",
            InjectedKind::Short => "short",
            InjectedKind::Byte => "byte",
            InjectedKind::Boolean => "boolean",
        }
    }

    /// Its size in bytes.
    pub fn bytes(self, word_bytes: u64, reference_bytes: u64) -> u64 {
        match self {
            InjectedKind::Word => word_bytes,
            InjectedKind::Reference => reference_bytes,
            InjectedKind::Long => 8,
            InjectedKind::Int => 4,
            InjectedKind::Short => 2,
            InjectedKind::Byte | InjectedKind::Boolean => 1,
        }
    }
}

impl ObjectFacts {
    /// Fields that the JVM adds to a class, in its order, behind those that the class declares.
    pub fn injected(&self, class: &str) -> &[InjectedField] {
        self.injected.get(class).map_or(&[], Vec::as_slice)
    }

    /// Whether all fields of the class together are kept away from others.
    pub fn is_contended(&self, class: &str) -> bool {
        self.contended_classes.contains(class)
    }

    /// Groups of the class's fields that are kept apart, by field; the nameless group is each field for itself.
    pub fn contended_fields(&self, class: &str) -> Option<&BTreeMap<String, String>> {
        self.contended_fields.get(class)
    }
}

#[cfg(test)]
mod tests {
    use crate::Release;

    #[test]
    fn every_table_has_what_each_release_has() {
        for release in Release::all() {
            let (feature, objects) = (release.feature, &release.objects);
            assert!(!objects.injected("java.lang.Class").is_empty(), "{feature}");
            assert!(objects.is_contended("java.util.concurrent.atomic.Striped64$Cell"), "{feature}");
        }
    }
}
