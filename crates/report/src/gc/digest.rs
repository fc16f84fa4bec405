//! What a GC log says, as short as a report on something else can use it.

use super::words;
use assay_kit::text::clean;
use assay_model::{GcFigure, GcFinding, GcReport, gc_figure};

/// Figures that a digest has.
const FIGURES: [&str; 8] = [
    gc_figure::THROUGHPUT_PERCENT,
    gc_figure::PAUSES,
    gc_figure::PAUSE_P99_MS,
    gc_figure::PAUSE_MAX_MS,
    gc_figure::ALLOCATED_BYTES_PER_S,
    gc_figure::PROMOTED_PERCENT,
    gc_figure::LIVE_SET_BYTES,
    gc_figure::FULL_COLLECTIONS,
];

/// The figures, each with what its unit is; `-` for what the log does not tell.
pub fn figures(report: &GcReport) -> Vec<(&'static str, String)> {
    let name = |id: &str| match id {
        gc_figure::THROUGHPUT_PERCENT => "Throughput (%)",
        gc_figure::PAUSES => "Pauses",
        gc_figure::PAUSE_P99_MS => "p99 pause (ms)",
        gc_figure::PAUSE_MAX_MS => "Longest pause (ms)",
        gc_figure::ALLOCATED_BYTES_PER_S => "Allocated per second",
        gc_figure::PROMOTED_PERCENT => "Promoted (%)",
        gc_figure::LIVE_SET_BYTES => "Live set",
        _ => "Full collections",
    };
    let value = |id: &str| {
        let value = GcFigure::by_id(id).and_then(|figure| figure.read(report));
        match id {
            gc_figure::THROUGHPUT_PERCENT => value.map_or_else(|| "-".to_owned(), words::percent),
            _ => words::figure_of(id, value),
        }
    };
    FIGURES.iter().map(|id| (name(id), value(id))).collect()
}

/// A finding as its rule, how grave it is, the claim, its evidence and what to change (empty for nothing).
pub fn findings(report: &GcReport) -> Vec<[String; 5]> {
    let one = |f: &GcFinding| {
        let change = f.change.as_deref().map_or_else(String::new, clean);
        [
            f.rule.clone(),
            words::severity(f.severity).1.to_owned(),
            clean(&f.claim),
            clean(&f.evidence),
            change,
        ]
    };
    words::gravest_first(report).into_iter().map(one).collect()
}
