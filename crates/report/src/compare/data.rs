//! The raw figures of two runs side by side, in the stored unit.

use assay_kit::document::{Data, Value};
use assay_model::{Metric, RunComparison};

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

/// A row for each variant and metric.
pub fn data(comparison: &RunComparison) -> Data {
    let mut data = Data::new(COLUMNS);
    for change in &comparison.changes {
        let unit = Metric::by_id(&change.metric).map_or("", |metric| metric.unit);
        let what = [change.variant.as_str(), &change.metric, unit].map(Value::from);
        let estimates = [change.before, change.after, change.ratio];
        let figures = estimates.iter().flat_map(|of| [Some(of.estimate), of.low, of.high]).map(Value::from);
        data.push(what.into_iter().chain(figures).chain([change.verdict.word().into()]));
    }
    data
}
