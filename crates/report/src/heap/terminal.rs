//! A prediction for the terminal: totals, what changes them, cross-overs, classes, problems.

use super::words::{self, ClassRow, PARTS, part_bytes};
use assay_kit::ink::{Ink, bar, fit};
use assay_kit::number::{count, less, percent_change, signed_size, significant, size};
use assay_kit::text::{clean, shorten};
use assay_kit::{Terminal, TerminalView};
use assay_model::{HeapPrediction, ModelFootprint, Problem};

const SIZE: usize = 12;
const SHARE: usize = 10;
/// Longest name of a model, and the mark of an estimate.
const MODEL: usize = 20;

/// A prediction for the terminal, with the `top` classes that gain or lose most. Lines are at most as wide as the
/// terminal, from 80 columns on. Of the view, width and colour count.
pub fn render(heap: &HeapPrediction, view: TerminalView, top: usize) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &format!("{}.", words::headline(heap)), Ink::bold);
    out.paragraph(0, &words::subject(heap), Ink::plain);
    if let Some(evidence) = words::evidence(heap) {
        out.paragraph(0, &evidence, Ink::dim);
    }
    totals(&mut out, heap);
    changes(&mut out, heap);
    cross_overs(&mut out, heap);
    garbage(&mut out, heap);
    classes(&mut out, heap, top);
    out.problems(&Problem::listed(&heap.problems));
    out.finish()
}

fn model_name(model: &ModelFootprint) -> String {
    let mark = if model.is_estimate { " ~" } else { "" };
    fit(&format!("{}{mark}", model.name.name()), MODEL)
}

fn totals(out: &mut Terminal, heap: &HeapPrediction) {
    let largest = heap.models.iter().map(|m| m.total_bytes).max().unwrap_or(0);
    let heading = format!("{}{:>SIZE$}{:>SIZE$}{:>SHARE$}", fit("layout", MODEL), "total", "difference", "");
    out.blank();
    out.line(&out.ink.dim(heading.trim_end()));
    for model in &heap.models {
        let is_today = Some(model.name) == heap.dump_model;
        let (by, share) =
            words::difference_told(heap, model).unwrap_or_else(|| ("-".to_owned(), String::new()));
        let name = model_name(model);
        let name = if is_today { out.ink.bold(&name) } else { name };
        let room = out.width - MODEL - 2 * SIZE - SHARE - 2;
        let filled = bar(model.total_bytes as f64 / largest.max(1) as f64, room.min(40));
        let change = format!("{by:>SIZE$}{share:>SHARE$}");
        let change = match model.difference_bytes {
            Some(by) if by < 0 => out.ink.good(&change),
            Some(by) if by > 0 => out.ink.warn(&change),
            _ => change,
        };
        out.line(&format!("{name}{:>SIZE$}{change}  {filled}", size(model.total_bytes)));
    }
    if heap.models.iter().any(|m| m.is_estimate) {
        out.line(&out.ink.dim("~ an estimate: that JVM's rules are not measured here"));
    }
}

/// Parts as they are, and by how much each model changes them.
fn changes(out: &mut Terminal, heap: &HeapPrediction) {
    if heap.models.is_empty() {
        return;
    }
    let today = words::today(heap);
    let title = if today.is_some() { "What changes it" } else { "What it is made of" };
    let mut heading = fit(title, MODEL);
    PARTS.iter().for_each(|(name, ..)| heading += &format!("{name:>SIZE$}"));
    out.heading(&heading);
    let line = |model: &ModelFootprint, of: Option<&ModelFootprint>| {
        let mut line = model_name(model);
        let before = of.map(|m| part_bytes(&m.parts));
        for (index, bytes) in part_bytes(&model.parts).into_iter().enumerate() {
            let text = before.map_or_else(|| size(bytes), |b| signed_size(less(bytes, b[index])));
            line += &format!("{text:>SIZE$}");
        }
        line
    };
    if let Some(today) = today {
        out.line(&line(today, None));
    }
    for model in heap.models.iter().filter(|m| today.is_none_or(|t| t.name != m.name)) {
        out.line(&line(model, today));
    }
}

