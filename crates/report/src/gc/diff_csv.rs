//! What differs between two GC logs as CSV: a row for each figure, values in full.

use assay_kit::csv_rows::{Rows, figure};
use assay_model::{GcComparison, GcFigure};
use std::io::{self, Write};

/// A row for each figure, with its unit, and its ratio with the interval.
///
/// # Errors
/// Those of the writer.
pub fn render(comparison: &GcComparison, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["metric", "unit", "before", "after", "ratio", "ratio_low", "ratio_high", "verdict"];
    let mut rows = Rows::new(out, columns)?;
    for one in &comparison.differences {
        let unit = GcFigure::by_id(&one.metric).map_or("", |figure| figure.unit);
        rows.row([
            one.metric.as_str(),
            unit,
            &figure(one.before),
            &figure(one.after),
            &figure(one.ratio.map(|ratio| ratio.estimate)),
            &figure(one.ratio.and_then(|ratio| ratio.low)),
            &figure(one.ratio.and_then(|ratio| ratio.high)),
            one.verdict.word(),
        ])?;
    }
    rows.end()
}
