//! What GC logs say as CSV: every figure of the model's list under its name, then the tables behind them, values in full.

use assay_kit::csv_rows::{Rows, figure, whole};
use assay_model::{GC_FIGURES, GcDurations, GcReport, GcRow};
use std::io::{self, Write};

/// The columns, in order.
const COLUMNS: [&str; 7] = ["table", "name", "metric", "unit", "value", "low", "high"];

/// What a log says as CSV: a row for each figure, with its unit and, where there is one, its interval.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &GcReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS)?;
    for of_log in GC_FIGURES {
        let Some(value) = of_log.estimate(report) else { continue };
        let [estimate, low, high] = [Some(value.estimate), value.low, value.high].map(figure);
        rows.row(["log", "all", of_log.id, of_log.unit, &estimate, &low, &high])?;
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
    for (table, list) in tables {
        for row in list {
            durations(&mut rows, table, &row.name, &row.durations)?;
        }
    }
    durations(&mut rows, "time_to_safepoint", "all", &report.time_to_safepoint)?;
    let mut single = |table: &str, name: &str, metric: &str, unit: &str, value: String| match value.is_empty()
    {
        true => Ok(()),
        false => rows.row([table, name, metric, unit, &value, "", ""]),
    };
    for (space, of) in &report.spaces {
        let name = super::words::space(*space);
        let sizes = [
            ("last_bytes", of.last_bytes),
            ("max_bytes", of.max_bytes),
            ("capacity_max_bytes", of.capacity_bytes_max),
        ];
        sizes
            .into_iter()
            .try_for_each(|(metric, value)| single("spaces", name, metric, "bytes", whole(value)))?;
    }
    for mmu in &report.mmu {
        let name = format!("{} ms", mmu.window_ms);
        single("mmu", &name, "utilisation_percent", "percent", figure(Some(mmu.utilisation_percent)))?;
    }
    for (anomaly, number) in &report.anomalies {
        single("anomalies", super::words::anomaly(*anomaly), "count", "events", whole(Some(number)))?;
    }
    for (trigger, number) in &report.triggers {
        single("triggers", trigger, "count", "events", whole(Some(number)))?;
    }
    rows.end()
}

fn durations(rows: &mut Rows<&mut dyn Write>, table: &str, name: &str, of: &GcDurations) -> io::Result<()> {
    rows.row([table, name, "count", "events", &of.count.to_string(), "", ""])?;
    let figures = [
        ("total_ms", (of.count > 0).then_some(of.total_ms)),
        ("p50_ms", of.p50_ms),
        ("p90_ms", of.p90_ms),
        ("p95_ms", of.p95_ms),
        ("p99_ms", of.p99_ms),
        ("p999_ms", of.p999_ms),
        ("max_ms", of.max_ms),
    ];
    figures
        .into_iter()
        .filter(|(_, value)| value.is_some_and(f64::is_finite))
        .try_for_each(|(metric, value)| rows.row([table, name, metric, "ms", &figure(value), "", ""]))
}
