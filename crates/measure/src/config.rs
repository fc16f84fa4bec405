//! Settings of a search: its limits, and the disturbances accepted during it.

use assay_model::{CapacityMethod, LatencyLimit};

/// What is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityConfig {
    /// What is loaded, in words.
    pub target: String,
    /// The scenario that the load source follows, for the record.
    pub scenario: Option<String>,
    /// Which way the given method goes.
    pub method: CapacityMethod,
    /// The percentile that the limits hold for, 0 to 100.
    pub percentile: f64,
    /// Limits of the response time: upwards, those of single operations behind the others.
    pub limits: Vec<LatencyLimit>,
    /// Operations that the limits of no single one hold for; empty: all. The load source has the same.
    pub limited_operations: Vec<String>,
    /// Time that the method may take in all, seconds.
    pub budget_s: f64,
    /// Connections of the load source at most, for messages.
    pub connections: u32,
    /// Seed of every random draw, for the record.
    pub seed: u64,
    /// What is accepted.
    pub bounds: Bounds,
    /// Whether disturbed windows count, too: on a machine that is never quiet, no others exist. They stay marked, and too many
    /// of them still make the result invalid.
    pub counts_disturbed: bool,
}

impl CapacityConfig {
    /// Share of requests that may exceed a limit.
    pub fn miss_share(&self) -> f64 {
        (1.0 - self.percentile / 100.0).clamp(0.0, 1.0)
    }
}

/// Bounds of what is accepted, all as shares from 0 to 1. Where a count decides, chance is allowed for besides: see
/// [`crate::validity`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Processors used by others, of the machine, in a window that counts (`assay_host` says why).
    pub foreign_cpu_share: f64,
    /// Time taken by the hypervisor, of the machine, in a window that counts.
    pub steal_share: f64,
    /// Time in which a CPU limit held the generator, in a window that counts. Nothing but rounding is accepted.
    pub own_throttled_share: f64,
    /// Time in which a CPU limit held this process, and with it a server that it started. Absent: not judged, as in a search for a
    /// capacity, where such a limit is part of the machine.
    pub throttled_share: Option<f64>,
    /// CPU time of the generator, of one core.
    pub generator_cpu_share: f64,
    /// Windows that did not count.
    pub windows_lost_share: f64,
    /// Requests sent against those asked for.
    pub sent_rate_share: f64,
    /// Failed requests, clearly below the capacity.
    pub error_share: f64,
    /// Requests without an answer, clearly below the capacity.
    pub lost_share: f64,
    /// Lag of the generator that leaves a limit its answer, as a part of the limit: see `answer.rs`.
    pub lag_part_of_limit: f64,
    /// Requests that waited for a connection, clearly below the capacity.
    pub connection_wait_share: f64,
    /// Step of the wall clock against the monotonic one, seconds.
    pub clock_step_s: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            foreign_cpu_share: 0.10,
            steal_share: 0.03,
            own_throttled_share: 0.005,
            throttled_share: None,
            generator_cpu_share: assay_load::GENERATOR_CPU_SHARE_MAX,
            windows_lost_share: 1.0 / 3.0,
            sent_rate_share: 0.01,
            error_share: assay_load::ERROR_SHARE_MAX,
            lost_share: 0.001,
            lag_part_of_limit: 0.1,
            connection_wait_share: 0.01,
            clock_step_s: 0.1,
        }
    }
}

impl Bounds {
    /// The same for one side of a duet: what disturbs the whole machine disturbs the other side alike, and what disturbs one half is judged
    /// when both sides are known ([`crate::duet`]).
    pub(crate) fn of_one_side(self) -> Bounds {
        Bounds {
            foreign_cpu_share: f64::INFINITY,
            steal_share: f64::INFINITY,
            own_throttled_share: f64::INFINITY,
            throttled_share: None,
            clock_step_s: f64::INFINITY,
            ..self
        }
    }
}
