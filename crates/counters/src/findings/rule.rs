//! The parts of a rule.

use assay_model::{Finding, RuleId, TimeReport};

/// What a rule finds.
pub(super) type Found = Finding<RuleId>;

/// A rule.
pub(super) type Rule = assay_model::Rule<fn(&TimeReport) -> Vec<Found>>;
