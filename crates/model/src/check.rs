//! Validity checks of results, and reasons to exclude a window.

use crate::Feels;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that was checked before a result was believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidityCheck {
    /// What was checked.
    pub check: Check,
    /// Absent when it could not be checked.
    pub passed: Option<bool>,
    /// What was found, with figures, units and the bound; or why it could not be checked.
    pub evidence: String,
}

/// Why a window or trial is not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// The check that failed.
    pub kind: Check,
    /// The figure that was measured, with unit, and the limit it passed.
    pub evidence: String,
}

/// Kinds that say that the machine was not ours, or that the generator was late; the answers were right all the same.
const UNQUIET: [Check; 7] = [
    Check::CpuPressure,
    Check::Steal,
    Check::Throttled,
    Check::GeneratorLag,
    Check::Clock,
    Check::Arrivals,
    Check::SentRate,
];

impl Disturbance {
    /// Whether a window with this disturbance does not count for metrics that feel so much of others. Wrong answers spoil everything. What others do to the machine
    /// spoils times, rates and CPU time, and counts of bytes, calls and faults never; that the wall clock was set is nothing to CPU time.
    pub fn spoils(&self, felt: Feels) -> bool {
        match felt {
            Feels::Time => true,
            Feels::CpuTime => self.kind != Check::Clock,
            Feels::Nothing => !UNQUIET.contains(&self.kind),
        }
    }

    /// Whether such a window will do where there is no better one: for CPU time, where others used the processors.
    ///
    /// Waiting for a processor is no CPU time, but a server that waits finds several requests when its turn comes, and wakes up less often:
    /// beside two endless loops on two processors one with 200 requests a second took 24 % less for each (95 % CI 19 to 29 %), and garbage,
    /// resident memory and page faults were the same within 4 % (`studies/what-disturbs.toml`). In a comparison that is noise of both sides,
    /// and the interval tells it.
    pub fn leaves_usable(&self, felt: Feels) -> bool {
        !self.spoils(felt) || (felt == Feels::CpuTime && self.kind == Check::CpuPressure)
    }
}

closed! {
    /// Validity checks of a window or a result.
    Check {
        /// All that was planned was measured.
        Complete = "complete",
        /// The server was in its steady state.
        WarmUp = "warm-up",
        /// Operations came as often as planned.
        Mix = "mix",
        /// Each planned operation was sent.
        Operations = "operations",
        /// Requests arrived as a Poisson process.
        Arrivals = "arrivals",
        /// Requests were sent at the offered rate.
        SentRate = "sent-rate",
        /// The generator sent in time.
        GeneratorLag = "generator-lag",
        /// The generator had CPU time left.
        GeneratorCpu = "generator-cpu",
        /// The generator ran before others.
        GeneratorPriority = "generator-priority",
        /// There were connections enough.
        Connections = "connections",
        /// Few requests failed.
        Errors = "errors",
        /// Few requests had no answer.
        LostResponses = "lost-responses",
        /// Few windows were disturbed.
        Disturbance = "disturbance",
        /// Processors were there when they were needed, or not used by others.
        CpuPressure = "cpu-pressure",
        /// The hypervisor gave the processors.
        Steal = "steal",
        /// No CPU limit held the server or the generator.
        Throttled = "throttled",
        /// Nothing else was wrong with the load.
        Load = "load",
        /// The server was as fast at the end as at the beginning.
        Steadiness = "steadiness",
        /// The server was the same process all the time.
        Restart = "restart",
        /// The faults that the study asks for were done.
        Fault = "fault",
        /// Nobody set the clock.
        Clock = "clock",
        /// The server's own account of its data is right.
        Audit = "audit",
        /// Windows at the same rate said the same, whatever came before.
        Path = "path",
        /// The highest rate of a sweep was achieved once more.
        Validation = "validation",
    }
}
