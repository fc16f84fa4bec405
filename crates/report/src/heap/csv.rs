//! Heaps as CSV, bytes in full: a prediction by layout and class, the places of an object's fields, modes by heap size.

use assay_kit::csv_rows::{Rows, whole};
use assay_model::{ClassLayout, HeapLayouts, HeapModes, HeapPrediction, LayoutPart, ReferenceMode};
use std::io::{self, Write};

/// A prediction as CSV, `model,class,instances,bytes`: one row for each model and class.
///
/// # Errors
/// Those of the writer.
pub fn prediction(heap: &HeapPrediction, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["model", "class", "instances", "bytes"])?;
    for model in &heap.models {
        for class in &model.classes {
            let (instances, bytes) = (class.instances.to_string(), class.bytes.to_string());
            rows.row([model.name.name(), class.name.as_str(), &instances, &bytes])?;
        }
    }
    rows.end()
}

/// An object in every layout: a row for each place, header and padding included.
///
/// # Errors
/// Those of the writer.
pub fn layouts(layouts: &HeapLayouts, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "layout",
        "class",
        "instance_bytes",
        "estimate",
        "part",
        "name",
        "type",
        "declared_by",
        "offset_bytes",
        "bytes",
    ];
    let mut rows = Rows::new(out, columns)?;
    let start = |l: &ClassLayout| {
        [
            l.model.name.name().to_owned(),
            l.class.clone(),
            l.instance_bytes.to_string(),
            l.is_estimate.to_string(),
        ]
    };
    for layout in &layouts.layouts {
        for place in &layout.places {
            let words = [part(place.part), &place.name, &place.kind, &place.declared_by].map(str::to_owned);
            let numbers = [place.offset_bytes, place.bytes].map(|number| number.to_string());
            rows.row(start(layout).into_iter().chain(words).chain(numbers))?;
        }
    }
    rows.end()
}

/// The word in stored files.
const fn part(part: LayoutPart) -> &'static str {
    match part {
        LayoutPart::Header => "header",
        LayoutPart::Field => "field",
        LayoutPart::Injected => "injected",
        LayoutPart::Padding => "padding",
    }
}

/// Modes by heap size: a row for each JVM, collector and size.
///
/// # Errors
/// Those of the writer.
pub fn modes(modes: &HeapModes, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "java",
        "jdk",
        "collector",
        "max_heap_bytes",
        "options",
        "computed_mode",
        "computed_base_address",
        "shift_bits",
        "verified_mode",
        "base_address",
        "decided_by",
    ];
    let mut rows = Rows::new(out, columns)?;
    let mode = |mode: Option<ReferenceMode>| mode.map_or("", ReferenceMode::name).to_owned();
    for cell in &modes.cells {
        rows.row([
            cell.java.clone(),
            cell.jdk.to_string(),
            cell.collector.clone(),
            cell.max_heap_bytes.to_string(),
            cell.options.join(" "),
            mode(cell.computed_mode),
            whole(cell.computed_base_address),
            whole(cell.shift_bits),
            mode(cell.verified_mode),
            whole(cell.base_address),
            cell.decided_by.clone(),
        ])?;
    }
    rows.end()
}
