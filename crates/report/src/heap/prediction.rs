//! What the objects of a heap occupy in every layout.

use super::words::{self, ClassRow, PARTS};
use super::{class_bars, layouts, totals};
use assay_kit::document::{Answer, Block, Claim, Document, Figure, Line, Section, Shown};
use assay_kit::number::{MIB, less, percent, percent_change, signed_size, significant, size, xmx};
use assay_kit::page::drawings;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table, key};
use assay_model::{CrossOver, HeapPrediction, ModelFootprint, Problem};

/// A prediction: size by layout and by what the bytes are, classes, one object laid out, heap sizes from which another layout pays,
/// garbage. Forms without a chart list the `top` classes that gain or lose most.
pub fn document(heap: &HeapPrediction, top: usize) -> Document {
    let evidence = words::evidence(heap).map(|e| format!("Evidence for the current layout: {e}."));
    let rest = claims(heap).into_iter().chain(evidence.map(Block::explanation));
    let answer = Answer {
        sentence: format!("{}.", words::headline(heap)),
        action: words::next_step(heap),
        chart: Some(weights(heap)),
        rest: rest.collect(),
        ..Answer::default()
    };
    let title = format!("Heap of {}", clean(&heap.source));
    let mut garbage_blocks = vec![Block::text(words::garbage_basis(heap)), garbage(heap).into()];
    if heap.garbage.is_empty() {
        garbage_blocks.clear();
    }
    Document {
        lines: vec![Line { text: words::subject(heap), class: "more" }],
        sections: vec![
            Section::new("totals", "Size by layout", [totals::table(heap).into()]),
            Section::new(
                "classes",
                "Classes",
                class_bars::figure(heap)
                    .map(|of| of.behind(top_classes(heap, top), Shown::Everywhere).into()),
            ),
            Section::new(
                "layout",
                "One object in every layout",
                layouts::to_scale(&heap.example).into_iter().map(Block::page_only),
            ),
            Section::new("cross-overs", "Break-even heap sizes", [cross_overs(heap).into()]),
            Section::new("garbage", "Garbage", garbage_blocks),
        ],
        page: super::page_parts(&heap.assay_version),
        ..Document::new("Size of a heap in every object layout, by Assay", title, answer)
            .with_problems(Problem::listed(&heap.problems))
    }
}

/// What the first cross-overs say, each with what it rests on.
fn claims(heap: &HeapPrediction) -> Option<Block> {
    let claim =
        |over: &&CrossOver| Claim { claim: clean(&over.claim), details: vec![words::cross_over(over)] };
    let claims: Vec<Claim> = words::cross_overs_told(heap).iter().map(claim).collect();
    (!claims.is_empty()).then_some(Block::Claims(claims))
}

fn weights(heap: &HeapPrediction) -> Figure {
    let items = PARTS.iter().map(|(name, class, what)| (*class, format!("{name}: {what}")));
    let pictures = drawings("totals", |width, id| totals::draw(heap, width, id));
    Figure::new("weights", "size by layout", pictures)
        .key(key::fills(items))
        .caption("Bytes of all objects, from zero, stacked by kind. The line is the current heap.")
}

/// The classes that gain or lose most in the layouts that a reader asks for first.
fn top_classes(heap: &HeapPrediction, top: usize) -> Option<Table> {
    let place = |wanted: &ModelFootprint| heap.models.iter().position(|model| model.name == wanted.name);
    let today = words::today(heap).or(heap.models.first())?;
    let base = place(today)?;
    let asked = words::asked_first(heap).into_iter();
    let others: Vec<(usize, &ModelFootprint)> =
        asked.filter_map(|model| Some((place(model)?, model))).filter(|(at, _)| *at != base).collect();
    let bytes = |row: &ClassRow, at: usize| row.bytes.get(at).copied().flatten();
    let change = |row: &ClassRow, at: usize| Some((bytes(row, base)?, bytes(row, at)?));
    let most = |row: &ClassRow| {
        let changes = others.iter().filter_map(|(at, _)| change(row, *at));
        changes.map(|(before, after)| before.abs_diff(after)).max().unwrap_or(0)
    };
    let mut rows = words::class_rows(heap);
    let caption = if others.is_empty() { "Largest classes" } else { "Classes that change most" };
    if !others.is_empty() {
        rows.sort_by_key(|row| std::cmp::Reverse(most(row)));
    }
    let mut table = Table::of(caption, &rows)
        .words("Class", |row| words::short_class(&row.name, NAME_CHARS))
        .figures("Objects", |row| row.objects())
        .figures(today.name.name(), |row| bytes(row, base).map(size));
    for (at, model) in &others {
        table = table.figures(model.name.name(), move |row| match change(row, *at) {
            Some((before, after)) => by(less(after, before), percent_change(after, before)),
            None => Cell::absent(""),
        });
    }
    (top != 0 && !rows.is_empty()).then(|| table.table().brief(top))
}

/// Characters of a class's name.
const NAME_CHARS: usize = 48;

/// A change in bytes and in percent; fewer bytes are better.
fn by(bytes: i64, share: Option<String>) -> Cell {
    let share = share.filter(|_| bytes != 0).map_or_else(String::new, |share| format!(" ({share})"));
    let look = match bytes {
        ..0 => Look::Good,
        0 => Look::Plain,
        1.. => Look::Bad,
    };
    Cell::looks(format!("{}{share}", signed_size(bytes)), look)
}

/// Heap sizes from which another layout pays.
fn cross_overs(heap: &HeapPrediction) -> Table {
    let decoding =
        |over: &CrossOver| over.decoding.as_ref().map_or_else(String::new, |d| format!(" ({})", clean(d)));
    Table::of("Break-even heap size of each layout", &heap.cross_overs)
        .words("Layout", |over| over.name.name())
        .figures("Size", |over| size(over.total_bytes))
        .figures("Largest -Xmx", |over| {
            over.max_heap_bytes.map(|max| format!("{}{}", xmx(max), decoding(over)))
        })
        .figures("Share of it", |over| over.max_heap_bytes.map(|max| percent(over.total_bytes, max)))
        .figures("Break-even -Xmx", |over| over.break_even_bytes.map(xmx))
        .words("What it means", |over| clean(&over.claim))
        .if_room()
        .class("weights")
}

/// Garbage by layout.
fn garbage(heap: &HeapPrediction) -> Table {
    Table::of("Freed by the collector in each layout", &heap.garbage)
        .words("Layout", |model| model.name.name())
        .figures("Freed (MiB/s)", |model| significant(model.freed_bytes_per_s / MIB))
        .figures("Ratio to now", |model| significant(model.ratio))
        .table()
}
