//! Weight by model: bars stacked by what the bytes are, and the table behind them.

use super::words::{self, PARTS, part_bytes};
use assay_kit::Table;
use assay_kit::number::{percent, size};
use assay_kit::weights::{self, Row};
use assay_model::{HeapPrediction, ModelWeight};

/// The drawing in the width given.
pub fn draw(heap: &HeapPrediction, width: f64, id: &str) -> String {
    let rows: Vec<Row> = heap.models.iter().map(|model| row(heap, model)).collect();
    let line = words::today(heap).map(|today| today.total_bytes);
    weights::draw(&rows, line, width, (id, "Weight of the heap by model"))
}

fn row(heap: &HeapPrediction, model: &ModelWeight) -> Row {
    let part = |((part, class, _), bytes): (&(&str, &str, &str), u64)| {
        let share = percent(bytes, model.total_bytes);
        let tip = format!("{}: {part} {}, {share}", model.name.name(), size(bytes));
        (bytes, format!("{class} area"), tip)
    };
    Row {
        name: model.name.name().to_owned(),
        title: name_of(heap, model),
        bytes: model.total_bytes,
        share: share_of(heap, model),
        parts: PARTS.iter().zip(part_bytes(&model.parts)).map(part).collect(),
    }
}

fn name_of(heap: &HeapPrediction, model: &ModelWeight) -> String {
    let name = model.name.name();
    match (Some(model.name) == heap.dump_model, model.is_estimate) {
        (true, _) => format!("{name}, as it is"),
        (_, true) => format!("{name}, estimate"),
        _ => name.to_owned(),
    }
}

/// The difference in percent to the heap as it is; nothing for that itself.
fn share_of(heap: &HeapPrediction, model: &ModelWeight) -> String {
    let is_today = Some(model.name) == heap.dump_model;
    let change = words::difference(model, words::today(heap)).filter(|_| !is_today);
    change.map_or_else(String::new, |(_, share)| share)
}

/// Total, difference and parts of every model.
pub fn table(heap: &HeapPrediction) -> Table {
    let columns =
        ["Model", "Total", "Difference", "", "Headers", "References", "Primitives", "Padding", "What it is"];
    let mut table = Table::new("Weight by model and by what the bytes are", &columns, 1);
    table.columns[3] = "in %".to_owned();
    table.text_from = 8;
    table.class = "weights";
    for model in &heap.models {
        let is_today = Some(model.name) == heap.dump_model;
        let (by, share) = match words::difference(model, words::today(heap)) {
            Some(_) if is_today => ("as it is".to_owned(), String::new()),
            Some(both) => both,
            None => ("not available".to_owned(), String::new()),
        };
        let mut row = vec![model.name.name().to_owned(), size(model.total_bytes), by, share];
        row.extend(part_bytes(&model.parts).into_iter().map(size));
        row.push(format!("{}; rules of JDK {}", words::explanation(model.name), model.jdk));
        table.rows.push(row);
    }
    table
}
