//! Size by layout: bars stacked by what the bytes are, and the table behind them.

use super::words::{self, PARTS, part_bytes};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::{percent, size};
use assay_kit::table::Look;
use assay_kit::{Cell, Table};
use assay_model::{HeapPrediction, ModelFootprint};

/// The drawing in the width given.
pub fn draw(heap: &HeapPrediction, width: f64, id: &str) -> String {
    let rows: Vec<Bar> = heap.models.iter().map(|model| row(heap, model)).collect();
    let line = words::today(heap).map(|today| today.total_bytes as f64);
    bar_rows::bars(&rows, (None, line), width, (id, "Size of the heap by layout"))
}

fn row(heap: &HeapPrediction, model: &ModelFootprint) -> Bar {
    let part = |((part, class, _), bytes): (&(&str, &str, &str), u64)| {
        let share = percent(bytes, model.total_bytes);
        let tip = format!("{}: {part} {}, {share}", model.name.name(), size(bytes));
        (bytes as f64, format!("{class} area"), tip)
    };
    // The heap as it is differs from itself by nothing.
    let share = words::difference_told(heap, model).map(|(_, share)| share).filter(|share| !share.is_empty());
    let share = share.map_or_else(String::new, |share| format!(", {share}"));
    Bar {
        name: name_of(heap, model),
        value: format!("{}{share}", size(model.total_bytes)),
        parts: PARTS.iter().zip(part_bytes(&model.parts)).map(part).collect(),
    }
}

fn name_of(heap: &HeapPrediction, model: &ModelFootprint) -> String {
    let name = model.name.name();
    match (Some(model.name) == heap.dump_model, model.is_estimate) {
        (true, _) => format!("{name}, now"),
        (_, true) => format!("{name}, estimate"),
        _ => name.to_owned(),
    }
}

/// Total, difference and parts of every model.
pub fn table(heap: &HeapPrediction) -> Table {
    let difference = |model: &ModelFootprint| words::difference_told(heap, model);
    let largest = heap.models.iter().map(|m| m.total_bytes).max().unwrap_or(0).max(1) as f64;
    let look = |m: &ModelFootprint| match m.difference_bytes.unwrap_or(0) {
        ..0 => Look::Good,
        0 => Look::Plain,
        1.. => Look::Bad,
    };
    let now = |m: &ModelFootprint| if Some(m.name) == heap.dump_model { Look::Strong } else { Look::Plain };
    let unknown = "the current layout is not known";
    let mut rows = Table::of("Size by layout and by kind of bytes", &heap.models)
        .words("Layout", |m| Cell::looks(m.name.name(), now(m)))
        .figures("Total", |m| size(m.total_bytes))
        .bars(|m| Some(m.total_bytes as f64 / largest))
        .figures("Difference", |m| {
            difference(m).map_or(Cell::absent(unknown), |(by, _)| Cell::looks(by, look(m)))
        })
        .figures("in %", |m| difference(m).map_or_else(String::new, |(_, share)| share));
    for (index, part) in ["Headers", "References", "Primitives", "Padding"].into_iter().enumerate() {
        rows = rows.figures(part, |m| size(part_bytes(&m.parts)[index])).if_room();
    }
    rows.words("What it is", |m| format!("{}, rules of JDK {}", words::explanation(m.name), m.jdk))
        .if_room()
        .class("weights")
}
