//! Two runs side by side as CSV: a row for each variant and metric, figures in full and in the stored unit.

use assay_kit::csv_rows::{Rows, figure};
use assay_model::{Metric, RunComparison};
use std::io::{self, Write};

/// The columns, in order.
const COLUMNS: [&str; 13] = [
    "variant",
    "metric",
    "unit",
    "before",
    "before_low",
    "before_high",
    "after",
    "after_low",
    "after_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
];

/// Writes a row for each change.
///
/// # Errors
/// Those of the writer.
pub fn render(comparison: &RunComparison, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS)?;
    for change in &comparison.changes {
        let unit = Metric::by_id(&change.metric).map_or("", |metric| metric.unit);
        let first = [change.variant.clone(), change.metric.clone(), unit.to_owned()];
        let estimates = [change.before, change.after, change.ratio];
        let figures = estimates.iter().flat_map(|of| [Some(of.estimate), of.low, of.high]).map(figure);
        rows.row(first.into_iter().chain(figures).chain([change.verdict.word().to_owned()]))?;
    }
    rows.end()
}
