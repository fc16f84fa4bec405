//! `assay judge`: a set of JVM flags on a server, judged as a whole, by its groups, and by its flags.

use crate::closed::closed;
use crate::{AbFigure, JvmFacts, OptionRemark, Problem, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What flags are about: those of one group act together.
    FlagGroup {
        /// A collector, and what it is told.
        Collector = "collector",
        /// Size of the heap and of its generations.
        HeapSize = "heap size",
        /// Pages of memory, and on which node they lie.
        Pages = "memory pages",
        /// Width of references and layout of objects.
        Objects = "references and objects",
        /// Memory outside the heap.
        NativeMemory = "memory outside the heap",
        /// JIT compilers and their code.
        Jit = "JIT compilers",
        /// Processors and threads that the JVM believes to have.
        Processors = "processors",
        /// Archives of classes, and what is checked when classes are loaded.
        Start = "start",
        /// Logs.
        Logging = "logging",
        /// What helps to find errors: dumps, recordings, agents.
        Diagnosis = "diagnosis",
        /// Class paths and modules.
        Classes = "classes and modules",
        /// Properties of the program.
        Properties = "properties",
        /// Flags that only make others possible; they are left out of no comparison.
        Unlock = "unlock",
        /// All others.
        Rest = "others",
    }
}

closed! {
    /// Which part of a set of flags is compared.
    JudgedPartKind {
        /// All flags with none.
        Whole = "whole",
        /// All flags with all but those of a group.
        Group = "group",
        /// All flags with all but one.
        Flag = "flag",
    }
}

closed! {
    /// Reasons for which a part is not measured.
    NotMeasuredReason {
        /// The time was over.
        NoTime = "no-time",
        /// Both sides get the same options: without the flag the JVM takes what it says.
        SameOptions = "same-options",
        /// No JVM starts with the other flags alone.
        DoesNotStart = "does-not-start",
        /// The user stopped it.
        Stopped = "stopped",
        /// Its run failed.
        Failed = "failed",
    }
}

/// What a set of flags does to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeReport {
    /// `assay.judge/1`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The server's command, without what may be secret, or the study's name.
    pub server: String,
    /// Its JVM; absent where the command starts it by other means.
    pub jvm: Option<JvmFacts>,
    /// The flags in the order in which the JVM reads them.
    pub flags: Vec<JudgedFlag>,
    /// The load, in words.
    pub load: String,
    /// The time that was given, seconds.
    pub budget_s: f64,
    /// The time that it took, seconds.
    pub took_s: f64,
    /// A change for the worse beyond this fails a build, percent.
    pub limit_percent: f64,
    /// The whole set first, then groups, then single flags.
    pub parts: Vec<JudgedPart>,
    /// Seed of every random draw.
    pub seed: u64,
    /// Folder of the runs, absolute.
    pub runs: String,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedFlag {
    /// As it was typed; secrets are replaced.
    pub text: String,
    /// What it is about.
    pub group: FlagGroup,
    /// The first remark of this release on it; one that the release takes as it is has none.
    pub remark: Option<OptionRemark>,
    /// Why.
    pub why: Option<String>,
    /// Whether it does nothing by itself in this release, so that no trial is spent on it.
    pub is_idle: bool,
}

/// A comparison: all flags with all but those of this part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedPart {
    /// Which part.
    pub kind: JudgedPartKind,
    /// The group or the flag; of the whole set its size.
    pub name: String,
    /// Indices of the flags that one side has and the other has not.
    pub flags: Vec<usize>,
    /// The time that it was given, seconds; absent where it was not measured.
    pub budget_s: Option<f64>,
    /// Every figure, before without these flags and after with them; none where it was not measured.
    pub figures: Vec<AbFigure>,
    /// The run directory, absolute; absent where it was not measured.
    pub run: Option<String>,
    /// Why it was not measured; absent where it was.
    pub not_measured: Option<NotMeasured>,
}

/// Why a part was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotMeasured {
    /// The reason.
    pub reason: NotMeasuredReason,
    /// What the JVM or the run said; may be empty.
    pub detail: String,
}
