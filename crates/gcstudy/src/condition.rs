//! Conditions on a report, for CI: `pause_p99_ms > 200`, and on two: `pause_p99_ms > +10%`.

use assay_model::{
    Estimate, GC_FIGURES, GateCase, GateVerdict, GcComparison, GcDifference, GcFigure, GcReport, GcVerdict,
};
use assay_text::condition::{self, NoCondition, Parts, Relation};
use assay_text::near;
use std::fmt;
use thiserror::Error;

/// A condition on a figure, or on its change from one log to another.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    figure: &'static GcFigure,
    relation: Relation,
    limit: f64,
    is_of_change: bool,
}

/// Why a condition could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// It is not a condition.
    #[error("{0}: write for example `pause_p99_ms > 200`, or `> +10%` for a change against the first log")]
    Form(#[from] NoCondition),
    /// A change never equals a number.
    #[error("`{0}`: a change has an interval: compare it by > or <")]
    Equality(String),
    /// There is no such figure.
    #[error("there is no figure `{name}`{hint}")]
    NoSuchFigure {
        /// What was asked for.
        name: String,
        /// The figure whose name is nearest, or all.
        hint: String,
    },
}

impl Condition {
    /// Reads a condition: a figure, a relation and a number; with a sign and `%`, the change of the figure from the first log to the
    /// second.
    ///
    /// # Errors
    /// No relation, no such figure (the nearest one is named), no number.
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        let Parts { name, relation, limit, is_of_change } = condition::parts(text)?;
        if is_of_change && matches!(relation, Relation::Equal | Relation::Unequal) {
            return Err(ConditionError::Equality(text.trim().to_owned()));
        }
        let figure = GcFigure::by_id(name).ok_or_else(|| {
            let hint = near::hint(name, GC_FIGURES.iter().map(|figure| figure.id));
            ConditionError::NoSuchFigure { name: name.to_owned(), hint }
        })?;
        Ok(Condition { text: text.trim().to_owned(), figure, relation, limit, is_of_change })
    }

    /// Whether it needs two logs.
    pub fn is_of_change(&self) -> bool {
        self.is_of_change
    }

    /// The figures of a log of this name: its figures have no error, but for those with an interval.
    pub fn judge(&self, name: &str, report: &GcReport) -> GateCase {
        let measured = self.figure.estimate(report).map(|value| match value.ends() {
            Some(_) => value,
            None => Estimate::exact(value.estimate),
        });
        self.case(
            (name, None),
            measured,
            if measured.is_none() { "the log does not have it" } else { LONGER },
        )
    }

    /// What two logs say: of a value the second; of a change the interval of their comparison.
    pub fn judge_change(&self, comparison: &GcComparison, after: &GcReport) -> GateCase {
        if !self.is_of_change {
            return self.judge(&comparison.after, after);
        }
        let found = comparison.differences.iter().find(|difference| difference.metric == self.figure.id);
        let names = (comparison.after.as_str(), Some(comparison.before.as_str()));
        let Some(found) = found else { return self.case(names, None, NOT_COMPARED) };
        let case = self.case(names, change(found), LONGER);
        match (case.verdict, found.verdict) {
            // Counts of events are compared without a ratio.
            (GateVerdict::Undecided, GcVerdict::NoDifferenceShown) => {
                GateCase { verdict: GateVerdict::NotShown, remedy: "no difference is shown".into(), ..case }
            }
            (GateVerdict::Undecided, _) => GateCase { remedy: TOO_LITTLE.into(), ..case },
            _ => case,
        }
    }

    fn case(
        &self,
        (name, baseline): (&str, Option<&str>),
        measured: Option<Estimate>,
        remedy: &'static str,
    ) -> GateCase {
        GateCase {
            condition: self.text.clone(),
            variant: Some(name.to_owned()),
            baseline: baseline.map(str::to_owned),
            measured,
            again: None,
            unit: if self.is_of_change { "%" } else { self.figure.unit },
            verdict: GateVerdict::of(measured, |value| self.relation.holds(value, self.limit)),
            remedy: remedy.into(),
        }
    }
}

const LONGER: &str = "the interval contains the threshold: longer logs would narrow it";
const TOO_LITTLE: &str = "both logs need more of it for an interval";
const NOT_COMPARED: &str =
    "gc diff has no interval for a change of it; its value is compared without a sign: > 10";

