//! Every probe, in the stored unit.

use assay_kit::document::{Data, Value};
use assay_model::{FitProbe, FitReport};

/// A row for each probe; of values of an option a row for each.
pub fn data(report: &FitReport) -> Data {
    let number = |value: Option<u64>| value.map_or(Value::Absent, |value| Value::Whole(value.into()));
    if let Some(option) = &report.option {
        let names =
            ["value", "metric", "estimate", "low", "high", "ratio", "ratio_low", "ratio_high", "blocks"];
        let mut data = Data::new(names);
        for of in &option.values {
            let ends = |estimate: Option<assay_model::Estimate>| {
                [
                    estimate.map(|of| of.estimate),
                    estimate.and_then(|of| of.low),
                    estimate.and_then(|of| of.high),
                ]
            };
            let figures = ends(of.metric).into_iter().chain(ends(of.ratio)).map(Value::from);
            let head = [number(Some(of.value)), Value::from(option.metric.as_str())];
            data.push(head.into_iter().chain(figures).chain([number(Some(of.blocks.into()))]));
        }
        return data;
    }
    let mut data = Data::new([
        "probe",
        "resource",
        "purpose",
        "memory_bytes",
        "cpu_millicores",
        "heap_bytes",
        "verdict",
        "counts",
        "requests",
        "errors",
        "response_p50_ms",
        "response_p99_ms",
        "cpu_ms_per_request",
        "cpu_used_millicores",
        "throttled_percent",
        "stalled_percent",
        "peak_bytes",
        "needed_bytes",
        "detail",
    ]);
    for of in &report.probes {
        data.push(row(of, number));
    }
    data
}

fn row(of: &FitProbe, number: impl Fn(Option<u64>) -> Value) -> [Value; 19] {
    [
        number(Some(of.number.into())),
        of.resource.word().into(),
        of.purpose.word().into(),
        number(of.memory_bytes),
        of.cpu_millicores.into(),
        number(of.heap_bytes),
        of.verdict.word().into(),
        Value::Truth(of.counts),
        number(Some(of.requests)),
        number(Some(of.errors)),
        of.response_ms.p50.into(),
        of.response_ms.p99.into(),
        of.cpu_ms_per_request.into(),
        of.cpu_used_millicores.into(),
        of.throttled_percent.into(),
        of.stalled_percent.into(),
        number(of.peak_bytes),
        number(of.needed_bytes),
        of.detail.as_str().into(),
    ]
}
