//! An object's layout cut into rows, for pictures in text and in SVG: what lies where, models that lay it out alike
//! told once, long stretches of nothing left out.

use assay_model::{ClassLayout, FieldPlace};

/// Models that lay a class out alike.
pub struct Alike<'a> {
    /// `A`, `B`, ...: what tables name it by.
    pub letter: String,
    /// Names of the models, joined by commas.
    pub names: String,
    /// One of them.
    pub layout: &'a ClassLayout,
}

/// Layouts in their order; those with the same places as an earlier one are added to its names.
pub fn alike(layouts: &[ClassLayout]) -> Vec<Alike<'_>> {
    let mut groups: Vec<Alike> = Vec::new();
    for layout in layouts {
        let name = layout.model.name.name();
        let same = |g: &&mut Alike| {
            g.layout.places == layout.places
                && g.layout.instance_bytes == layout.instance_bytes
                && g.layout.is_estimate == layout.is_estimate
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.names += &format!(", {name}"),
            None => groups.push(Alike { letter: letter(groups.len()), names: name.to_owned(), layout }),
        }
    }
    groups
}

fn letter(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

/// A stretch of a place inside one row.
pub struct Stretch<'a> {
    /// The place it belongs to.
    pub place: &'a FieldPlace,
    /// First byte, counted from the row's start.
    pub from: u64,
    /// Bytes of it in this row.
    pub bytes: u64,
    /// Whether the place begins here, or in an earlier row.
    pub begins: bool,
}

/// A row of the picture.
pub enum Row<'a> {
    /// Bytes from this offset on.
    Bytes(u64, Vec<Stretch<'a>>),
    /// So many bytes inside one place, not drawn.
    LeftOut(u64),
    /// So many bytes behind the last row that is drawn.
    Rest(u64),
}

/// Rows of `row_bytes` each, at most `rows_max` of them. Whole rows inside one place are left out from two on.
pub fn rows(layout: &ClassLayout, row_bytes: u64, rows_max: usize) -> Vec<Row<'_>> {
    let row_bytes = row_bytes.max(1);
    let mut rows: Vec<Row> = Vec::new();
    for place in layout.places.iter().filter(|p| p.bytes > 0) {
        let end = place.offset_bytes.saturating_add(place.bytes);
        let mut at = place.offset_bytes;
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
            let stretch =
                Stretch { place, from: at - start, bytes: next - at, begins: at == place.offset_bytes };
            match rows.last_mut() {
                Some(Row::Bytes(row, stretches)) if *row == start => stretches.push(stretch),
                _ if drawn >= rows_max => {
                    rows.push(Row::Rest(layout.instance_bytes.saturating_sub(start)));
                    return rows;
                }
                _ => rows.push(Row::Bytes(start, vec![stretch])),
            }
            at = next;
        }
    }
    rows
}

/// What a reader compares in a table: a field of the class by name, in each group its place. Fields are in the order of
/// the first group that has them; those of the same name are told apart by the class that declares them.
pub fn fields<'a>(groups: &[Alike<'a>]) -> Vec<(&'a FieldPlace, Vec<Option<&'a FieldPlace>>)> {
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
        let place = |g: &Alike<'a>| g.layout.places.iter().find(|p| same(p, field));
        groups.iter().map(place).collect()
    };
    known.iter().map(|field| (*field, of(field))).collect()
}

/// Fields of a table: a class may have 65,535.
pub const FIELDS_MAX: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{HeapModel, LayoutPart, ModelName};

    fn layout(parts: &[(LayoutPart, u64)]) -> ClassLayout {
        let mut at = 0;
        let mut places = Vec::new();
        for (part, bytes) in parts {
            let (name, kind, declared_by) = (String::new(), String::new(), String::new());
            places.push(FieldPlace { part: *part, offset_bytes: at, bytes: *bytes, name, kind, declared_by });
            at += bytes;
        }
        let model = HeapModel { name: ModelName::Compressed, jdk: 25 };
        ClassLayout { model, class: "C".into(), instance_bytes: at, is_estimate: false, places }
    }

    fn told(layout: &ClassLayout, row_bytes: u64, rows_max: usize) -> Vec<String> {
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
        rows(layout, row_bytes, rows_max).iter().map(told).collect()
    }

    #[test]
    fn rows_hold_every_byte_once_and_leave_long_nothing_out() {
        use LayoutPart::{Field, Header, Padding};
        let object = layout(&[(Header, 12), (Padding, 132), (Field, 8), (Padding, 8)]);
        let wanted = ["0: 0+12 12+20", "left out 96", "128: 0+16~ 16+8 24+8"];
        assert_eq!(told(&object, 32, 9), wanted);
        assert_eq!(told(&object, 32, 1), ["0: 0+12 12+20", "left out 96", "rest 32"]);
        assert_eq!(told(&object, 64, 9), ["0: 0+12 12+52", "64: 0+64~", "128: 0+16~ 16+8 24+8"]);
    }

    #[test]
    fn sizes_beyond_all_reason_end() {
        let mut object = layout(&[(LayoutPart::Header, 8), (LayoutPart::Field, u64::MAX - 8)]);
        assert!(rows(&object, 16, 4).len() <= 6);
        object.places[1].offset_bytes = u64::MAX - 1;
        assert!(rows(&object, 16, 4).len() <= 6);
        object.places = vec![object.places[0].clone(); 9];
        assert!(rows(&object, 16, 4).len() <= 6);
    }
}
