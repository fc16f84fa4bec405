//! What no heap dump and no class file says about the layout of JDK classes: fields that the JVM adds, and fields and
//! classes that it keeps away from others' cache lines.
//!
//! A table for each release that could be looked at, in `facts/`. A release without a table gets that of the nearest lower
//! one: such fields come and go with releases, so a few classes of it may be off. [`Facts::release`] says which it is.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The facts of one release.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Feature release.
    #[serde(skip)]
    pub release: u32,
    /// The version of the JVM that the table was held against; absent where it is from the JDK's sources alone.
    pub verified_with: Option<String>,
    contended_classes: BTreeSet<String>,
    contended_fields: BTreeMap<String, BTreeMap<String, String>>,
    injected: BTreeMap<String, Vec<InjectedField>>,
}

/// A field that the JVM adds to a class.
#[derive(Debug, Clone, Deserialize)]
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

const TABLES: [(u32, &str); 5] = [
    (8, include_str!("../../facts/8.toml")),
    (11, include_str!("../../facts/11.toml")),
    (17, include_str!("../../facts/17.toml")),
    (21, include_str!("../../facts/21.toml")),
    (25, include_str!("../../facts/25.toml")),
];

static FACTS: LazyLock<Vec<Arc<Facts>>> = LazyLock::new(|| {
    let tables = TABLES.iter().map(|(release, text)| {
        // A table that is no TOML would be a mistake of ours: `every_table_can_be_read` finds it.
        let facts: Facts = toml::from_str(text).unwrap_or_default();
        Arc::new(Facts { release: *release, ..facts })
    });
    tables.collect()
});

impl Facts {
    /// Of a release: its own table, else that of the nearest lower one, else the lowest.
    pub fn of(jdk: u32) -> Arc<Facts> {
        let facts = FACTS.iter().rev().find(|facts| facts.release <= jdk).or(FACTS.first());
        facts.cloned().unwrap_or_default()
    }

    /// With another class that is kept apart as a whole: with `-XX:-RestrictContended` the JVM heeds the annotation in
    /// classes of applications too.
    #[must_use]
    pub fn with_contended_class(mut self, class: &str) -> Facts {
        self.contended_classes.insert(class.to_owned());
        self
    }

    /// With another field that is kept apart; the group is empty for a field that is so alone.
    #[must_use]
    pub fn with_contended_field(mut self, class: &str, field: &str, group: &str) -> Facts {
        let fields = self.contended_fields.entry(class.to_owned()).or_default();
        fields.insert(field.to_owned(), group.to_owned());
        self
    }

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
    use super::*;

    #[test]
    fn every_table_can_be_read() {
        for (release, text) in TABLES {
            let facts: Facts = toml::from_str(text).expect("a table");
            assert!(!facts.injected("java.lang.Class").is_empty(), "{release}");
            assert!(facts.is_contended("java.util.concurrent.atomic.Striped64$Cell"), "{release}");
        }
    }

    #[test]
    fn a_release_without_a_table_gets_the_nearest_lower_one() {
        let release_of = |jdk| Facts::of(jdk).release;
        assert_eq!([8, 10, 11, 12, 17, 20, 24, 25, 30].map(release_of), [8, 8, 11, 11, 17, 17, 21, 25, 25]);
        assert_eq!(release_of(0), TABLES[0].0);
    }
}
