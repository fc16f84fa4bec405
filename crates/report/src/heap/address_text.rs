//! The first 64 GiB of addresses in letters: where a heap may lie, and what is in the way.

use assay_kit::ink::Ink;
use assay_model::AddressRange;

const GIB: u64 = 1 << 30;

/// Columns of the strip: two GiB each, so that the narrowest terminal has room for it.
const COLUMNS: u64 = 32;

/// A column for each two GiB, and what the columns mean.
pub fn draw(map: &[AddressRange], ink: Ink) -> Vec<String> {
    let mut marks = " ".repeat(COLUMNS as usize);
    for (column, label) in [(0, "0"), (2, "4 GiB"), (16, "32 GiB"), (26, "64 GiB")] {
        marks.replace_range(column..column + label.len(), label);
    }
    let key = "░ free for a heap, ▒ in part, █ in the way";
    vec![strip(map), ink.dim(&marks), ink.dim(key)]
}

fn strip(map: &[AddressRange]) -> String {
    let column = |column: u64| {
        let (from, to) = (2 * column * GIB, 2 * (column + 1) * GIB);
        let inside = |r: &&AddressRange| r.start_address < to && r.end_address > from;
        let mut here = map.iter().filter(inside).peekable();
        if here.peek().is_none() {
            return ' ';
        }
        let (mut may, mut not) = (false, false);
        here.for_each(|r| if r.may_hold_heap { may = true } else { not = true });
        match (may, not) {
            (true, false) => '░',
            (true, true) => '▒',
            _ => '█',
        }
    };
    (0..COLUMNS).map(column).collect()
}
