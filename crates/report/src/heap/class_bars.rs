//! Classes in two models: bars, of which the script changes the models, and the table that it reads.

use super::words::{self, ClassRow};
use assay_kit::number::{count, percent_change, signed_size, size};
use assay_kit::text::html;
use assay_model::{HeapPrediction, ModelWeight};
use std::fmt::Write as _;

/// Classes in the table: the heaviest, and those that change most; the rest is one row.
const HEAVIEST: usize = 200;
const CHANGING: usize = 60;
/// Classes with bars.
const BARS: usize = 14;

/// Bars and table; absent without a class.
pub fn render(heap: &HeapPrediction) -> Option<String> {
    let (rows, rest) = table_rows(heap);
    if rows.is_empty() {
        return None;
    }
    let (from, to) = first_pair(heap)?;
    let bars = bars(heap, &rows, rest.is_some(), (from, to))?;
    Some(format!("{}{bars}{}", chooser(heap, from, to), table(heap, &rows, rest.as_ref())))
}

/// Places of the heap's own model and of the one asked for first, in the models' list.
fn first_pair(heap: &HeapPrediction) -> Option<(usize, usize)> {
    let place = |w: &ModelWeight| heap.models.iter().position(|m| m.name == w.name);
    let from = words::today(heap).and_then(place).unwrap_or(0);
    let asked = words::asked_first(heap).into_iter().filter_map(place).find(|i| *i != from);
    let last = heap.models.len().checked_sub(1)?;
    Some((from, asked.unwrap_or(last)))
}

/// The rows of the table, and one that stands for all classes without one, if there are any.
fn table_rows(heap: &HeapPrediction) -> (Vec<ClassRow>, Option<ClassRow>) {
    let rows = words::class_rows(heap);
    let change = |row: &ClassRow| {
        let known = || row.bytes.iter().flatten();
        known().max().zip(known().min()).map_or(0, |(most, least)| most - least)
    };
    let mut by_change: Vec<usize> = (0..rows.len()).collect();
    by_change.sort_by_key(|&i| std::cmp::Reverse(change(&rows[i])));
    let mut is_shown = vec![false; rows.len()];
    for index in (0..rows.len()).take(HEAVIEST).chain(by_change.into_iter().take(CHANGING)) {
        is_shown[index] = true;
    }
    let mut rest = ClassRow { name: String::new(), instances: 0, bytes: vec![None; heap.models.len()] };
    let (mut shown, mut others) = (Vec::new(), 0u64);
    for (row, is_shown) in rows.into_iter().zip(is_shown) {
        if is_shown {
            shown.push(row);
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
    }
    (shown, (others > 0).then_some(rest))
}

fn chooser(heap: &HeapPrediction, from: usize, to: usize) -> String {
    let select = |id: &str, label: &str, chosen: usize| {
        let mut out = format!("<label>{label} <select id=\"{id}\">");
        for (index, model) in heap.models.iter().enumerate() {
            let selected = if index == chosen { " selected" } else { "" };
            let today = if Some(model.name) == heap.dump_model { ", as it is" } else { "" };
            let _ = write!(out, "<option value=\"{index}\"{selected}>{}{today}</option>", model.name.name());
        }
        out + "</select></label>"
    };
    format!("<p class=\"chooser\" hidden>{} {}</p>", select("from", "From", from), select("to", "to", to))
}

/// One class in the two models, or what is left of all others.
struct Pair<'a> {
    name: &'a str,
    from: u64,
    to: u64,
}

