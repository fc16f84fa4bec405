//! One object in every model, to scale: the first figure of the study of compressed references, for any class.

use super::places::{Alike, Row, Stretch, rows};
use assay_kit::axes::LABEL_SIZE;
use assay_kit::ink::wrap;
use assay_kit::svg::{Anchor, Svg, chars_that_fit};
use assay_kit::text::{clean, shorten};
use assay_model::{FieldPlace, LayoutPart};

/// Left of a row: its first offset.
const LEFT: f64 = 34.0;
const RULER: f64 = 22.0;
const ROW: f64 = 27.0;
const LINE: f64 = 17.0;
const GAP: f64 = 12.0;
/// Rows drawn of one object.
const ROWS_MAX: usize = 24;
/// A name of fewer characters says nothing.
const CHARS_MIN: usize = 3;

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
pub fn key(groups: &[Alike]) -> Vec<(&'static str, String)> {
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
pub fn draw(groups: &[Alike], class: &str, width: f64, id: &str) -> String {
    let largest = groups.iter().map(|g| g.layout.instance_bytes).max().unwrap_or(0);
    let widths: &[u64] = if width > 600.0 { &[16, 24, 32, 40, 48, 64] } else { &[16, 24] };
    let row_bytes = widths.iter().copied().find(|w| *w >= largest).unwrap_or(widths[widths.len() - 1]);
    let byte = (width - LEFT - 2.0) / row_bytes as f64;
    let line_chars = chars_that_fit(width - 4.0, LABEL_SIZE);
    let drawn: Vec<(Vec<String>, Vec<Row>)> =
        groups.iter().map(|g| (title(g, line_chars), rows(g.layout, row_bytes, ROWS_MAX))).collect();
    let height_of = |(title, rows): &(Vec<String>, Vec<Row>)| {
        title.len() as f64 * LINE + rows.iter().map(row_height).sum::<f64>() + GAP
    };
    let height = RULER + drawn.iter().map(height_of).sum::<f64>();
    let mut svg = Svg::new(width, height);
    let mut offset = 0;
    while offset <= row_bytes {
        let x = LEFT + offset as f64 * byte;
        svg.line((x, RULER - 6.0), (x, height - GAP), "g");
        let anchor = if offset == row_bytes { Anchor::End } else { Anchor::Middle };
        svg.text((x, 12.0), anchor, "t", &offset.to_string());
        offset += 8;
    }
    let mut top = RULER;
    for (lines, rows) in &drawn {
        for line in lines {
            svg.text((2.0, top + 12.0), Anchor::Start, "lab head-name", line);
            top += LINE;
        }
        let alone = rows.len() == 1;
        for row in rows {
            match row {
                Row::Bytes(start, stretches) => {
                    if !alone {
                        svg.text((LEFT - 6.0, top + 17.0), Anchor::End, "t", &start.to_string());
                    }
                    stretches.iter().for_each(|s| draw_stretch(&mut svg, s, top, byte));
                }
                Row::LeftOut(bytes) => note(&mut svg, top, &format!("⋮ {bytes} bytes of the same")),
                Row::Rest(bytes) => note(&mut svg, top, &format!("⋮ {bytes} bytes more, see the table")),
            }
            top += row_height(row);
        }
        top += GAP;
    }
    let words: Vec<String> =
        groups.iter().map(|g| format!("{}: {} bytes", g.names, g.layout.instance_bytes)).collect();
    svg.finish(id, &format!("Layout of {class} by model"), &words.join(". "))
}

fn title(group: &Alike, chars: usize) -> Vec<String> {
    let estimate = if group.layout.is_estimate { ", an estimate" } else { "" };
    let (letter, bytes) = (&group.letter, group.layout.instance_bytes);
    wrap(&format!("{letter}: {bytes} bytes{estimate}, {}", group.names), chars)
}

fn row_height(row: &Row) -> f64 {
    if matches!(row, Row::Bytes(..)) { ROW } else { LINE }
}

fn note(svg: &mut Svg, top: f64, text: &str) {
    svg.text((LEFT + 4.0, top + 12.0), Anchor::Start, "t lab", text);
}

fn draw_stretch(svg: &mut Svg, stretch: &Stretch, top: f64, byte: f64) {
    let place = stretch.place;
    let (x, wide) = (LEFT + stretch.from as f64 * byte, stretch.bytes as f64 * byte);
    let name = match place.part {
        LayoutPart::Padding => "padding".to_owned(),
        _ => clean(&place.name),
    };
    let kind = if place.kind.is_empty() { String::new() } else { format!("{} ", clean(&place.kind)) };
    let tip = format!("{kind}{name}: offset {}, {} bytes", place.offset_bytes, place.bytes);
    svg.rect((x, top), (wide, ROW - 3.0), class(place), &tip);
    let chars = ((wide - 5.0) / (0.61 * LABEL_SIZE)).max(0.0) as usize;
    let fits = name.chars().count() <= chars;
    if stretch.begins && chars >= CHARS_MIN && (fits || place.part != LayoutPart::Padding) {
        let class = if place.part == LayoutPart::Padding { "t lab" } else { "lab" };
        svg.text((x + wide / 2.0, top + 16.5), Anchor::Middle, class, &shorten(&name, chars));
    }
}
