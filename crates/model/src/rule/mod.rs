//! A rule: one value with all that is said of its findings in general, the thresholds that decide, and the function that judges.

mod id;
mod threshold;

pub use id::RuleId;
pub use threshold::{Threshold, ThresholdUnit};

use crate::{Finding, Severity};

/// A rule. `J` is what judges: a function from what was measured to findings. `R` is its id: [`RuleId`], or a closed enum where other code
/// reacts to particular rules.
///
/// Texts name thresholds by placeholders, `{live_share}`, so that each figure stands once: with the threshold that the judge compares with.
#[derive(Debug, Clone)]
pub struct Rule<J, R = RuleId> {
    /// `rule` in stored findings.
    pub id: R,
    /// How grave its findings are, where its judge does not grade them.
    pub severity: Severity,
    /// Figures from which on it makes a finding. Each is named by a text.
    pub thresholds: &'static [Threshold],
    /// Figures that a finding shows, and from which on it is made.
    pub evidence: &'static str,
    /// What brings it about, and what it costs.
    pub cause: &'static str,
    /// What helps best.
    pub fix: &'static str,
    /// What helps instead, or besides.
    pub alternatives: &'static [&'static str],
    /// What judges.
    pub judge: J,
}

/// What a rule says in general, with its thresholds in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Its id.
    pub id: String,
    /// Figures that a finding shows, and from which on it is made.
    pub evidence: String,
    /// What brings it about, and what it costs.
    pub cause: String,
    /// What helps best.
    pub fix: String,
    /// What helps instead, or besides.
    pub alternatives: Vec<String>,
}

impl<J, R: Clone + std::fmt::Display> Rule<J, R> {
    /// A finding of this rule that rests on what was measured here.
    pub fn finding(&self, claim: impl Into<String>, evidence: impl Into<String>) -> Finding<R> {
        self.graded(self.severity, claim, evidence)
    }

    /// The same, as grave as the figures say.
    pub fn graded(
        &self,
        severity: Severity,
        claim: impl Into<String>,
        evidence: impl Into<String>,
    ) -> Finding<R> {
        Finding::measured(self.id.clone(), severity, claim, evidence)
    }

    /// What it says in general.
    pub fn explained(&self) -> Explanation {
        let filled = |text: &str| {
            let named = |text: String, of: &Threshold| text.replace(&of.placeholder(), &of.to_string());
            self.thresholds.iter().fold(text.to_owned(), named)
        };
        Explanation {
            id: self.id.to_string(),
            evidence: filled(self.evidence),
            cause: filled(self.cause),
            fix: filled(self.fix),
            alternatives: self.alternatives.iter().map(|text| filled(text)).collect(),
        }
    }

    /// What is wrong with its texts; empty for every rule of Assay, which tests hold: a placeholder without a threshold, a threshold that no
    /// text names, and the figure of a threshold that stands in a text itself. Commands, between backquotes, may hold any figure.
    pub fn mistakes(&self) -> Vec<String> {
        let texts =
            || [self.evidence, self.cause, self.fix].into_iter().chain(self.alternatives.iter().copied());
        let id = &self.id;
        let mut mistakes = Vec::new();
        for (index, of) in self.thresholds.iter().enumerate() {
            if !texts().any(|text| text.contains(&of.placeholder())) {
                mistakes.push(format!("{id}: no text names the threshold {}", of.name));
            }
            if self.thresholds[..index].iter().any(|other| other.name == of.name) {
                mistakes.push(format!("{id}: two thresholds are called {}", of.name));
            }
        }
        for text in texts() {
            let rest =
                self.thresholds.iter().fold(text.to_owned(), |rest, of| rest.replace(&of.placeholder(), ""));
            if rest.contains(['{', '}']) {
                mistakes.push(format!("{id}: a placeholder without a threshold in: {text}"));
            }
            let prose: String = rest.split('`').step_by(2).collect();
            let is_twice = |of: &&Threshold| words(&prose).any(|word| of.is_written(word));
            let twice = self.thresholds.iter().filter(is_twice);
            mistakes
                .extend(twice.map(|of| format!("{id}: the figure of {} stands itself in: {text}", of.name)));
        }
        mistakes
    }
}

/// Words and numbers of a text; `1,000` and `0.5` are one each.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| !c.is_alphanumeric() && !matches!(c, ',' | '.');
    text.split(is_between).map(|word| word.trim_matches([',', '.'])).filter(|word| !word.is_empty())
}
