//! The raw figures of a set of flags and of its parts, in the stored unit.

use assay_kit::document::{Data, Value};
use assay_model::JudgeReport;

/// A row for each figure of each part; of a part that was not measured one without figures.
pub fn data(report: &JudgeReport) -> Data {
    let mut data = Data::new([
        "part",
        "name",
        "metric",
        "without",
        "with",
        "ratio",
        "ratio_low",
        "ratio_high",
        "pairs",
        "smallest_percent",
        "verdict",
        "not_measured",
    ]);
    for part in &report.parts {
        let head = [part.kind.word().into(), Value::from(part.name.as_str())];
        for figure in &part.figures {
            let ends = figure.ratio.map(|of| [of.low, of.high]).unwrap_or_default();
            let estimates = [figure.before, figure.after, figure.ratio].map(|of| of.map(|of| of.estimate));
            let figures = estimates.into_iter().chain(ends).map(Value::from);
            let rest = [
                f64::from(figure.pairs).into(),
                figure.smallest_percent.into(),
                figure.verdict.word().into(),
                Value::Absent,
            ];
            let metric = [Value::from(figure.metric.as_str())];
            data.push(head.clone().into_iter().chain(metric).chain(figures).chain(rest));
        }
        if let Some(why) = &part.not_measured {
            let absent = std::iter::repeat_n(Value::Absent, 9);
            data.push(head.into_iter().chain(absent).chain([Value::from(super::words::unmeasured(why))]));
        }
    }
    data
}
