//! A prediction as CSV: one row for each model and class, bytes in full.

use assay_kit::csv_rows::Rows;
use assay_model::HeapPrediction;
use std::io;

/// A prediction as CSV, `model,class,instances,bytes`: one row for each model and class.
///
/// # Errors
/// Those of the writer.
pub fn render(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["model", "class", "instances", "bytes"])?;
    for model in &heap.models {
        for class in &model.classes {
            let (instances, bytes) = (class.instances.to_string(), class.bytes.to_string());
            rows.row([model.name.name(), class.name.as_str(), &instances, &bytes])?;
        }
    }
    rows.end()
}
