//! Things of bytes to scale, cut into rows: what lies where, without long empty ranges.

use crate::axes::LABEL_SIZE;
use crate::ink::wrap;
use crate::letters::whole;
use crate::svg::{Anchor, Svg, chars_that_fit};

/// Left of a row: its first offset.
const LEFT: f64 = 34.0;
const RULER: f64 = 22.0;
const ROW: f64 = 27.0;
const LINE: f64 = 17.0;
const GAP: f64 = 12.0;
/// Rows drawn of one thing.
const ROWS_MAX: usize = 24;

/// The part of a place that lies in one row.
pub struct RowSegment {
    /// Index of the place it belongs to.
    pub place: usize,
    /// First byte, counted from the row's start.
    pub from: u64,
    /// Bytes of it in this row.
    pub bytes: u64,
    /// Whether the place begins here, or in an earlier row.
    pub begins: bool,
}

/// A row of the picture.
pub enum Row {
    /// Bytes from this offset on.
    Bytes(u64, Vec<RowSegment>),
    /// So many bytes inside one place, not drawn.
    LeftOut(u64),
    /// So many bytes behind the last row that is drawn.
    Rest(u64),
}

/// Rows of `row_bytes` each, at most `rows_max` of them, of places (offset and length) in something of `bytes`. Whole rows
/// inside one place are left out from two on.
pub fn rows(places: &[(u64, u64)], bytes: u64, row_bytes: u64, rows_max: usize) -> Vec<Row> {
    let row_bytes = row_bytes.max(1);
    let mut rows: Vec<Row> = Vec::new();
    for (place, (offset, length)) in places.iter().copied().enumerate().filter(|(_, p)| p.1 > 0) {
        let end = offset.saturating_add(length);
        let mut at = offset;
        while at < end {
            let drawn = rows.len();
            let whole_rows = if at % row_bytes == 0 { (end - at) / row_bytes } else { 0 };
            if whole_rows >= 2 {
                rows.push(Row::LeftOut(whole_rows * row_bytes));
                at += whole_rows * row_bytes;
                continue;
            }
            let start = at - at % row_bytes;
            let next = start.saturating_add(row_bytes).min(end);
            let segment = RowSegment { place, from: at - start, bytes: next - at, begins: at == offset };
            match rows.last_mut() {
                Some(Row::Bytes(row, segments)) if *row == start => segments.push(segment),
                _ if drawn >= rows_max => {
                    rows.push(Row::Rest(bytes.saturating_sub(start)));
                    return rows;
                }
                _ => rows.push(Row::Bytes(start, vec![segment])),
            }
            at = next;
        }
    }
    rows
}

/// A place of a thing.
pub struct Place {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Class of its fill.
    pub class: &'static str,
    /// The name in it.
    pub name: String,
    /// What a pointer shows.
    pub tip: String,
    /// Whether it holds nothing: its name is then written in full, in a muted colour, or not at all.
    pub is_empty: bool,
}

/// A thing with the line over it.
pub struct RowGroup {
    /// The line over it.
    pub title: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its parts, in order.
    pub places: Vec<Place>,
}

impl RowGroup {
    fn rows(&self, row_bytes: u64) -> Vec<Row> {
        let places: Vec<(u64, u64)> = self.places.iter().map(|p| (p.offset, p.bytes)).collect();
        rows(&places, self.bytes, row_bytes, ROWS_MAX)
    }
}

