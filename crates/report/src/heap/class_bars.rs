//! Classes in two models: bars, of which the script changes the models, and the table that it reads.

use super::words::{self, ClassRow};
use askama::Template;
use assay_kit::document::Figure;
use assay_kit::number::{count, less, percent_change, signed_size, size};
use assay_model::{HeapPrediction, ModelFootprint};
use std::cmp::Reverse;

/// Classes in the table: the heaviest, and those that change most; the rest is one row.
const HEAVIEST: usize = 200;
const CHANGING: usize = 60;
/// Classes with bars.
const BARS: usize = 14;

/// What the template shows.
#[derive(Template)]
#[template(path = "heap-classes.html")]
struct Classes<'a> {
    heap: &'a HeapPrediction,
    /// Id, label, and index of the model that is chosen.
    choosers: [(&'static str, &'static str, usize); 2],
    /// Both totals.
    sum: String,
    /// Classes with bars, at most.
    bars: usize,
    pairs: Vec<Pair<'a>>,
    /// Rows of the table, each with its attributes.
    rows: &'a [(ClassRow, &'static str)],
}

/// Bars and table; absent without a class.
pub fn figure(heap: &HeapPrediction) -> Option<Figure> {
    render(heap).map(|html| Figure::new("by-class", "classes in two layouts", html).bare())
}

fn render(heap: &HeapPrediction) -> Option<String> {
    let rows = table_rows(heap);
    let (from, to) = first_pair(heap)?;
    let (a, b) = (heap.models.get(from)?, heap.models.get(to)?);
    let sum = format!("{} → {}: {}", a.name.name(), b.name.name(), change(a.total_bytes, b.total_bytes));
    let choosers = [("from", "From", from), ("to", "to", to)];
    let pairs = pairs(&rows, (from, to), (a.total_bytes, b.total_bytes));
    (!rows.is_empty())
        .then(|| Classes { heap, choosers, sum, bars: BARS, pairs, rows: &rows }.render().unwrap_or_default())
}

/// Places of the heap's own model and of the one asked for first, in the models' list.
fn first_pair(heap: &HeapPrediction) -> Option<(usize, usize)> {
    let place = |w: &ModelFootprint| heap.models.iter().position(|m| m.name == w.name);
    let from = words::today(heap).and_then(place).unwrap_or(0);
    let asked = words::asked_first(heap).into_iter().filter_map(place).find(|i| *i != from);
    let last = heap.models.len().checked_sub(1)?;
    Some((from, asked.unwrap_or(last)))
}

/// The rows of the table, at last one that stands for all classes without one, if there are any; `web/heap.js` knows it by its
/// class.
fn table_rows(heap: &HeapPrediction) -> Vec<(ClassRow, &'static str)> {
    let rows = words::class_rows(heap);
    let change = |row: &ClassRow| {
        let known = || row.bytes.iter().flatten();
        known().max().zip(known().min()).map_or(0, |(most, least)| most - least)
    };
    let mut by_change: Vec<usize> = (0..rows.len()).collect();
    by_change.sort_by_key(|&i| Reverse(change(&rows[i])));
    let mut is_shown = vec![false; rows.len()];
    for index in (0..rows.len()).take(HEAVIEST).chain(by_change.into_iter().take(CHANGING)) {
        is_shown[index] = true;
    }
    let mut rest = ClassRow { name: String::new(), instances: 0, bytes: vec![None; heap.models.len()] };
    let (mut shown, mut others) = (Vec::new(), 0u64);
    for (row, is_shown) in rows.into_iter().zip(is_shown) {
        if is_shown {
            shown.push((row, ""));
            continue;
        }
        others += 1;
        rest.instances = rest.instances.saturating_add(row.instances);
        for (sum, bytes) in rest.bytes.iter_mut().zip(row.bytes) {
            *sum = bytes.map_or(*sum, |b| Some(sum.unwrap_or(0).saturating_add(b)));
        }
    }
    if others > 0 {
        rest.name = format!("{} more classes", count(others));
        shown.push((rest, " class=\"rest\""));
    }
    shown
}

/// One class in the two models, or what is left of all others.
struct Pair<'a> {
    name: &'a str,
    from: u64,
    to: u64,
}

impl Pair<'_> {
    fn by(&self) -> String {
        change(self.from, self.to)
    }
}

/// The classes that change most between the two, and the rest, so that bars add up to the totals.
fn pairs<'r>(
    rows: &'r [(ClassRow, &'static str)],
    (from, to): (usize, usize),
    totals: (u64, u64),
) -> Vec<Pair<'r>> {
    let of = |row: &ClassRow, index: usize| row.bytes.get(index).copied().flatten().unwrap_or(0);
    let classes = rows.iter().filter(|(_, class)| class.is_empty());
    let mut pairs: Vec<Pair> =
        classes.map(|(r, _)| Pair { name: &r.name, from: of(r, from), to: of(r, to) }).collect();
    pairs.sort_by_key(|p| (Reverse(p.from.abs_diff(p.to)), Reverse(p.from)));
    pairs.truncate(BARS);
    if rows.len() > pairs.len() {
        let sum = |bytes: fn(&Pair) -> u64| pairs.iter().fold(0u64, |sum, p| sum.saturating_add(bytes(p)));
        let (from, to) = (totals.0.saturating_sub(sum(|p| p.from)), totals.1.saturating_sub(sum(|p| p.to)));
        pairs.push(Pair { name: "all other classes", from, to });
    }
    pairs
}

/// What the template asks for; it gives references.
impl Classes<'_> {
    /// Width of a bar in percent.
    fn width(&self, bytes: &u64) -> String {
        let largest = self.pairs.iter().map(|p| p.from.max(p.to)).max().unwrap_or(0).max(1);
        format!("{:.2}", 100.0 * *bytes as f64 / largest as f64)
    }

    fn size(&self, bytes: &u64) -> String {
        size(*bytes)
    }

    fn is_today(&self, model: &ModelFootprint) -> bool {
        Some(model.name) == self.heap.dump_model
    }
}

/// `1.51 GiB → 2.70 GiB, +1.19 GiB (+78.6 %)`; web/heap.js writes the same.
fn change(from: u64, to: u64) -> String {
    if from == to {
        return format!("{} → {}, no change", size(from), size(to));
    }
    let share = percent_change(to, from).map_or_else(String::new, |share| format!(" ({share})"));
    format!("{} → {}, {}{share}", size(from), size(to), signed_size(less(to, from)))
}
