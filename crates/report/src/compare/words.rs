//! The sentences and names of a comparison of runs.

use super::voice::{Amount, MetricWording, named};
use assay_findings::shown_unit;
use assay_kit::number::counted;
use assay_kit::text::{clean, to_the_second};
use assay_model::{ComparedRun, Metric, RunChange, RunComparison};

/// The caution that belongs to figures that were not measured side by side.
pub const CAUTION: &str = "The runs were not measured side by side. The ratios include effects of the machine \
    on one run alone, but their intervals do not. Comparisons within one study are more certain.";

/// The metric that decides.
pub fn is_primary(comparison: &RunComparison, change: &RunChange) -> bool {
    let id = &comparison.after.primary_metric;
    change.metric == *id || change.metric.split('/').next() == Some(id)
}

/// The largest difference, and how many figures differ.
pub fn headline(comparison: &RunComparison) -> String {
    if comparison.changes.is_empty() {
        return "The runs have no figure in common.".to_owned();
    }
    let shown = comparison.changes.iter().filter(|change| change.verdict.is_shown()).count();
    let all = counted(comparison.changes.len() as u64, "figure", "figures");
    let tally = match shown {
        0 => format!("None of {all} differs by more than the runs' own noise."),
        1 => format!("1 of {all} differs by more than the runs' own noise."),
        n => format!("{n} of {all} differ by more than the runs' own noise."),
    };
    largest(comparison).map_or_else(|| tally.clone(), |largest| format!("{largest} {tally}"))
}

/// `64-bit/1g allocates 50 % more per request than before (95 % CI 40-60 %).` Of the metric that decides, if it differs in any variant;
/// of all otherwise.
fn largest(comparison: &RunComparison) -> Option<String> {
    let is_number = |change: &&RunChange| change.ratio.estimate.is_finite() && 0.0 < change.ratio.estimate;
    let shown: Vec<&RunChange> =
        comparison.changes.iter().filter(|c| c.verdict.is_shown()).filter(is_number).collect();
    let size = |change: &RunChange| change.ratio.estimate.ln().abs();
    let by_size = |a: &&&RunChange, b: &&&RunChange| size(a).total_cmp(&size(b));
    let of_primary = shown.iter().filter(|change| is_primary(comparison, change)).max_by(by_size);
    let change = of_primary.or_else(|| shown.iter().max_by(by_size))?;
    let metric = Metric::by_id(&change.metric)?;
    let amount = Amount::of((change.ratio.estimate, change.ratio.estimate));
    let clause = MetricWording::of(&metric).clause(&amount, Some("before"));
    Some(format!("{} {clause} {}.", named(&clean(&change.variant)), amount.interval(change.ratio.ends())))
}

/// A run, for a line under the heading.
pub fn run(run: &ComparedRun) -> String {
    let at = run.started_at.as_ref().map_or_else(String::new, |at| format!(", {}", to_the_second(at)));
    format!("{} ({}{at})", clean(&run.folder), clean(&run.study))
}

/// Title of a metric, and the unit in which it is shown with its divisor.
pub fn metric(id: &str) -> (String, &'static str, f64) {
    let Some(metric) = Metric::by_id(id) else { return (clean(id), "", 1.0) };
    let (unit, divisor) = shown_unit(&metric);
    (clean(&metric.title), unit, divisor)
}
