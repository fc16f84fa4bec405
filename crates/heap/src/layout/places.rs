//! An object as a row of adjacent parts: header, fields, padding of the JVM, and loss.

use super::{ModelName, Sizes};
use assay_model::{FieldPlace, LayoutPart};

/// Parts of an object's header.
pub fn header(model: ModelName, sizes: &Sizes) -> Vec<FieldPlace> {
    let end = sizes.header_bytes;
    match model {
        ModelName::Compact | ModelName::CompactAlign16 | ModelName::Compact64 => {
            vec![header_part("mark and class", 0, end)]
        }
        // Flags are in the class pointer's low bits.
        ModelName::OpenJ9Compressed | ModelName::OpenJ9Full => vec![header_part("class", 0, end)],
        ModelName::Bits32 => vec![header_part("mark", 0, 4), header_part("class", 4, end)],
        _ => vec![header_part("mark", 0, 8), header_part("class", 8, end)],
    }
}

fn header_part(name: &str, start: u64, end: u64) -> FieldPlace {
    FieldPlace {
        part: LayoutPart::Header,
        offset_bytes: start,
        bytes: end - start,
        name: name.to_owned(),
        kind: String::new(),
        declared_by: String::new(),
    }
}

/// Sorts places, and names what lies between them and behind them.
pub fn without_gaps(mut places: Vec<FieldPlace>, instance_bytes: u64) -> Vec<FieldPlace> {
    places.sort_by_key(|place| place.offset_bytes);
    let mut row: Vec<FieldPlace> = Vec::with_capacity(places.len() + 4);
    let mut end = 0;
    for place in places {
        if end < place.offset_bytes {
            row.push(padding(end, place.offset_bytes));
        }
        end = place.offset_bytes + place.bytes;
        row.push(place);
    }
    if end < instance_bytes {
        row.push(padding(end, instance_bytes));
    }
    row
}

fn padding(start: u64, end: u64) -> FieldPlace {
    FieldPlace { part: LayoutPart::Padding, name: String::new(), ..header_part("", start, end) }
}
