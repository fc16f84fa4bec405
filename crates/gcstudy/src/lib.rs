//! What collections cost and what follows from it: from the records of `assay-gclog` to a report of a whole log, to the difference
//! between two logs, and to the garbage and pauses of the windows of a trial.
//!
//! [`Analysis`] takes records as they come, in memory that does not grow with the log, and gives an [`assay_model::GcReport`] with its
//! findings at any time. [`diff()`] compares two of them, [`Condition`] checks one in CI.

mod analysis;
mod block;
mod bytes;
mod condition;
mod diff;
mod events;
mod findings;
mod heap_balance;
mod intervals;
mod lengths;
mod live;
mod live_set;
mod mmu;
mod part;
mod safepoints;
mod series;
mod spaces;
mod stalled;
mod timeline;
mod trial;
mod unrecognized;
mod window;

pub use analysis::{Analysis, AnalysisOptions, Requests};
pub use condition::{Condition, ConditionError};
pub use diff::diff;
pub use events::EventsTee;
pub use findings::rules;
pub use live::{LiveStops, Stop, StopsBetween};
pub use part::{LogPart, LogTime};
pub use trial::TrialLog;
pub use window::{GcWindow, PauseWindow, freed_between, freed_until, pauses_between};
