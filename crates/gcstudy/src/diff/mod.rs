//! What differs between two logs beyond noise.
//!
//! **What is compared with what.** Each log is cut into up to 32 equal intervals of time. How far the intervals of a log lie apart
//! shows how well a figure of the whole is known; pauses that follow each other resemble each other, and taking each as a witness would
//! make every difference look sure. Segments at the same place of both logs are compared with each other, so that a start or a slow
//! growth that both have is not noise. Two runs of the same program differ by more than that: the JIT compiles otherwise, memory lies
//! otherwise, the machine is not what it was. No single pair of logs can show by how much, so that a share of each figure is taken as
//! the deviation between equal runs (`figures::between_runs`) and joined with the error from within.
//!
//! **How sure.** All figures are tested together (Holm with weights): two equal logs are called different in any figure in at most 1 %
//! of pairs. Most of the weight lies on the typical length of a pause, the geometric mean by kind of pause, since it is what a change of
//! pauses shows in soonest. The interval of a ratio is as wide as that asks for, so that it excludes 1 where a difference is shown, and only
//! there. Held by `tests/diff_simulated.rs` and `tests/diff_real.rs`.

mod evidence;
mod family;
mod figures;
mod quantiles;
mod side;

use crate::analysis::Analysis;
use assay_model::{GcDifference, GcFigure, GcVerdict};
use family::levels;
use figures::{TYPICAL, tests};
use side::Side;

/// Weight of the typical pause among all figures.
const WEIGHT_OF_TYPICAL: f64 = 0.8;

/// The differences between two logs, figure by figure. One that neither log has is left out.
///
/// [`GcVerdict::InsufficientData`] is the verdict on a figure that only one of them has, or has too little of: fewer than 6 intervals with
/// anything in them, or fewer than 10 pauses beyond a percentile.
pub fn diff(before: &Analysis, after: &Analysis) -> Vec<GcDifference> {
    let (before, after) = Side::both(before, after);
    let tests = tests(&before, &after);
    let known: Vec<usize> = (0..tests.len()).filter(|index| tests[*index].found.is_some()).collect();
    let others = known.len().saturating_sub(1).max(1) as f64;
    let weight = |metric: &str| {
        if metric == TYPICAL { WEIGHT_OF_TYPICAL } else { (1.0 - WEIGHT_OF_TYPICAL) / others }
    };
    let probabilities = known.iter().filter_map(|index| {
        let test = &tests[*index];
        Some((test.found.as_ref()?.probability, weight(test.metric)))
    });
    let levels = levels(&probabilities.collect::<Vec<_>>());
    let verdict = |index: usize| {
        let at = known.iter().position(|known| *known == index);
        match at.zip(tests[index].found.as_ref()) {
            None => GcVerdict::InsufficientData,
            Some((at, found)) if levels[at] < found.probability => GcVerdict::NoDifferenceShown,
            Some((_, found)) if found.is_up => GcVerdict::Higher,
            Some(_) => GcVerdict::Lower,
        }
    };
    let mut differences = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let read =
            |side: &Side<'_>| GcFigure::by_id(test.metric).and_then(|figure| figure.read(&side.report));
        let (before, after) = match test.figures {
            Some((before, after)) => (Some(before), Some(after)),
            None => (read(&before), read(&after)),
        };
        if before.is_some() || after.is_some() {
            let level = known.iter().position(|known| *known == index).map(|at| levels[at]);
            let ratio = test.found.as_ref().zip(level).and_then(|(found, level)| found.ratio(level));
            let metric = test.metric.to_owned();
            differences.push(GcDifference { metric, before, after, ratio, verdict: verdict(index) });
        }
    }
    differences
}
