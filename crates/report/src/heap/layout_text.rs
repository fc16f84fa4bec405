//! An object in every layout in letters, with a ruler of offsets.

use super::places::{alike, rows};
use assay_kit::byte_rows::{Row, RowSegment};
use assay_kit::ink::{Ink, fit};
use assay_kit::text::{clean, shorten};
use assay_model::{ClassLayout, FieldPlace, LayoutPart};

/// Left of a row: its first offset.
const INDENT: usize = 7;
/// Rows drawn of one object.
const ROWS_MAX: usize = 24;

/// A picture with a ruler of offsets in so many columns.
pub fn draw(layouts: &[ClassLayout], width: usize, ink: Ink) -> Vec<String> {
    let mut out = Vec::new();
    let groups = alike(layouts);
    let Some(largest) = layouts.iter().map(|l| l.instance_bytes).max() else { return out };
    let (row_bytes, columns) = measure(largest, width - INDENT - 1);
    out.push(indented(ink, &ruler(row_bytes, columns)));
    for group in &groups {
        let estimate = if group.layout.is_estimate { ", an estimate" } else { "" };
        let title =
            format!("{}  {} bytes{estimate}: {}", group.letter, group.layout.instance_bytes, group.names);
        out.push(ink.bold(&shorten(&title, width)));
        let rows = rows(group.layout, row_bytes, ROWS_MAX);
        let alone = rows.len() == 1;
        for row in rows {
            match row {
                Row::Bytes(start, segments) => {
                    let start = if alone { String::new() } else { start.to_string() };
                    let drawn: String = segments
                        .iter()
                        .map(|s| segment(s, &group.layout.places[s.place], columns, ink))
                        .collect();
                    out.push(format!("{start:>left$} {drawn}│", left = INDENT - 1));
                }
                Row::LeftOut(bytes) => out.push(indented(ink, &format!("⋮ {bytes} bytes of the same"))),
                Row::Rest(bytes) => out.push(indented(ink, &format!("⋮ {bytes} bytes more"))),
            }
        }
    }
    out.push(indented(ink, "│ begins a place, · is padding, + a field of the JVM"));
    out
}

/// A quiet line below the offsets' column.
fn indented(ink: Ink, text: &str) -> String {
    format!("{}{}", " ".repeat(INDENT), ink.dim(text))
}

/// Bytes in a row and columns for each: as wide as there is room.
fn measure(largest: u64, room: usize) -> (u64, usize) {
    for columns in [4, 3, 2] {
        if usize::try_from(largest).is_ok_and(|bytes| bytes.max(8) <= room / columns) {
            return (largest.max(8), columns);
        }
    }
    ((room / 2 / 8 * 8).max(8) as u64, 2)
}

/// Offsets over the picture, every eight bytes.
fn ruler(row_bytes: u64, columns: usize) -> String {
    let step = 8 * columns;
    (0..row_bytes)
        .step_by(8)
        .map(|offset| format!("{offset:<step$}"))
        .collect::<String>()
        .trim_end()
        .to_owned()
}

fn segment(of: &RowSegment, place: &FieldPlace, columns: usize, ink: Ink) -> String {
    let room = usize::try_from(of.bytes).unwrap_or(0).min(4096) * columns - 1;
    let name = clean(&place.name);
    let edge = if of.begins { '│' } else { ' ' };
    let text = match (of.begins, place.part) {
        (_, LayoutPart::Padding) => "·".repeat(room),
        (false, _) => " ".repeat(room),
        (true, LayoutPart::Injected) => fit(&format!("+{name}"), room),
        (true, _) => fit(&name, room),
    };
    let text = match place.part {
        LayoutPart::Header | LayoutPart::Padding => ink.dim(&text),
        LayoutPart::Injected => ink.warn(&text),
        LayoutPart::Field => text,
    };
    format!("{edge}{text}")
}

/// Bytes of one part of an object.
pub fn bytes_of(layout: &ClassLayout, part: LayoutPart) -> u64 {
    let parts = layout.places.iter().filter(|p| p.part == part);
    parts.fold(0, |sum, p| sum.saturating_add(p.bytes))
}
