//! Weight by model: bars stacked by what the bytes are, and the table behind them.

use super::words::{self, PARTS, part_bytes};
use assay_kit::Table;
use assay_kit::axes::LABEL_SIZE;
use assay_kit::number::{percent, size};
use assay_kit::svg::{Anchor, Svg, chars_that_fit, text_width};
use assay_kit::text::shorten;
use assay_model::{HeapPrediction, ModelWeight};

/// Names stand beside bars on a screen and over them on a phone.
const NAMES_BESIDE_FROM: f64 = 600.0;
const NAME_WIDTH: f64 = 215.0;
const VALUE_WIDTH: f64 = 160.0;
/// Right of the total: the difference in percent.
const SHARE_WIDTH: f64 = 72.0;
const BAR_HEIGHT: f64 = 16.0;

/// The drawing in the width given.
pub fn draw(heap: &HeapPrediction, width: f64, id: &str) -> String {
    let beside = width >= NAMES_BESIDE_FROM;
    let row = if beside { 27.0 } else { 42.0 };
    let (left, right) = if beside { (NAME_WIDTH, width - VALUE_WIDTH) } else { (2.0, width - 2.0) };
    let height = heap.models.len().max(1) as f64 * row + 4.0;
    let mut svg = Svg::new(width, height);
    let largest = heap.models.iter().map(|m| m.total_bytes).max().unwrap_or(0).max(1) as f64;
    let at = |bytes: u64| left + bytes as f64 / largest * (right - left);
    let today = words::today(heap);
    for (index, model) in heap.models.iter().enumerate() {
        let top = index as f64 * row + 2.0;
        let bar_top = if beside { top + 4.0 } else { top + 20.0 };
        let text_y = if beside { top + 17.0 } else { top + 14.0 };
        let (name, value) = (name_of(heap, model), value_of(heap, model));
        let room = if beside { NAME_WIDTH - 8.0 } else { width - text_width(&value, LABEL_SIZE) - 12.0 };
        let name = shorten(&name, chars_that_fit(room, LABEL_SIZE * 0.95));
        svg.text((2.0, text_y), Anchor::Start, "lab", &name);
        if beside {
            svg.text((width - SHARE_WIDTH, text_y), Anchor::End, "val", &size(model.total_bytes));
            svg.text((width - 2.0, text_y), Anchor::End, "val", &share_of(heap, model));
        } else {
            svg.text((width - 2.0, text_y), Anchor::End, "val", &value);
        }
        let mut from = 0u64;
        for ((part, class, _), bytes) in PARTS.iter().zip(part_bytes(&model.parts)) {
            let to = from.saturating_add(bytes);
            if bytes > 0 {
                let share = percent(bytes, model.total_bytes);
                let tip = format!("{}: {part} {}, {share}", model.name.name(), size(bytes));
                let wide = at(to) - at(from);
                svg.rect((at(from), bar_top), (wide, BAR_HEIGHT), &format!("{class} area"), &tip);
            }
            from = to;
        }
        if let Some(x) = today.map(|t| at(t.total_bytes)) {
            // Over the whole row, but not through the text that stands over a bar.
            let below = bar_top + BAR_HEIGHT + 4.0;
            svg.line((x, if beside { top - 2.0 } else { bar_top - 3.0 }), (x, below), "one");
        }
    }
    let words: Vec<String> =
        heap.models.iter().map(|m| format!("{}: {}", m.name.name(), value_of(heap, m))).collect();
    svg.finish(id, "Weight of the heap by model", &words.join(". "))
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

fn value_of(heap: &HeapPrediction, model: &ModelWeight) -> String {
    let share = share_of(heap, model);
    let share = if share.is_empty() { share } else { format!(", {share}") };
    format!("{}{share}", size(model.total_bytes))
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
