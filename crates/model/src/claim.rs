//! What others say about the metrics of a study, and what the run makes of it.

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who says something, and of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimSubject {
    /// Who says it. Claims and published values of one source speak of the same measurements.
    pub source: String,
    /// Where in the source it stands, for example `conclusion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its words, where the source says in words what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotation: Option<String>,
    /// Metric identifier.
    pub metric: String,
    /// Level that it is about, of the first factor that has it; once it is judged, the name of the variant, if the run has it.
    pub variant: String,
    /// Level, or once it is judged variant, that it compares with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// Which way a metric goes, where a source gives no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It is larger than that of the baseline.
    Rises,
    /// It is smaller.
    Falls,
}

/// What words such as "slightly" or "a big drop" are taken to mean: the change from `baseline` lies between these. The study file decides it
/// once, beside the quotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Smallest change of the metric, percent; absent: no limit downward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent_min: Option<f64>,
    /// Largest change, percent; absent: no limit upward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent_max: Option<f64>,
}

impl Reading {
    /// Whether the words are given no figures.
    pub fn is_none(&self) -> bool {
        self.change_percent_min.is_none() && self.change_percent_max.is_none()
    }
}

/// A claim of a study file: that a variant changes a metric by so much (`change_percent` from `baseline`), by about as much as words say
/// (`change_percent_min`, `change_percent_max`) or in a `direction`, or has such a `value` of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Whose claim it is, and what it is about.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// Claimed change of the metric from `baseline` to `variant`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// What the claim's words are taken to mean.
    #[serde(flatten)]
    pub reading: Reading,
    /// Claimed direction of the metric from `baseline` to `variant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Claimed value, in the metric's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How far off it may be, percent of the baseline or of the value. Default: half a unit of its last digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub within_percent: Option<f64>,
    /// Levels of the other factors that it holds for; empty when it holds for all.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
}

/// Published values and claims of a study, judged against its run and against each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCheck {
    /// Each statement for each variant that it is about.
    pub judged: Vec<JudgedClaim>,
    /// Statements of one source that cannot both be true, whatever the run measured.
    pub contradictions: Vec<Contradiction>,
}

impl ClaimCheck {
    /// Whether nothing was published or claimed.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty() && self.contradictions.is_empty()
    }
}

/// A statement about one variant of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Whose statement it is, and what it is about.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// Whether `stated` and `measured` are ratios to the baseline; otherwise values in the metric's unit.
    pub is_ratio: bool,
    /// The claimed ratio; 1 where a direction or a change in words is claimed.
    pub stated: f64,
    /// What words are taken to mean, where the claim has no figure.
    #[serde(flatten)]
    pub reading: Reading,
    /// The direction, where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What the run measured; absent where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Estimate>,
    /// The judgement.
    pub verdict: ClaimVerdict,
}

/// What the run says to a claim. A statement of a change has a direction; of a value, or that nothing changes, it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The measured interval lies on the stated side of no change and agrees with the stated size: it meets a stated figure and has no room
    /// for twice the change, or lies within what words are taken to mean.
    SameDirectionAndSize,
    /// It lies on the stated side of no change, and apart from the stated size.
    SameDirectionOtherSize,
    /// It lies on the stated side of no change; no size is stated, or the interval has room for the stated one and for others.
    SameDirection,
    /// Of a statement without a direction: the interval agrees with what is stated.
    SameSize,
    /// Of a statement without a direction: the interval lies apart from what is stated.
    OtherSize,
    /// The interval lies on the other side of no change.
    Opposite,
    /// The interval has room for no change, and none for the stated one.
    NoDifferenceShown,
    /// The interval has room for what is stated, and for nothing or for twice as much as well.
    Undecided,
    /// The interval would decide, but holds for one server of each variant.
    OneServerEach,
    /// The run has no interval for it.
    NotMeasured,
}

impl ClaimVerdict {
    /// All, in the order of reports.
    pub const ALL: [ClaimVerdict; 10] = [
        ClaimVerdict::SameDirectionAndSize,
        ClaimVerdict::SameDirectionOtherSize,
        ClaimVerdict::SameDirection,
        ClaimVerdict::SameSize,
        ClaimVerdict::OtherSize,
        ClaimVerdict::Opposite,
        ClaimVerdict::NoDifferenceShown,
        ClaimVerdict::Undecided,
        ClaimVerdict::OneServerEach,
        ClaimVerdict::NotMeasured,
    ];

    /// In words, for people.
    pub fn title(self) -> &'static str {
        match self {
            ClaimVerdict::SameDirectionAndSize => "same direction and size",
            ClaimVerdict::SameDirectionOtherSize => "same direction, other size",
            ClaimVerdict::SameDirection => "same direction",
            ClaimVerdict::SameSize => "same size",
            ClaimVerdict::OtherSize => "other size",
            ClaimVerdict::Opposite => "opposite",
            ClaimVerdict::NoDifferenceShown => "no difference shown",
            ClaimVerdict::Undecided => "undecided",
            ClaimVerdict::OneServerEach => "undecided, one server of each variant",
            ClaimVerdict::NotMeasured => "not measured here",
        }
    }
}

/// Two statements of one source that cannot both be true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contradiction {
    /// The source and subject of both; each has its own place in the source.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// The one.
    pub one: Statement,
    /// The other.
    pub other: Statement,
}

/// One side of a contradiction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// Where in the source it stands, or what it follows from.
    pub place: String,
    /// The ratio to the baseline, or the value.
    pub stated: f64,
}
