//! What a check says, and the worst of some figures.

use super::facts::WindowFacts;
use super::remedy::remedy;
use assay_model::{Check, ValidityCheck};

/// A verdict. Where it is bad, what mends it stands behind the evidence.
pub(super) fn verdict(check: Check, passed: Option<bool>, evidence: impl Into<String>) -> ValidityCheck {
    let mut evidence = evidence.into();
    if passed == Some(false)
        && let Some(remedy) = remedy(check)
    {
        evidence = format!("{evidence}; {remedy}");
    }
    ValidityCheck { check, passed, evidence }
}

/// The largest of some figures, with its window's rate for the evidence.
pub(super) fn worst<'a>(
    windows: impl IntoIterator<Item = &'a WindowFacts>,
    figure: impl Fn(&WindowFacts) -> Option<f64>,
) -> Option<(f64, f64)> {
    let figures = windows.into_iter().filter_map(|w| Some((figure(w)?, w.offered_rate_per_s)));
    figures.max_by(|a, b| a.0.total_cmp(&b.0))
}
