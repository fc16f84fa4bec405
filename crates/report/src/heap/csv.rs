//! A prediction as CSV: one row for each model and class, bytes in full.

use assay_kit::text;
use assay_model::HeapPrediction;
use std::io;

/// Writes `model,class,instances,bytes`.
pub fn render(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    writeln!(out, "model,class,instances,bytes")?;
    for model in &heap.models {
        for class in &model.classes {
            let name = text::csv(&class.name);
            writeln!(out, "{},{name},{},{}", model.name.name(), class.instances, class.bytes)?;
        }
    }
    Ok(())
}
