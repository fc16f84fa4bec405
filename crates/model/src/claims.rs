//! Claims of a text about speed and size, checked: the stored form of `assay report --check-claims --json`.

use crate::{Estimate, Problem};
use serde::{Deserialize, Serialize};

/// A text whose claims were checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimReport {
    /// `assay.claims/1`
    pub schema: String,
    /// Where the text is from: a file, or the command line.
    pub text: String,
    /// Study whose run the claims were held against; absent when only their own arithmetic was.
    pub study: Option<String>,
    /// Every claim, in the order of the text.
    pub claims: Vec<CheckedClaim>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A claim that something changed by so much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedClaim {
    /// Line of the text, from 1.
    pub line: u64,
    /// The sentence that it stands in.
    pub sentence: String,
    /// What is claimed, short: `critical-jOPS +51 %`.
    pub claim: String,
    /// What it is about, as the text calls it; absent when it does not say.
    pub metric: Option<String>,
    /// Variant of the run that it is about.
    pub variant: Option<String>,
    /// Variant of the run that it compares with.
    pub baseline: Option<String>,
    /// Number that the text starts from.
    pub from: Option<f64>,
    /// Number that the text comes to.
    pub to: Option<f64>,
    /// New by old as claimed. More than one where words leave it open: a third faster is a higher rate or a shorter time.
    pub stated_ratios: Vec<f64>,
    /// New by old as recomputed: from the text's own numbers, without an interval, or from the run.
    pub computed_ratio: Option<Estimate>,
    /// The judgement.
    pub verdict: ClaimVerdict,
    /// What it rests on.
    pub evidence: String,
}

/// The judgement about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// What was recomputed, rounded as the claim is, is the claim.
    Right,
    /// Off by at most one in its last digit, or by what its "about" allows.
    WithinRounding,
    /// Not what was measured, but inside the interval of what was measured.
    WithinInterval,
    /// Nothing to recompute it from.
    NotChecked,
    /// A sentence with a percentage or a factor that was not understood as a claim.
    NotUnderstood,
    /// The run shows no difference: the interval includes 1.
    NotShown,
    /// Outside the interval of what was measured.
    OutsideInterval,
    /// The text's own numbers give another change.
    WrongArithmetic,
    /// The text's own numbers give it only when read the other way round.
    WrongDirection,
    /// The text says something else about the same thing elsewhere.
    Conflicts,
}

impl ClaimVerdict {
    /// Whether the claim should not stand as it does.
    pub fn is_wrong(self) -> bool {
        matches!(
            self,
            ClaimVerdict::NotShown
                | ClaimVerdict::OutsideInterval
                | ClaimVerdict::WrongArithmetic
                | ClaimVerdict::WrongDirection
                | ClaimVerdict::Conflicts
        )
    }
}