fn cross_overs(out: &mut Terminal, heap: &HeapPrediction) {
    if heap.cross_overs.is_empty() {
        return;
    }
    out.heading("Break-even heap sizes");
    let told = words::cross_overs_told(heap);
    for over in &told {
        out.paragraph(2, &clean(&over.claim), Ink::plain);
        out.paragraph(4, &words::cross_over(over), Ink::dim);
    }
    // Of the other models the figures alone: their sentences say the same with other numbers.
    for over in heap.cross_overs.iter().filter(|o| told.iter().all(|t| t.name != o.name)) {
        out.paragraph(4, &words::cross_over(over), Ink::dim);
    }
}

fn garbage(out: &mut Terminal, heap: &HeapPrediction) {
    if heap.garbage.is_empty() {
        return;
    }
    out.heading("Freed by the collector in each layout");
    out.paragraph(2, &words::garbage_basis(heap), Ink::dim);
    for model in &heap.garbage {
        let rate = format!("{} MiB/s", significant(model.freed_bytes_per_s / 1_048_576.0));
        let times = format!("{} times", significant(model.ratio));
        out.line(&format!("{}{rate:>SIZE$}{times:>SIZE$}", fit(model.name.name(), MODEL)));
    }
}

/// Index of a model in the models' list, with its weight.
fn places<'a>(heap: &'a HeapPrediction, wanted: &[&'a ModelFootprint]) -> Vec<(usize, &'a ModelFootprint)> {
    let place = |w: &&ModelFootprint| heap.models.iter().position(|m| m.name == w.name);
    wanted.iter().filter_map(|w| Some((place(w)?, *w))).collect()
}

fn classes(out: &mut Terminal, heap: &HeapPrediction, top: usize) {
    let mut rows = words::class_rows(heap);
    if rows.is_empty() || top == 0 {
        return;
    }
    let today = words::today(heap).or(heap.models.first());
    let Some(&(base, today)) = places(heap, &today.into_iter().collect::<Vec<_>>()).first() else { return };
    let others: Vec<_> =
        places(heap, &words::asked_first(heap)).into_iter().filter(|o| o.0 != base).collect();
    let change = |row: &ClassRow, other: usize| {
        let (a, b) = (row.bytes.get(base).copied().flatten()?, row.bytes.get(other).copied().flatten()?);
        Some((less(b, a), a, b))
    };
    let most = |row: &ClassRow| {
        others.iter().filter_map(|o| change(row, o.0)).map(|c| c.0.unsigned_abs()).max().unwrap_or(0)
    };
    if others.is_empty() {
        rows.truncate(top);
    } else {
        rows.sort_by_key(|row| std::cmp::Reverse(most(row)));
    }
    // Bytes without percent where the names would have no room beside both.
    let with_share = out.width >= 100;
    let column = if with_share { SIZE + SHARE } else { SIZE };
    let count_width = 14;
    let name_width = (out.width - count_width - SIZE - others.len() * column).clamp(12, 56);
    let title = if others.is_empty() { "Classes" } else { "Classes that change most" };
    let mut heading = format!(
        "{}{:>count_width$}{:>SIZE$}",
        fit(title, name_width),
        "objects",
        shorten(today.name.name(), SIZE - 1)
    );
    others.iter().for_each(|(_, m)| heading += &format!("{:>column$}", shorten(m.name.name(), column - 1)));
    out.heading(&heading);
    for row in rows.iter().take(top) {
        let bytes = row.bytes.get(base).copied().flatten().map_or("-".to_owned(), size);
        let name = fit(&words::short_class(&row.name, name_width - 1), name_width);
        let mut line = format!("{name}{:>count_width$}{bytes:>SIZE$}", count(row.instances));
        for (other, _) in &others {
            let (by, share) = change(row, *other)
                .map_or(("-".to_owned(), None), |(by, a, b)| (signed_size(by), percent_change(b, a)));
            line += &format!("{by:>SIZE$}");
            if with_share {
                line += &format!("{:>SHARE$}", share.unwrap_or_default());
            }
        }
        out.line(&line);
    }
    out.more((rows.len(), top), "", "more classes (--top N, --json)");
}
