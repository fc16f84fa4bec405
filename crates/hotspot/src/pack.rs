//! Private offsets of one major version: facts that a JVM does not export.
//!
//! A pack is a file of data, `packs/17.toml`: offsets of fields by type, read from the debug information of a build of
//! that version by `examples/layout_pack.rs`, which also verifies a pack. A pack lists exported fields as well: these
//! anchors are compared with what the running JVM exports, and a type of which an anchor differs is not used. What
//! reads with a pack's offsets checks what it finds besides, since a type without anchors may have moved too.

use crate::Hotspot;
use std::collections::BTreeMap;

/// The packs that there are: feature release and file. All are for 64-bit JVMs.
const PACKS: [(u32, &str); 3] = [
    (17, include_str!("../packs/17.toml")),
    (21, include_str!("../packs/21.toml")),
    (25, include_str!("../packs/25.toml")),
];

/// Offsets by type and field.
type Types = BTreeMap<String, BTreeMap<String, u64>>;

/// Private offsets of this major version.
#[derive(Debug, Clone, Default)]
pub struct LayoutPack {
    feature: u32,
    refused: Vec<String>,
    unsure: Types,
    types: Types,
}

impl LayoutPack {
    /// The pack of a running JVM, without the types of which an anchor differs.
    pub(crate) fn of(hotspot: &Hotspot<'_>) -> Option<LayoutPack> {
        let feature = hotspot.version()?.feature;
        let (_, text) = PACKS.iter().find(|(known, _)| *known == feature)?;
        if hotspot.symbols().word_bytes() != 8 {
            return None;
        }
        let types: Types = match toml::from_str(text) {
            Ok(types) => types,
            Err(e) => {
                hotspot.problem("layout pack", format!("{feature}: {e}"));
                return None;
            }
        };
        let structs = hotspot.structs();
        let differing = |type_name: &String, fields: &BTreeMap<String, u64>| {
            let mut anchors = fields.iter().filter_map(|(field, offset)| {
                let exported = match field.as_str() {
                    SIZE => structs.size_of(type_name),
                    field => structs.offset(type_name, field),
                };
                Some((field, offset, exported?))
            });
            let (field, offset, exported) = anchors.find(|(_, offset, exported)| exported != *offset)?;
            Some(format!("{type_name}::{field} is {exported}, not {offset}"))
        };
        let refused = types.iter().filter_map(|(type_name, fields)| differing(type_name, fields)).collect();
        let (types, unsure) = types.into_iter().partition(|(name, fields)| differing(name, fields).is_none());
        Some(LayoutPack { feature, refused, unsure, types })
    }

    /// Types that are not used because an anchor differs, with that anchor: this build is not the one that the pack was
    /// made from. Whoever needs such a type finds nothing, and says so.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Feature release.
    pub fn feature(&self) -> u32 {
        self.feature
    }

    /// Offset of a field in objects of a type.
    pub fn offset(&self, type_name: &str, field: &str) -> Option<u64> {
        self.types.get(type_name)?.get(field).copied()
    }

    /// Where a field is about, also of types that are not used because an anchor differs: for a search near it, whose
    /// finds must prove what they are.
    pub(crate) fn about(&self, type_name: &str, field: &str) -> Option<u64> {
        self.offset(type_name, field).or_else(|| self.unsure.get(type_name)?.get(field).copied())
    }

    /// Size of a type in bytes.
    pub fn size_of(&self, type_name: &str) -> Option<u64> {
        self.offset(type_name, SIZE)
    }
}

/// The key under which a pack has a type's size.
const SIZE: &str = "sizeof";

#[cfg(test)]
mod tests {
    use super::{PACKS, Types};

    #[test]
    fn every_pack_is_read_and_has_what_its_parts_need() {
        for (feature, text) in PACKS {
            let types: Types = toml::from_str(text).unwrap_or_else(|e| panic!("{feature}: {e}"));
            for type_name in ["metaspace::Metachunk", "Arena", "G1RegionToSpaceMapper", "PSVirtualSpace"] {
                assert!(types.contains_key(type_name), "{feature}: {type_name}");
            }
        }
    }
}
