//! A GC log as short as a report on something else can use it.

use super::words;
use assay_kit::Cell;
use assay_kit::document::Finding as FindingText;
use assay_model::{GcFigure, GcReport, gc_figure};

/// Figures that a digest has, each with its name and what its unit is.
const FIGURES: [(&str, &str); 8] = [
    (gc_figure::THROUGHPUT_PERCENT, "Throughput (%)"),
    (gc_figure::PAUSES, "Pauses"),
    (gc_figure::PAUSE_P99_MS, "p99 pause (ms)"),
    (gc_figure::PAUSE_MAX_MS, "Longest pause (ms)"),
    (gc_figure::ALLOCATED_BYTES_PER_S, "Allocated per second"),
    (gc_figure::PROMOTED_PERCENT, "Promoted (%)"),
    (gc_figure::LIVE_SET_BYTES, "Live set"),
    (gc_figure::FULL_COLLECTIONS, "Full collections"),
];

/// The most important figures of a log, with their names, and its findings: rule, severity, claim, evidence, what to do (empty for nothing).
pub fn digest(report: &GcReport) -> (Vec<(&'static str, Cell)>, Vec<[String; 5]>) {
    let value = |id: &str| {
        let value = GcFigure::by_id(id).and_then(|figure| figure.read(report));
        match id {
            gc_figure::THROUGHPUT_PERCENT => value.map(words::percent),
            _ => words::figure_of(id, value),
        }
        .into()
    };
    let figures = FIGURES.iter().map(|(id, name)| (*name, value(id))).collect();
    let one = |found: FindingText| {
        let to_do = found.step.as_ref().map_or_else(String::new, assay_kit::document::Step::in_lines);
        [found.rule, found.severity.to_string(), found.claim, found.evidence.join("; "), to_do]
    };
    (figures, words::findings(report).into_iter().map(one).collect())
}