/// The classes that change most between the two, and the rest, so that bars add up to the totals.
fn bars(
    heap: &HeapPrediction,
    rows: &[ClassRow],
    has_rest: bool,
    (from, to): (usize, usize),
) -> Option<String> {
    let (a, b) = (heap.models.get(from)?, heap.models.get(to)?);
    let of = |row: &ClassRow, index: usize| row.bytes.get(index).copied().flatten().unwrap_or(0);
    let mut pairs: Vec<Pair> =
        rows.iter().map(|r| Pair { name: &r.name, from: of(r, from), to: of(r, to) }).collect();
    pairs.sort_by_key(|p| (std::cmp::Reverse(p.from.abs_diff(p.to)), std::cmp::Reverse(p.from)));
    pairs.truncate(BARS);
    let sum = |bytes: &dyn Fn(&Pair) -> u64| pairs.iter().fold(0u64, |sum, p| sum.saturating_add(bytes(p)));
    let rest_from = a.total_bytes.saturating_sub(sum(&|p| p.from));
    let rest_to = b.total_bytes.saturating_sub(sum(&|p| p.to));
    if has_rest || rows.len() > pairs.len() {
        pairs.push(Pair { name: "all other classes", from: rest_from, to: rest_to });
    }
    let largest = pairs.iter().map(|p| p.from.max(p.to)).max().unwrap_or(0).max(1);
    let mut out = format!(
        "<figure id=\"by-class\" aria-labelledby=\"classes-h\"><p class=\"sum\" id=\"pair-sum\" aria-live=\"polite\">{}</p>\
         <ol class=\"pairs\" id=\"pairs\" data-shown=\"{BARS}\">",
        html(&sum_line(a, b))
    );
    for pair in &pairs {
        let width = |bytes: u64| 100.0 * bytes as f64 / largest as f64;
        let _ = write!(
            out,
            "<li data-from=\"{}\" data-to=\"{}\"><span class=\"name\"><bdi>{}</bdi></span> <span class=\"by\">{}</span>\
             <span class=\"from\" style=\"width:{:.2}%\"></span><span class=\"to\" style=\"width:{:.2}%\"></span></li>",
            pair.from,
            pair.to,
            html(pair.name),
            html(&change(pair.from, pair.to)),
            width(pair.from),
            width(pair.to)
        );
    }
    out += "</ol><figcaption>The classes that change most, upper bars in the first model, lower bars in the second; \
            all other classes at the end, so that the bars add up to the totals.</figcaption></figure>";
    Some(out)
}

fn sum_line(a: &ModelWeight, b: &ModelWeight) -> String {
    format!("{} → {}: {}", a.name.name(), b.name.name(), change(a.total_bytes, b.total_bytes))
}

/// `1.51 GiB → 2.70 GiB, +1.19 GiB (+78.6 %)`; web/heap.js writes the same.
fn change(from: u64, to: u64) -> String {
    if from == to {
        return format!("{} → {}, no change", size(from), size(to));
    }
    let share = percent_change(to, from).map_or_else(String::new, |share| format!(" ({share})"));
    format!("{} → {}, {}{share}", size(from), size(to), signed_size(words::less(to, from)))
}

/// Bytes of classes in every model, in full in `data-bytes`, which the script reads.
fn table(heap: &HeapPrediction, rows: &[ClassRow], rest: Option<&ClassRow>) -> String {
    let caption = "Bytes by class in every model";
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table class=\"dense\" id=\"by-model\">\
         <caption>{caption}</caption><thead><tr><th scope=\"col\">Class</th><th scope=\"col\" class=\"n\">Objects</th>"
    );
    for model in &heap.models {
        let (bytes, name) = (model.total_bytes, model.name.name());
        let _ = write!(out, "<th scope=\"col\" class=\"n\" data-bytes=\"{bytes}\">{name}</th>");
    }
    out += "</tr></thead><tbody>\n";
    let of_class = |row| (row, "");
    for (row, class) in rows.iter().map(of_class).chain(rest.map(|row| (row, " class=\"rest\""))) {
        let name = html(&row.name);
        let objects = count(row.instances);
        let _ =
            write!(out, "<tr{class}><th scope=\"row\"><bdi>{name}</bdi></th><td class=\"n\">{objects}</td>");
        for bytes in &row.bytes {
            let _ = match bytes {
                Some(bytes) => write!(out, "<td class=\"n\" data-bytes=\"{bytes}\">{}</td>", size(*bytes)),
                None => write!(out, "<td class=\"n\">-</td>"),
            };
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>"
}
