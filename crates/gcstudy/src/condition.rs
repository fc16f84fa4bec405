//! Conditions on a report, for CI: `pause_p99_ms > 200`, and on two: `pause_p99_ms > +10%`.

use assay_model::{GC_FIGURES, GcFigure, GcReport};
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
    #[error("{0}; write for example `pause_p99_ms > 200`, or `> +10%` for a change against the first log")]
    Form(#[from] NoCondition),
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
        let figure = GcFigure::by_id(name).ok_or_else(|| {
            let hint = near::hint(name, GC_FIGURES.iter().map(|figure| figure.id));
            ConditionError::NoSuchFigure { name: name.to_owned(), hint }
        })?;
        Ok(Condition { text: text.trim().to_owned(), figure, relation, limit, is_of_change })
    }

    /// The figure that it is about.
    pub fn figure(&self) -> &'static GcFigure {
        self.figure
    }

    /// Whether it needs two logs.
    pub fn is_of_change(&self) -> bool {
        self.is_of_change
    }

    /// The value that the condition tests: the figure in the log `after`, or, for a change, how much it differs from `before`, in
    /// percent. `None` if a log does not have the figure or there is no log before. A change from zero exceeds any percentage.
    pub fn value(&self, before: Option<&GcReport>, after: &GcReport) -> Option<f64> {
        let after = self.figure.read(after)?;
        if !self.is_of_change {
            return Some(after);
        }
        let before = self.figure.read(before?)?;
        Some(if before == after { 0.0 } else { (after - before) / before.abs() * 100.0 })
    }

    /// Whether it holds for this value.
    pub fn holds(&self, value: f64) -> bool {
        self.relation.holds(value, self.limit)
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
    use assay_model::{GcDurations, GcReport};

    fn report(p99_ms: Option<f64>) -> GcReport {
        let pauses = GcDurations { count: 3, p99_ms, ..GcDurations::default() };
        GcReport { pauses, ..GcReport::default() }
    }

    fn holds(condition: &Condition, before: Option<f64>, after: Option<f64>) -> Option<bool> {
        Some(condition.holds(condition.value(Some(&report(before)), &report(after))?))
    }

    #[track_caller]
    fn check(text: &str, p99_ms: Option<f64>, want: Option<bool>) {
        assert_eq!(holds(&Condition::parse(text).unwrap(), None, p99_ms), want, "{text}");
    }

    #[test]
    fn a_figure_is_held_against_its_limit() {
        check("pause_p99_ms > 200", Some(200.1), Some(true));
        check("pause_p99_ms>200", Some(200.0), Some(false));
        check(" pause_p99_ms >= 2e2 ", Some(200.0), Some(true));
        check("pause_p99_ms < 200", Some(200.0), Some(false));
        check("pause_p99_ms <= 200", Some(200.0), Some(true));
        check("pause_p99_ms == 200", Some(200.0), Some(true));
        check("pause_p99_ms != 200", Some(200.0), Some(false));
        check("pause_p99_ms > 200", None, None);
    }

    #[test]
    fn a_change_is_held_against_its_percentage() {
        let rise = Condition::parse("pause_p99_ms > +10%").unwrap();
        assert_eq!(rise.value(None, &report(Some(5.0))), None);
        assert_eq!(holds(&rise, Some(100.0), Some(111.0)), Some(true));
        assert_eq!(holds(&rise, Some(100.0), Some(109.0)), Some(false));
        assert_eq!(holds(&rise, Some(0.0), Some(0.1)), Some(true));
        assert_eq!(holds(&rise, Some(0.0), Some(0.0)), Some(false));
        assert_eq!(holds(&rise, None, Some(0.1)), None);
        let fall = Condition::parse("pause_p99_ms < -5%").unwrap();
        assert_eq!(holds(&fall, Some(100.0), Some(90.0)), Some(true));
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
    }
}
