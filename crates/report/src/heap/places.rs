//! An object's layout for pictures in text and in SVG: models that lay it out alike are shown once, with their fields.

use assay_kit::byte_rows::{self, Row};
use assay_model::{ClassLayout, FieldPlace};

/// Models that lay a class out alike.
pub struct SameLayout<'a> {
    /// `A`, `B`, ...: what tables name it by.
    pub letter: String,
    /// Names of the models, joined by commas.
    pub names: String,
    /// One of them.
    pub layout: &'a ClassLayout,
}

/// Layouts in their order; those with the same places as an earlier one are added to its names.
pub fn alike(layouts: &[ClassLayout]) -> Vec<SameLayout<'_>> {
    let mut groups: Vec<SameLayout> = Vec::new();
    for layout in layouts {
        let name = layout.model.name.name();
        let same = |g: &&mut SameLayout| {
            g.layout.places == layout.places
                && g.layout.instance_bytes == layout.instance_bytes
                && g.layout.is_estimate == layout.is_estimate
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.names += &format!(", {name}"),
            None => groups.push(SameLayout { letter: letter(groups.len()), names: name.to_owned(), layout }),
        }
    }
    groups
}

fn letter(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

/// Rows of `row_bytes` each, at most `rows_max` of them.
pub fn rows(layout: &ClassLayout, row_bytes: u64, rows_max: usize) -> Vec<Row> {
    let places: Vec<(u64, u64)> = layout.places.iter().map(|p| (p.offset_bytes, p.bytes)).collect();
    byte_rows::rows(&places, layout.instance_bytes, row_bytes, rows_max)
}

/// What a reader compares in a table: a field of the class by name, in each group its place. Fields are in the order of
/// the first group that has them; the class that declares them distinguishes those of the same name.
pub fn fields<'a>(groups: &[SameLayout<'a>]) -> Vec<(&'a FieldPlace, Vec<Option<&'a FieldPlace>>)> {
    use assay_model::LayoutPart;
    let is_field = |p: &&FieldPlace| matches!(p.part, LayoutPart::Field | LayoutPart::Injected);
    let same = |a: &FieldPlace, b: &FieldPlace| {
        a.part == b.part && a.name == b.name && a.declared_by == b.declared_by
    };
    let mut known: Vec<&FieldPlace> = Vec::new();
    for group in groups {
        for place in group.layout.places.iter().filter(is_field) {
            if known.len() < FIELDS_MAX && !known.iter().any(|k| same(k, place)) {
                known.push(place);
            }
        }
    }
    let of = |field: &&'a FieldPlace| {
        let place = |g: &SameLayout<'a>| g.layout.places.iter().find(|p| same(p, field));
        groups.iter().map(place).collect()
    };
    known.iter().map(|field| (*field, of(field))).collect()
}

/// Fields of a table: a class may have 65,535.
pub const FIELDS_MAX: usize = 600;