/// A change in percent, with its interval where it has one. A change from nothing exceeds any percentage.
fn change(difference: &GcDifference) -> Option<Estimate> {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    if let Some(Estimate { estimate, low, high }) = difference.ratio {
        return Some(Estimate {
            estimate: percent(estimate),
            low: low.map(percent),
            high: high.map(percent),
        });
    }
    let point = difference
        .before
        .zip(difference.after)
        .map(|(before, after)| if before == after { 0.0 } else { (after - before) / before.abs() * 100.0 });
    match difference.verdict {
        // Events that are counted: a difference beyond noise is as large as it is.
        GcVerdict::Higher | GcVerdict::Lower => point.map(Estimate::exact),
        _ => point.map(|estimate| Estimate { estimate, low: None, high: None }),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::GcDurations;

    fn report(p99_ms: Option<f64>) -> GcReport {
        let pauses = GcDurations { count: 3, p99_ms, ..GcDurations::default() };
        GcReport { pauses, ..GcReport::default() }
    }

    #[track_caller]
    fn check(text: &str, p99_ms: Option<f64>, want: GateVerdict) {
        let case = Condition::parse(text).unwrap().judge("gc.log", &report(p99_ms));
        assert_eq!(case.verdict, want, "{text}: {case:?}");
    }

    #[test]
    fn a_figure_is_held_against_its_limit() {
        check("pause_p99_ms > 200", Some(200.1), GateVerdict::Holds);
        check("pause_p99_ms>200", Some(200.0), GateVerdict::Passes);
        check(" pause_p99_ms >= 2e2 ", Some(200.0), GateVerdict::Holds);
        check("pause_p99_ms < 200", Some(200.0), GateVerdict::Passes);
        check("pause_p99_ms <= 200", Some(200.0), GateVerdict::Holds);
        check("pause_p99_ms == 200", Some(200.0), GateVerdict::Holds);
        check("pause_p99_ms != 200", Some(200.0), GateVerdict::Passes);
        check("pause_p99_ms > 200", None, GateVerdict::Undecided);
    }

    /// Of a comparison in which the figure of the condition has this ratio, or these counts and this verdict.
    fn changed(text: &str, ratio: Option<(f64, f64)>, counts: (f64, f64), verdict: GcVerdict) -> GateVerdict {
        let condition = Condition::parse(text).unwrap();
        let ratio = ratio.map(|(low, high)| Estimate {
            estimate: (low + high) / 2.0,
            low: Some(low),
            high: Some(high),
        });
        let difference = GcDifference {
            metric: condition.figure.id.to_owned(),
            before: Some(counts.0),
            after: Some(counts.1),
            ratio,
            verdict,
        };
        let comparison = GcComparison { differences: vec![difference], ..GcComparison::default() };
        condition.judge_change(&comparison, &report(Some(5.0))).verdict
    }

    #[test]
    fn a_change_is_shown_by_the_whole_interval() {
        let rise =
            |low, high| changed("pause_p99_ms > +10%", Some((low, high)), (1.0, 2.0), GcVerdict::Higher);
        assert_eq!(rise(1.11, 1.3), GateVerdict::Holds);
        assert_eq!(rise(1.05, 1.3), GateVerdict::NotShown);
        assert_eq!(rise(0.9, 1.09), GateVerdict::Passes);
        let counted = |counts, verdict| changed("full_collections > +10%", None, counts, verdict);
        assert_eq!(counted((0.0, 9.0), GcVerdict::Higher), GateVerdict::Holds);
        assert_eq!(counted((2.0, 9.0), GcVerdict::NoDifferenceShown), GateVerdict::NotShown);
        assert_eq!(counted((2.0, 9.0), GcVerdict::InsufficientData), GateVerdict::Undecided);
        let other = Condition::parse("pause_max_ms > +10%").unwrap();
        let none = GcComparison::default();
        assert_eq!(other.judge_change(&none, &report(None)).verdict, GateVerdict::Undecided);
        let of_value = Condition::parse("pause_p99_ms > 4").unwrap();
        assert_eq!(of_value.judge_change(&none, &report(Some(5.0))).verdict, GateVerdict::Holds);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        let error = |text: &str| Condition::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("pause_99_ms > 3"),
            "there is no figure `pause_99_ms`; did you mean `pause_p99_ms`?"
        );
        assert!(error("pause_p99_ms").contains("has none of >"));
        assert!(error("pause_p99_ms > many").contains("`many` is not a number"));
        assert!(error("pause_p99_ms > NaN").contains("is not a number"));
        assert!(error("pause_p99_ms > 10%").contains("is not a number"));
        assert!(error("pause_p99_ms != +0%").contains("has an interval"));
    }
}
