//! The raw figures of a log and of the difference between two: every figure of the model's list under its name.

use super::words;
use assay_kit::document::{Data, Value};
use assay_model::{GC_FIGURES, GcComparison, GcDurations, GcFigure, GcReport, GcRow};

/// A row for each figure of a log, with its unit and, where there is one, its interval; then the tables behind them.
pub fn log(report: &GcReport) -> Data {
    let mut data = Data::new(["table", "name", "metric", "unit", "value", "low", "high"]);
    for of_log in GC_FIGURES {
        let Some(value) = of_log.estimate(report) else { continue };
        let [low, high] = [value.low, value.high].map(Value::from);
        let what = ["log", "all", of_log.id, of_log.unit].map(Value::from);
        data.push(what.into_iter().chain([value.estimate.into(), low, high]));
    }
    let tables: [(&str, &[GcRow]); 7] = [
        ("pauses_by_phase", &report.pauses_by_phase),
        ("pauses_by_cause", &report.pauses_by_cause),
        ("full_by_cause", &report.full_by_cause),
        ("concurrent_by_phase", &report.concurrent_by_phase),
        ("cycles_by_phase", &report.cycles_by_phase),
        ("stalls_by_phase", &report.stalls_by_phase),
        ("safepoints_by_operation", &report.safepoints_by_operation),
    ];
    for (table, rows) in tables {
        rows.iter().for_each(|row| durations(&mut data, (table, &row.name), &row.durations));
    }
    durations(&mut data, ("time_to_safepoint", "all"), &report.time_to_safepoint);
    for (space, of) in &report.spaces {
        let sizes = [
            ("last_bytes", of.last_bytes),
            ("max_bytes", of.max_bytes),
            ("capacity_max_bytes", of.capacity_bytes_max),
        ];
        for (metric, value) in sizes {
            single(&mut data, ("spaces", words::space(*space)), (metric, "bytes"), value);
        }
    }
    for mmu in &report.mmu {
        let window = format!("{} ms", mmu.window_ms);
        let metric = ("utilisation_percent", "percent");
        single(&mut data, ("mmu", &window), metric, finite(Some(mmu.utilisation_percent)));
    }
    for (anomaly, number) in &report.anomalies {
        single(&mut data, ("anomalies", words::anomaly(*anomaly)), ("count", "events"), Some(*number));
    }
    for (trigger, number) in &report.triggers {
        single(&mut data, ("triggers", trigger), ("count", "events"), Some(*number));
    }
    data
}

/// A row without an interval; none for what the log does not say.
fn single(
    data: &mut Data,
    (table, name): (&str, &str),
    (metric, unit): (&str, &str),
    value: Option<impl Into<Value>>,
) {
    let Some(value) = value else { return };
    let what = [table, name, metric, unit].map(Value::from);
    data.push(what.into_iter().chain([value.into(), Value::Absent, Value::Absent]));
}

fn durations(data: &mut Data, of_table: (&str, &str), of: &GcDurations) {
    single(data, of_table, ("count", "events"), Some(of.count));
    let figures = [
        ("total_ms", (of.count > 0).then_some(of.total_ms)),
        ("p50_ms", of.p50_ms),
        ("p90_ms", of.p90_ms),
        ("p95_ms", of.p95_ms),
        ("p99_ms", of.p99_ms),
        ("p999_ms", of.p999_ms),
        ("max_ms", of.max_ms),
    ];
    figures.into_iter().for_each(|(metric, value)| single(data, of_table, (metric, "ms"), finite(value)));
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// A row for each figure of two logs, with its unit, and its ratio with the interval.
pub fn comparison(comparison: &GcComparison) -> Data {
    let columns = ["metric", "unit", "before", "after", "ratio", "ratio_low", "ratio_high", "verdict"];
    let mut data = Data::new(columns);
    for one in &comparison.differences {
        let unit = GcFigure::by_id(&one.metric).map_or("", |figure| figure.unit);
        let ratio = one.ratio.as_ref();
        let figures = [
            one.before,
            one.after,
            ratio.map(|ratio| ratio.estimate),
            ratio.and_then(|ratio| ratio.low),
            ratio.and_then(|ratio| ratio.high),
        ];
        let what = [Value::from(one.metric.as_str()), unit.into()];
        data.push(what.into_iter().chain(figures.map(Value::from)).chain([one.verdict.word().into()]));
    }
    data
}
