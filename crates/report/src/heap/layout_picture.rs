//! One object in every model, to scale: the first figure of the study of compressed references, for any class.

use super::places::SameLayout;
use assay_kit::byte_rows::{self, Place, RowGroup};
use assay_kit::text::clean;
use assay_model::{FieldPlace, LayoutPart};

/// Class of the fill of a place, as in the bars by part.
fn class(place: &FieldPlace) -> &'static str {
    match place.part {
        LayoutPart::Header => "f1 area",
        LayoutPart::Injected => "f6 area",
        LayoutPart::Padding => "pad",
        LayoutPart::Field if place.kind == "reference" => "f0 area",
        LayoutPart::Field => "f2 area",
    }
}

/// Kinds of places that occur, for the key.
pub fn key(groups: &[SameLayout]) -> Vec<(&'static str, String)> {
    let all = [
        ("f1 area", "header"),
        ("f0 area", "reference"),
        ("f2 area", "primitive field"),
        ("f6 area", "field that the JVM adds"),
        ("pad", "padding"),
    ];
    let occurs = |class_: &str| groups.iter().any(|g| g.layout.places.iter().any(|p| class(p) == class_));
    all.into_iter().filter(|(class, _)| occurs(class)).map(|(class, name)| (class, name.to_owned())).collect()
}

/// The drawing in the width given.
pub fn draw(groups: &[SameLayout], class: &str, width: f64, id: &str) -> String {
    let things: Vec<RowGroup> = groups.iter().map(thing).collect();
    let words: Vec<String> =
        groups.iter().map(|g| format!("{}: {} bytes", g.names, g.layout.instance_bytes)).collect();
    byte_rows::draw(&things, width, (id, &format!("Layouts of {class}"), &words.join(". ")))
}

fn thing(group: &SameLayout) -> RowGroup {
    let estimate = if group.layout.is_estimate { ", an estimate" } else { "" };
    let (letter, bytes) = (&group.letter, group.layout.instance_bytes);
    let title = format!("{letter}: {bytes} bytes{estimate}, {}", group.names);
    RowGroup { title, bytes, places: group.layout.places.iter().map(place).collect() }
}

fn place(place: &FieldPlace) -> Place {
    let is_empty = place.part == LayoutPart::Padding;
    let name = if is_empty { "padding".to_owned() } else { clean(&place.name) };
    let kind = if place.kind.is_empty() { String::new() } else { format!("{} ", clean(&place.kind)) };
    let tip = format!("{kind}{name}: offset {}, {} bytes", place.offset_bytes, place.bytes);
    Place { offset: place.offset_bytes, bytes: place.bytes, class: class(place), name, tip, is_empty }
}
