//! A log that is followed, on a screen and as lines.

use super::words;
use assay_kit::ink::{Ink, curve, fit};
use assay_kit::number::{count, size};
use assay_kit::terminal::usable;
use assay_kit::text::{clean, shorten};
use assay_kit::{Cell, TerminalView};
use assay_model::{GcPoint, GcReport};

const COUNT: usize = 9;
const FIGURE: usize = 11;
const FINDINGS_SHOWN: usize = 4;
/// Intervals of time whose heap is drawn.
const CURVE: usize = 60;

/// The screen of a log that is followed: at most `rows` lines.
pub fn screen(report: &GcReport, name: &str, rows: u16, view: TerminalView) -> Vec<String> {
    let (ink, width) = (Ink(view.color), usable(view.width));
    let mut lines = vec![ink.bold(&shorten(&clean(name), width))];
    if let Some(jvm) = report.jvms.last() {
        lines.push(shorten(&words::jvm(jvm).join(" · "), width));
    }
    lines.push(shorten(&format!("{}, Ctrl-C ends", words::subject(report)), width));
    lines.push(String::new());
    lines.push(ink.bold(&shorten(&words::headline(report), width)));
    lines.push(shorten(&heap(report), width));
    lines.push(String::new());
    let name = width - COUNT - 4 * FIGURE;
    let heads: String =
        ["total ms", "median", "p99", "longest"].iter().map(|h| format!("{h:>FIGURE$}")).collect();
    lines.push(ink.dim(&format!("{}{:>COUNT$}{heads}", fit("Pauses", name), "count")));
    for row in &report.pauses_by_phase {
        let of = &row.durations;
        let figures: String = [Some(of.total_ms), of.p50_ms, of.p99_ms, of.max_ms]
            .into_iter()
            .map(|v| format!("{:>FIGURE$}", Cell::from(words::figure(v)).brief()))
            .collect();
        lines.push(format!("{}{:>COUNT$}{figures}", fit(&clean(&row.name), name), count(of.count)));
    }
    lines.push(String::new());
    for finding in words::findings(report).iter().take(FINDINGS_SHOWN) {
        lines.push(ink.warn(&shorten(&format!("{}: {}", finding.severity, finding.claim), width)));
    }
    if report.not_understood.lines > 0 {
        lines.push(shorten(&words::not_understood(report), width));
    }
    lines.truncate(usize::from(rows));
    lines
}

/// The heap after collections as a curve from zero to the largest, and as a figure.
fn heap(report: &GcReport) -> String {
    let after: Vec<u64> = report.series.points.iter().filter_map(|p: &GcPoint| p.after_bytes_min).collect();
    let Some(last) = after.last() else { return "no size of the heap yet".to_owned() };
    let shown = &after[after.len().saturating_sub(CURVE)..];
    let curve = curve(shown.iter().map(|bytes| *bytes as f64), Some(0.0), CURVE);
    format!("heap after collections: {} {curve}", size(*last))
}

/// A line for each look at a log that is followed, for a pipe.
pub fn line(report: &GcReport) -> String {
    if report.pauses.count == 0 {
        return "no pause for the collector yet".to_owned();
    }
    let pauses = words::counted(report.pauses.count, "pause", "pauses");
    let longest = report.pauses.max_ms.map_or_else(String::new, |ms| format!(", longest {}", words::ms(ms)));
    let after = report.series.points.iter().rev().find_map(|p| p.after_bytes_min);
    let heap = after.map_or_else(String::new, |bytes| format!(", heap after {}", size(bytes)));
    let throughput = report
        .throughput_percent
        .map_or_else(String::new, |p| format!(", throughput {} %", words::percent(p)));
    format!("{pauses} took {}{longest}{throughput}{heap}", words::ms(report.pauses.total_ms))
}
