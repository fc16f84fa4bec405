//! An object in every model for the terminal: a picture with its ruler, and a table of offsets.

use super::places::{FIELDS_MAX, SameLayout, alike, fields, rows};
use assay_kit::byte_rows::{Row, RowSegment};
use assay_kit::ink::{Ink, fit};
use assay_kit::text::{clean, shorten};
use assay_kit::{Terminal, TerminalView};
use assay_model::{ClassLayout, FieldPlace, HeapLayouts, LayoutPart, Problem};

/// Left of a row: its first offset.
const INDENT: usize = 7;
/// Rows drawn of one object.
const ROWS_MAX: usize = 24;

/// One object in every model for the terminal: a picture with a ruler of offsets, and a table of the fields' places.
pub fn render(layouts: &HeapLayouts, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    let class = layouts.layouts.first().map_or("no class", |l| l.class.as_str());
    out.line(&out.ink.bold(&shorten(&clean(class), out.width)));
    out.paragraph(0, &format!("found in {}", clean(&layouts.source)), Ink::dim);
    draw(&mut out, &layouts.layouts);
    out.problems(&Problem::listed(&layouts.problems));
    out.finish()
}

/// Picture and table of one class's layouts.
fn draw(out: &mut Terminal, layouts: &[ClassLayout]) {
    let groups = alike(layouts);
    let Some(largest) = layouts.iter().map(|l| l.instance_bytes).max() else { return };
    let (row_bytes, columns) = measure(largest, out.width - INDENT - 1);
    out.blank();
    indented(out, &ruler(row_bytes, columns));
    for group in &groups {
        let estimate = if group.layout.is_estimate { ", an estimate" } else { "" };
        let title =
            format!("{}  {} bytes{estimate}: {}", group.letter, group.layout.instance_bytes, group.names);
        out.line(&out.ink.bold(&shorten(&title, out.width)));
        let rows = rows(group.layout, row_bytes, ROWS_MAX);
        let alone = rows.len() == 1;
        for row in rows {
            match row {
                Row::Bytes(start, stretches) => {
                    let start = if alone { String::new() } else { start.to_string() };
                    let drawn: String = stretches
                        .iter()
                        .map(|s| stretch(s, &group.layout.places[s.place], columns, out.ink))
                        .collect();
                    out.line(&format!("{start:>width$} {drawn}│", width = INDENT - 1));
                }
                Row::LeftOut(bytes) => indented(out, &format!("⋮ {bytes} bytes of the same")),
                Row::Rest(bytes) => indented(out, &format!("⋮ {bytes} bytes more")),
            }
        }
    }
    indented(out, "│ begins a place, dots are padding, + is a field that the JVM adds");
    table(out, &groups);
}

/// A quiet line below the offsets' column.
fn indented(out: &mut Terminal, text: &str) {
    out.line(&format!("{}{}", " ".repeat(INDENT), out.ink.dim(text)));
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

fn stretch(stretch: &RowSegment, place: &FieldPlace, columns: usize, ink: Ink) -> String {
    let room = usize::try_from(stretch.bytes).unwrap_or(0).min(4096) * columns - 1;
    let name = clean(&place.name);
    let edge = if stretch.begins { '│' } else { ' ' };
    let text = match (stretch.begins, place.part) {
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

const OFFSET: usize = 8;

/// Offset and size of each field, the columns as wide as there is room, several tables below each other where there is
/// too little.
fn table(out: &mut Terminal, groups: &[SameLayout]) {
    let fields = fields(groups);
    let name_width = (out.width.saturating_sub(10 + OFFSET * groups.len())).clamp(16, 34);
    let kind_width = 10;
    let columns = ((out.width - name_width - kind_width) / OFFSET).max(1);
    for (index, part) in groups.chunks(columns).enumerate() {
        let from = index * columns;
        let mut heading = format!("{}{}", fit("offset+size of", name_width), fit("type", kind_width));
        part.iter().for_each(|g| heading += &format!("{:>OFFSET$}", g.letter));
        out.blank();
        out.line(&out.ink.dim(&heading));
        let mut line = |name: &str, kind: &str, cell: &dyn Fn(usize, &SameLayout) -> String| {
            let name = fit(&shorten(name, name_width - 1), name_width);
            let kind = fit(&shorten(kind, kind_width - 1), kind_width);
            let cells = part.iter().enumerate().map(|(i, g)| format!("{:>OFFSET$}", cell(from + i, g)));
            out.line(&format!("{name}{kind}{}", cells.collect::<String>()));
        };
        line("(header)", "", &|_, g| format!("0+{}", bytes_of(g.layout, LayoutPart::Header)));
        for (field, places) in &fields {
            let plus = if field.part == LayoutPart::Injected { "+" } else { "" };
            line(&format!("{plus}{}", clean(&field.name)), &clean(&field.kind), &|i, _| {
                let place = places.get(i).copied().flatten();
                place.map_or("-".to_owned(), |p| format!("{}+{}", p.offset_bytes, p.bytes))
            });
        }
        line("(padding)", "", &|_, g| bytes_of(g.layout, LayoutPart::Padding).to_string());
        line("(instance)", "", &|_, g| g.layout.instance_bytes.to_string());
    }
    if fields.len() == FIELDS_MAX {
        out.line(&out.ink.dim(&format!("the first {FIELDS_MAX} fields (--json has all)")));
    }
}

/// Bytes of one part of an object.
pub fn bytes_of(layout: &ClassLayout, part: LayoutPart) -> u64 {
    let parts = layout.places.iter().filter(|p| p.part == part);
    parts.fold(0, |sum, p| sum.saturating_add(p.bytes))
}
