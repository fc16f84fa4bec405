//! The first 64 GiB of addresses to scale, what is in the way of a heap, and how far each mode reaches: the second
//! figure of the study of compressed references, for this host.

use assay_kit::axes::LABEL_SIZE;
use assay_kit::letters::{text_width, within};
use assay_kit::strip::{self, Strip, StripSegment};
use assay_kit::svg::{Anchor, Svg};
use assay_kit::text::clean;
use assay_model::AddressRange;

const GIB: u64 = 1 << 30;
const WHOLE: u64 = 64 * GIB;
const LOW: u64 = 4 * GIB;
/// Modes with the first address that they do not reach, in GiB.
const REACHES: [(&str, u64); 4] = [
    ("unscaled, 32-bit: ends below 4 GiB", 4),
    ("zero-based, shift 3: ends below 32 GiB", 32),
    ("zero-based, shift 4 (alignment 16): ends below 64 GiB", 64),
    ("with a base, or 64-bit: anywhere, beyond too →", 64),
];
const REACH: f64 = 33.0;
/// Things in the way that get a number.
const NUMBERED_MAX: usize = 12;

/// The meaning of a range for a heap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It may lie there.
    May,
    /// Free, but not for a heap.
    Free,
    /// Something is there.
    InTheWay,
}

fn kind(range: &AddressRange) -> Kind {
    match (range.may_hold_heap, range.is_free.unwrap_or(false)) {
        (true, _) => Kind::May,
        (_, true) => Kind::Free,
        _ => Kind::InTheWay,
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::May => "f2 area",
        Kind::Free => "pad",
        Kind::InTheWay => "f9 area",
    }
}

/// Kinds that occur, for the key.
pub fn key(map: &[AddressRange]) -> Vec<(&'static str, String)> {
    let all = [
        (Kind::May, "a heap can be placed there"),
        (Kind::InTheWay, "in the way, numbered as in the table"),
        (Kind::Free, "free, but not for a heap"),
    ];
    let occurs = |k: &Kind| map.iter().any(|r| kind(r) == *k);
    all.into_iter().filter(|(k, _)| occurs(k)).map(|(k, name)| (class(k), name.to_owned())).collect()
}

/// Ranges with the number that picture and table know them by: the largest things in the way, in order of address.
pub fn numbered(map: &[AddressRange]) -> Vec<(&AddressRange, Option<usize>)> {
    let length = |r: &AddressRange| r.end_address.saturating_sub(r.start_address);
    let mut in_the_way: Vec<usize> = (0..map.len()).filter(|&i| kind(&map[i]) == Kind::InTheWay).collect();
    in_the_way.sort_by_key(|&i| std::cmp::Reverse(length(&map[i])));
    in_the_way.truncate(NUMBERED_MAX);
    in_the_way.sort_unstable();
    let number = |index: usize| in_the_way.iter().position(|i| *i == index).map(|n| n + 1);
    map.iter().enumerate().map(|(index, range)| (range, number(index))).collect()
}

/// What the strips show: thin things must not vanish under wide ones, so what is in the way comes last.
fn segments(ranges: &[(&AddressRange, Option<usize>)]) -> Vec<StripSegment> {
    let segment = |(range, number): &(&AddressRange, Option<usize>)| StripSegment {
        from: range.start_address,
        to: range.end_address,
        class: class(kind(range)),
        tip: format!("{}: {:#x} - {:#x}", clean(&range.what), range.start_address, range.end_address),
        number: *number,
    };
    let of = |wanted: Kind| ranges.iter().filter(move |(r, _)| kind(r) == wanted).map(segment);
    [Kind::Free, Kind::May, Kind::InTheWay].into_iter().flat_map(of).collect()
}

/// The drawing in the width given.
pub fn draw(map: &[AddressRange], width: f64, id: &str) -> String {
    let ranges = numbered(map);
    let segments = segments(&ranges);
    let upper = 22.0 + REACHES.len() as f64 * REACH + 26.0;
    let lower = upper + strip::HEIGHT + 26.0 + 50.0;
    let height = lower + strip::HEIGHT + 26.0;
    let mut svg = Svg::new(width, height);
    let whole = Strip { to: WHOLE, top: upper, width };
    reaches(&mut svg, &whole);
    whole.draw(&mut svg, &segments, (GIB, "GiB"), &[0, 4, 8, 16, 24, 32, 40, 48, 56, 64]);
    let low = Strip { to: LOW, top: lower, width };
    let join = whole.top + strip::HEIGHT + 22.0;
    svg.line((whole.at(0), join), (low.at(0), low.top - 24.0), "cut");
    svg.line((whole.at(LOW), join), (low.at(LOW), low.top - 24.0), "cut");
    svg.text((8.0, low.top - 26.0), Anchor::Start, "t lab", "the first 4 GiB, enlarged");
    low.draw(&mut svg, &segments, (GIB, "GiB"), &[0, 1, 2, 3, 4]);
    let in_the_way = ranges
        .iter()
        .filter_map(|(r, n)| Some(format!("{}: {} at {:#x}", (*n)?, clean(&r.what), r.start_address)));
    svg.finish(id, "The first 64 GiB of addresses", &in_the_way.collect::<Vec<_>>().join(". "))
}

/// How far modes reach, over the map.
fn reaches(svg: &mut Svg, panel: &Strip) {
    for limit in [4, 32, 64] {
        let x = panel.at(limit * GIB).min(panel.width - 1.0);
        // Beside the bars, and not through the names over them, nor the numbers over the strip.
        let reached = |index: usize| (22.0 + index as f64 * REACH + 16.0, 22.0 + index as f64 * REACH + 28.0);
        let below = (panel.top, panel.top + strip::HEIGHT);
        for (from, to) in (0..REACHES.len()).map(reached).chain([below]) {
            svg.line((x, from), (x, to), "step");
        }
        let label = format!("{limit} GiB");
        let half = text_width(&label, LABEL_SIZE) / 2.0;
        svg.text((x.clamp(half, panel.width - half), 13.0), Anchor::Middle, "t", &label);
    }
    for (index, (name, gib)) in REACHES.into_iter().enumerate() {
        let top = 22.0 + index as f64 * REACH;
        let name_shown = within(name, panel.width - 10.0, LABEL_SIZE);
        svg.text((6.0, top + 13.0), Anchor::Start, "lab", &name_shown);
        let right = panel.at(gib * GIB);
        svg.rect((panel.at(0), top + 18.0), (right - panel.at(0), 8.0), "s0 bar", name);
    }
}
