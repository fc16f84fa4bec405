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
        /// The JVM does not start: another option asks for another collector.
        Conflict = "conflict",
        /// The JVM does not start: the value is not a number as it reads them.
        Malformed = "malformed",
        /// The JVM warns, and does nothing.
        Ignored = "ignored",
        /// It works, and the JVM warns that it will not for long.
        Deprecated = "deprecated",
        /// It belongs to a collector that is not in use.
        NoEffect = "no-effect",
        /// A later option sets the same flag.
        Overridden = "overridden",
        /// It is the value that the flag has anyway.
        AlreadyDefault = "default",
        /// Nothing: it is not a flag that the table has.
        NotJudged = "not-judged",
    }
}

/// What releases make of options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlagsReport {
    /// `assay.flags/1`
    pub schema: String,
    /// The process that has the options; absent where they were typed.
    pub pid: Option<u32>,
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
    /// Whether a JVM of this release starts with these options, as far as flags decide.
    pub starts: bool,
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
