//! Private offsets of one major version: facts that a JVM does not export.
//!
//! A pack is data, in the file of its release (`crates/jdk/releases/17.toml`): offsets of fields by type, read from the debug information of a build of
//! that version by `examples/layout_pack.rs`, which also verifies a pack. A pack lists exported fields as well: these
//! anchors are compared with what the running JVM exports, and a type of which an anchor differs is not used. What
//! reads with a pack's offsets checks what it finds besides, since a type without anchors may have moved too.

use crate::Structs;
use assay_jdk::Release;
use std::collections::BTreeMap;

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
    pub(crate) fn of(feature: u32, word_bytes: u64, structs: &Structs) -> Option<LayoutPack> {
        let release = Release::exactly(feature)?;
        let pack = if word_bytes == 8 { &release.pack } else { &release.pack_32 };
        let types = pack.as_ref()?.types.clone();
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
    /// made from. A reader that needs such a type finds nothing, and says so.
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
    use assay_jdk::Release;

    #[test]
    fn every_pack_has_what_its_parts_need() {
        for release in Release::all() {
            let Some(pack) = &release.pack else { continue };
            let needed: &[&str] = match release.feature {
                ..11 => &["VirtualSpaceList", "VirtualSpaceNode"],
                11..16 => &["metaspace::VirtualSpaceNode", "G1RegionToSpaceMapper", "PSVirtualSpace"],
                _ => &["metaspace::Metachunk", "Arena", "G1RegionToSpaceMapper", "PSVirtualSpace"],
            };
            for type_name in needed {
                assert!(pack.types.contains_key(*type_name), "{}: {type_name}", release.feature);
            }
        }
    }
}
