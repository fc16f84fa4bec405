//! What releases of the JVM make of options: the stored form of `assay flags --json`.

use crate::Certainty;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// A remark on an option.
    OptionRemark {
        /// The JVM does not start: no flag of this name is in the release.
        Unrecognized = "unrecognized",
        /// The JVM does not start: the flag has to be unlocked by another option.
        Locked = "locked",
        /// The JVM does not start: another option asks for another collector, or for a value that this one cannot stand beside.
        Conflict = "conflict",
        /// The JVM does not start: its form is not one of the option, or the value is not a number as the JVM reads them.
        Malformed = "malformed",
        /// The JVM does not start: the value is beyond the bounds of the option.
        OutOfRange = "out-of-range",
        /// The JVM does not start: the option is one of OpenJ9, and the JVM is HotSpot.
        OtherJvm = "openj9",
        /// The JVM does not start: one of the release that is here refused it.
        Refused = "refused",
        /// The JVM warns, and does nothing.
        Ignored = "ignored",
        /// It works, and the JVM warns that it will not for long.
        Deprecated = "deprecated",
        /// The JVM that is here gives it another value.
        Changed = "changed",
        /// It belongs to a collector that is not in use.
        NoEffect = "no-effect",
        /// A later option sets the same flag.
        Overridden = "overridden",
        /// It is the value that the flag has anyway.
        AlreadyDefault = "default",
        /// The release does not get it: the file gives it to others.
        OtherRelease = "other-release",
        /// Nothing: what the release makes of it is not known.
        NotJudged = "not-judged",
    }
}

/// What releases make of options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlagsReport {
    /// `assay.flags/2`
    pub schema: String,
    /// The process that has the options; absent where they were typed, or read from a file.
    pub pid: Option<u32>,
    /// The file that the options were read from.
    #[serde(default)]
    pub file: Option<String>,
    /// The options in the order in which the JVM reads them; secrets are replaced.
    pub options: Vec<String>,
    /// One for each requested release.
    pub releases: Vec<FlagsOfRelease>,
}

/// What one release makes of options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlagsOfRelease {
    /// Feature release.
    pub release: u32,
    /// The version whose flags were looked up.
    pub version: String,
    /// The home of the JVM that listed them; absent where the table of flags that Assay carries was used.
    pub home: Option<String>,
    /// Whether a JVM of this release starts with these options; absent where not all of them were judged, and none of those that were
    /// prevents it.
    pub starts: Option<bool>,
    /// Whether a JVM of this release that is here was started with the options, but for those that would act outside of it.
    #[serde(default)]
    pub tried: bool,
    /// What that JVM wrote when it did not start; secrets are replaced.
    #[serde(default)]
    pub refusal: Option<String>,
    /// Remarks, by the option's index; an option without remarks has none.
    pub remarks: Vec<RemarkOnOption>,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemarkOnOption {
    /// Index of the option.
    pub option: usize,
    /// Its kind.
    pub remark: OptionRemark,
    /// How well that is known.
    pub certainty: Certainty,
    /// Why.
    pub why: String,
    /// What does the same in this release.
    pub instead: Option<String>,
}
