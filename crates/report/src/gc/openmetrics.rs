//! What a followed GC log says, as OpenMetrics text (openmetrics.io, version 1.0): counters that only grow, and gauges.

use super::words;
use assay_kit::openmetrics::{family, head, label};
use assay_model::{Exposition, GC_FIGURES, GcDurations, GcReport, GcRow, GcSpace, GcTrouble};
use std::fmt::Write as _;

/// What the HTTP answer calls it.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a log says by now, as OpenMetrics text.
pub fn render(report: &GcReport) -> String {
    let mut out = String::new();
    pauses(&mut out, report);
    let lengths: [(&str, &str, &str, &[GcRow]); 3] = [
        ("concurrent", "Concurrent phases.", "phase", &report.concurrent_by_phase),
        ("stall", "Waits of single threads for memory.", "phase", &report.stalls_by_phase),
        ("safepoint", "Stops at safepoints.", "operation", &report.safepoints_by_operation),
    ];
    for (name, help, key, of) in lengths {
        rows(&mut out, &format!("assay_gc_{name}_seconds"), help, key, of);
    }
    let trouble = |(trouble, n): (&GcTrouble, &u64)| (label("trouble", words::trouble(*trouble)), *n as f64);
    let troubles: Vec<(String, f64)> = report.troubles.iter().map(trouble).collect();
    let help = "Collections in which something went wrong.";
    family(&mut out, ("assay_gc_troubles", "counter", ""), help, &troubles);
    cpu(&mut out, report);
    spaces(&mut out, report);
    figures(&mut out, report);
    out += "# EOF\n";
    out
}

fn pauses(out: &mut String, report: &GcReport) {
    let help = "Pauses for the collector.";
    rows(out, "assay_gc_pause_seconds", help, "phase", &report.pauses_by_phase);
    let longest = |row: &GcRow| Some((label("phase", &row.name), row.durations.max_ms? / 1_000.0));
    let longest: Vec<(String, f64)> = report.pauses_by_phase.iter().filter_map(longest).collect();
    let help = "Longest pause since the log began.";
    family(out, ("assay_gc_pause_max_seconds", "gauge", "seconds"), help, &longest);
}

fn cpu(out: &mut String, report: &GcReport) {
    let sums = [("pauses", &report.cpu), ("concurrent", &report.concurrent_cpu)];
    let samples: Vec<(String, f64)> = sums
        .into_iter()
        .filter_map(|(during, sum)| Some((during, sum.as_ref()?)))
        .flat_map(|(during, sum)| [(during, "user", sum.user_s), (during, "system", sum.sys_s)])
        .map(|(during, mode, s)| (format!("{},{}", label("during", during), label("mode", mode)), s))
        .collect();
    let help = "CPU time of the collector, where the log tells.";
    family(out, ("assay_gc_cpu_seconds", "counter", "seconds"), help, &samples);
}

/// The figures of the model's list, each under its name.
fn figures(out: &mut String, report: &GcReport) {
    for figure in GC_FIGURES {
        let (name, kind) = match figure.exposition {
            Exposition::Counter => (figure.id, "counter"),
            Exposition::CounterAs(name) => (name, "counter"),
            Exposition::Gauge => (figure.id, "gauge"),
            Exposition::Unexposed => continue,
        };
        // A unit is told where the name ends with it, as the standard wants.
        let unit = if name.ends_with(&format!("_{}", figure.unit)) { figure.unit } else { "" };
        let sample: Vec<(String, f64)> =
            figure.read(report).map(|v| (String::new(), v)).into_iter().collect();
        family(out, (&format!("assay_gc_{name}"), kind, unit), figure.help, &sample);
    }
}

fn spaces(out: &mut String, report: &GcReport) {
    let told = report.spaces.iter().filter_map(|(space, of)| Some((space, of.last_bytes?)));
    let sample = |(space, bytes): (&GcSpace, u64)| (label("space", words::space(*space)), bytes as f64);
    let spaces: Vec<(String, f64)> = told.map(sample).collect();
    let help = "Parts of the heap after the last collection.";
    family(out, ("assay_gc_space_bytes", "gauge", "bytes"), help, &spaces);
}

/// Lengths as a summary: count and sum, which only grow.
fn rows(out: &mut String, name: &str, help: &str, key: &str, rows: &[GcRow]) {
    if rows.is_empty() {
        return;
    }
    head(out, (name, "summary", "seconds"), help);
    for row in rows {
        summary(out, name, &label(key, &row.name), &row.durations);
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