/// Things under each other in the width given; `words` are for those who do not see them.
pub fn draw(things: &[RowGroup], width: f64, (id, title, words): (&str, &str, &str)) -> String {
    let largest = things.iter().map(|t| t.bytes).max().unwrap_or(0);
    let widths: &[u64] = if width > 600.0 { &[16, 24, 32, 40, 48, 64] } else { &[16, 24] };
    let row_bytes = widths.iter().copied().find(|w| *w >= largest).unwrap_or(widths[widths.len() - 1]);
    let byte = (width - LEFT - 2.0) / row_bytes as f64;
    let line_chars = chars_that_fit(width - 4.0, LABEL_SIZE);
    let drawn: Vec<(Vec<String>, &RowGroup, Vec<Row>)> =
        things.iter().map(|t| (wrap(&t.title, line_chars), t, t.rows(row_bytes))).collect();
    let height_of = |(title, _, rows): &(Vec<String>, &RowGroup, Vec<Row>)| {
        title.len() as f64 * LINE + rows.iter().map(row_height).sum::<f64>() + GAP
    };
    let height = RULER + drawn.iter().map(height_of).sum::<f64>();
    let mut svg = Svg::new(width, height);
    let grid = |svg: &mut Svg, from: f64, to: f64| {
        for x in (0..=row_bytes).step_by(8).map(|offset| LEFT + offset as f64 * byte) {
            svg.line((x, from), (x, to), "g");
        }
    };
    grid(&mut svg, RULER - 6.0, RULER);
    for offset in (0..=row_bytes).step_by(8) {
        let x = LEFT + offset as f64 * byte;
        let anchor = if offset == row_bytes { Anchor::End } else { Anchor::Middle };
        svg.text((x, 12.0), anchor, "t", &offset.to_string());
    }
    let mut top = RULER;
    for (lines, thing, rows) in &drawn {
        for line in lines {
            svg.text((2.0, top + 12.0), Anchor::Start, "lab head-name", line);
            top += LINE;
        }
        let alone = rows.len() == 1;
        for row in rows {
            match row {
                Row::Bytes(start, segments) => {
                    grid(&mut svg, top - 1.0, top + row_height(row));
                    if !alone {
                        svg.text((LEFT - 6.0, top + 17.0), Anchor::End, "t", &start.to_string());
                    }
                    segments
                        .iter()
                        .for_each(|s| draw_segment(&mut svg, &thing.places[s.place], s, top, byte));
                }
                Row::LeftOut(bytes) => note(&mut svg, top, &format!("⋮ {bytes} bytes of the same")),
                Row::Rest(bytes) => note(&mut svg, top, &format!("⋮ {bytes} bytes more, see the table")),
            }
            top += row_height(row);
        }
        top += GAP;
    }
    svg.finish(id, title, words)
}

fn row_height(row: &Row) -> f64 {
    if matches!(row, Row::Bytes(..)) { ROW } else { LINE }
}

fn note(svg: &mut Svg, top: f64, text: &str) {
    svg.text((LEFT + 4.0, top + 12.0), Anchor::Start, "t lab", text);
}

fn draw_segment(svg: &mut Svg, place: &Place, segment: &RowSegment, top: f64, byte: f64) {
    let (x, wide) = (LEFT + segment.from as f64 * byte, segment.bytes as f64 * byte);
    svg.rect((x, top), (wide, ROW - 3.0), place.class, &place.tip);
    let name = whole(&place.name, wide - 5.0, LABEL_SIZE).filter(|_| segment.begins);
    if let Some(name) = name {
        let class = if place.is_empty { "t lab" } else { "lab" };
        svg.text((x + wide / 2.0, top + 16.5), Anchor::Middle, class, &name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lengths: &[u64], row_bytes: u64, rows_max: usize) -> Vec<String> {
        let mut bytes = 0;
        let place = |length: &u64| {
            bytes += length;
            (bytes - length, *length)
        };
        let places: Vec<(u64, u64)> = lengths.iter().map(place).collect();
        let told = |row: &Row| match row {
            Row::Bytes(at, parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|s| format!("{}+{}{}", s.from, s.bytes, if s.begins { "" } else { "~" }))
                    .collect();
                format!("{at}: {}", parts.join(" "))
            }
            Row::LeftOut(bytes) => format!("left out {bytes}"),
            Row::Rest(bytes) => format!("rest {bytes}"),
        };
        rows(&places, bytes, row_bytes, rows_max).iter().map(told).collect()
    }

    #[test]
    fn rows_hold_every_byte_once_and_leave_long_nothing_out() {
        let object = [12, 132, 8, 8];
        let wanted = ["0: 0+12 12+20", "left out 96", "128: 0+16~ 16+8 24+8"];
        assert_eq!(told(&object, 32, 9), wanted);
        assert_eq!(told(&object, 32, 1), ["0: 0+12 12+20", "left out 96", "rest 32"]);
        assert_eq!(told(&object, 64, 9), ["0: 0+12 12+52", "64: 0+64~", "128: 0+16~ 16+8 24+8"]);
    }

    #[test]
    fn sizes_beyond_all_reason_end() {
        let places = [(0, 8), (8, u64::MAX - 8)];
        assert!(rows(&places, u64::MAX, 16, 4).len() <= 6);
        assert!(rows(&[(0, 8), (u64::MAX - 1, u64::MAX - 8)], u64::MAX, 16, 4).len() <= 6);
        assert!(rows(&[(0, 8); 9], u64::MAX, 16, 4).len() <= 6);
    }
}
