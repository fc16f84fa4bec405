//! The raw figures of two builds, in the stored unit.

use assay_kit::document::{Data, Value};
use assay_model::{AbReport, Metric};

/// The columns, in order.
const COLUMNS: [&str; 14] = [
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
    "pairs",
    "smallest_percent",
    "verdict",
];

/// A row for each metric.
pub fn data(report: &AbReport) -> Data {
    let mut data = Data::new(COLUMNS);
    for figure in &report.figures {
        let unit = Metric::by_id(&figure.metric).map_or("", |metric| metric.unit);
        let what = [figure.metric.as_str(), unit].map(Value::from);
        let estimates = [figure.before, figure.after, figure.ratio];
        let figures = estimates.iter().flat_map(|of| {
            let ends = of.map(|of| [of.low, of.high]).unwrap_or_default();
            [of.map(|of| of.estimate), ends[0], ends[1]].map(Value::from)
        });
        let rest =
            [f64::from(figure.pairs).into(), figure.smallest_percent.into(), figure.verdict.word().into()];
        data.push(what.into_iter().chain(figures).chain(rest));
    }
    data
}
