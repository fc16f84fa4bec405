//! What a followed GC log says, as OpenMetrics text (openmetrics.io, version 1.0): counters that only grow, and gauges.

use super::words;
use assay_kit::openmetrics::{family, head, label};
use assay_model::{Exposition, GC_FIGURES, GcAnomaly, GcDurations, GcFigure, GcReport, GcRow, GcSpace};
use std::fmt::Write as _;

/// What the HTTP answer calls it.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A family of the text: what a scraper finds under one name.
#[derive(Debug, Clone, Copy)]
pub struct GcFamily {
    /// Prefix of its names, without that of all families.
    suffix: &'static str,
    /// `counter`, `gauge` or `summary`.
    pub kind: &'static str,
    /// Its unit, where the name ends with it, as the standard wants; otherwise nothing.
    pub unit: &'static str,
    /// What tells its series apart.
    pub labels: &'static [&'static str],
    /// Its meaning, in one sentence.
    pub help: &'static str,
}

impl GcFamily {
    const fn new(
        suffix: &'static str,
        kind: &'static str,
        unit: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> GcFamily {
        GcFamily { suffix, kind, unit, labels, help }
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("assay_gc_{}", self.suffix)
    }

    /// The names of its series; the first one of a summary has a label `quantile` besides.
    pub fn series(&self) -> Vec<String> {
        let name = self.name();
        match self.kind {
            "counter" => vec![format!("{name}_total")],
            "summary" => vec![name.clone(), format!("{name}_count"), format!("{name}_sum")],
            _ => vec![name],
        }
    }

    /// The family of a figure of the model's list, if it has one.
    fn of_figure(figure: &GcFigure) -> Option<GcFamily> {
        let (suffix, kind) = match figure.exposition {
            Exposition::Counter => (figure.id, "counter"),
            Exposition::CounterAs(name) => (name, "counter"),
            Exposition::Gauge => (figure.id, "gauge"),
            Exposition::Unexposed => return None,
        };
        let unit = if suffix.ends_with(&format!("_{}", figure.unit)) { figure.unit } else { "" };
        Some(GcFamily::new(suffix, kind, unit, &[], figure.help))
    }
}

const PAUSE: GcFamily =
    GcFamily::new("pause_seconds", "summary", "seconds", &["phase"], "Pauses for the collector.");
const PAUSE_MAX: GcFamily =
    GcFamily::new("pause_max_seconds", "gauge", "seconds", &["phase"], "Longest pause since the log began.");
const CONCURRENT: GcFamily =
    GcFamily::new("concurrent_seconds", "summary", "seconds", &["phase"], "Concurrent phases.");
const STALL: GcFamily = GcFamily::new(
    "stall_seconds",
    "summary",
    "seconds",
    &["phase"],
    "Allocation stalls: waits of single threads for memory.",
);
const SAFEPOINT: GcFamily =
    GcFamily::new("safepoint_seconds", "summary", "seconds", &["operation"], "Stops at safepoints.");
const ANOMALIES: GcFamily = GcFamily::new(
    "anomalies",
    "counter",
    "",
    &["anomaly"],
    "Collections in which something went wrong, by cause.",
);
const CPU: GcFamily = GcFamily::new(
    "cpu_seconds",
    "counter",
    "seconds",
    &["during", "mode"],
    "CPU time of the collector, where the log gives it.",
);
const SPACE: GcFamily = GcFamily::new(
    "space_bytes",
    "gauge",
    "bytes",
    &["space"],
    "Parts of the heap after the last collection.",
);

/// Every family that a log can have, in the order of the text. One of which this log says nothing is not in its text.
pub fn families() -> Vec<GcFamily> {
    let with_labels = [PAUSE, PAUSE_MAX, CONCURRENT, STALL, SAFEPOINT, ANOMALIES, CPU, SPACE];
    with_labels.into_iter().chain(GC_FIGURES.iter().filter_map(GcFamily::of_figure)).collect()
}

/// What a log says by now, as OpenMetrics text.
pub fn render(report: &GcReport) -> String {
    let mut out = String::new();
    summaries(&mut out, PAUSE, &report.pauses_by_phase);
    let longest = |row: &GcRow| Some((label("phase", &row.name), row.durations.max_ms? / 1_000.0));
    let longest: Vec<(String, f64)> = report.pauses_by_phase.iter().filter_map(longest).collect();
    samples(&mut out, PAUSE_MAX, &longest);
    summaries(&mut out, CONCURRENT, &report.concurrent_by_phase);
    summaries(&mut out, STALL, &report.stalls_by_phase);
    summaries(&mut out, SAFEPOINT, &report.safepoints_by_operation);
    let anomaly = |(anomaly, n): (&GcAnomaly, &u64)| (label("anomaly", words::anomaly(*anomaly)), *n as f64);
    let anomalies: Vec<(String, f64)> = report.anomalies.iter().map(anomaly).collect();
    samples(&mut out, ANOMALIES, &anomalies);
    samples(&mut out, CPU, &cpu(report));
    samples(&mut out, SPACE, &spaces(report));
    for figure in GC_FIGURES {
        if let (Some(family), Some(value)) = (GcFamily::of_figure(figure), figure.read(report)) {
            samples(&mut out, family, &[(String::new(), value)]);
        }
    }
    out += "# EOF\n";
    out
}

fn samples(out: &mut String, of: GcFamily, samples: &[(String, f64)]) {
    family(out, (&of.name(), of.kind, of.unit), of.help, samples);
}

fn cpu(report: &GcReport) -> Vec<(String, f64)> {
    let sums = [("pauses", &report.cpu), ("concurrent", &report.concurrent_cpu)];
    sums.into_iter()
        .filter_map(|(during, sum)| Some((during, sum.as_ref()?)))
        .flat_map(|(during, sum)| [(during, "user", sum.user_s), (during, "system", sum.sys_s)])
        .map(|(during, mode, s)| (format!("{},{}", label("during", during), label("mode", mode)), s))
        .collect()
}

fn spaces(report: &GcReport) -> Vec<(String, f64)> {
    let known = report.spaces.iter().filter_map(|(space, of)| Some((space, of.last_bytes?)));
    let sample = |(space, bytes): (&GcSpace, u64)| (label("space", words::space(*space)), bytes as f64);
    known.map(sample).collect()
}

/// Lengths as summaries: count and sum, which only grow.
fn summaries(out: &mut String, of: GcFamily, rows: &[GcRow]) {
    let (name, [key]) = (of.name(), of.labels) else { return };
    if rows.is_empty() {
        return;
    }
    head(out, (&name, of.kind, of.unit), of.help);
    for row in rows {
        summary(out, &name, &label(key, &row.name), &row.durations);
    }
}

fn summary(out: &mut String, name: &str, labels: &str, of: &GcDurations) {
    let quantiles = [("0.5", of.p50_ms), ("0.9", of.p90_ms), ("0.99", of.p99_ms), ("0.999", of.p999_ms)];
    for (quantile, value) in quantiles {
        if let Some(ms) = value.filter(|v| v.is_finite() && *v >= 0.0) {
            let _ = writeln!(out, "{name}{{{labels},quantile=\"{quantile}\"}} {}", ms / 1_000.0);
        }
    }
    let _ = writeln!(out, "{name}_count{{{labels}}} {}", of.count);
    if of.total_ms.is_finite() && of.total_ms >= 0.0 {
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", of.total_ms / 1_000.0);
    }
}
