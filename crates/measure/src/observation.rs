//! Observations of server and machine during a window of load.

use assay_host::HostInterval;
use assay_load::{IntervalLogs, Measured};
use assay_model::{LateCause, MachineSpeed, Problem, Window};
use std::time::Duration;

/// Causes that are times of the server or the machine; the others are read from the request's own instants.
pub const WATCHED: [LateCause; 6] = [
    LateCause::GcPause,
    LateCause::Safepoint,
    LateCause::RunQueue,
    LateCause::Throttling,
    LateCause::Steal,
    LateCause::OtherProcesses,
];

/// A time in which something took processors from the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// What.
    pub cause: LateCause,
    /// Start, `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Part of the time that a request lost, above 0, at most 1: 1 for a pause; where only counters were read at both ends, the
    /// mean over the time between.
    pub share: f64,
}

/// Observations between two instants. Values that could not be read are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Times in which something took processors from the server; those of one cause do not overlap.
    pub spans: Vec<Span>,
    /// Causes that were looked for.
    pub watched: Vec<LateCause>,
    /// The machine's gauges.
    pub host: Option<HostInterval>,
    /// Processors used by others than server and generator, of the machine.
    pub foreign_cpu_share: Option<f64>,
    /// How fast the server's machine was just before.
    pub machine: Option<MachineSpeed>,
    /// CPU time that the server used between the two.
    pub server_cpu_ns: Option<u64>,
    /// Of it, that of threads with names of JIT compilers; absent where there are none.
    pub compilers_cpu_ns: Option<u64>,
    /// A CPU limit that holds the generator and not the server: part of the time.
    pub own_throttled_share: Option<f64>,
    /// How far the wall clock was set, seconds.
    pub clock_step_s: Option<f64>,
    /// Why the server is not the one that it was before; absent when it is.
    pub restart: Option<String>,
}

/// Watches server and machine.
pub trait Watcher {
    /// Observations between two instants, `CLOCK_MONOTONIC`. Windows are asked for one after the other; what lies before is
    /// forgotten.
    fn seen(&mut self, from_ns: u64, to_ns: u64) -> Observation;

    /// How fast the server's machine is, measured now, while no load runs; absent where the server's machine is not known.
    fn machine_speed(&mut self) -> Option<MachineSpeed>;

    /// What cannot be watched here, and why.
    fn problems(&self) -> Vec<Problem>;

    /// Whether the server's own process is known.
    fn knows_server(&self) -> bool;

    /// A window of load begins, after so much settling: the observers look from now on until it is over. Where the generator's interval log goes, if one
    /// of them keeps it.
    fn begin_window(&mut self, _settle: Duration) -> Option<IntervalLogs> {
        None
    }

    /// A load run is over, in warm-up or in a window.
    fn end_load(&mut self, _measured: &Measured) {}

    /// A window on the way to a capacity is over: the observers add what they saw of it.
    fn end_search_window(&mut self, _measured: &Measured, _window: &mut Window) {}

    /// A window is over: the observers add what they saw of it.
    fn end_window(&mut self, _measured: &Measured, _window: &mut Window) {}
}

impl Observation {
    /// Part of the server's CPU time that its JIT compilers used; absent where the server has none, or did not run.
    pub(crate) fn compilers_share(&self) -> Option<f64> {
        let cpu_ns = self.server_cpu_ns.filter(|ns| *ns != 0)?;
        Some((self.compilers_cpu_ns? as f64 / cpu_ns as f64).min(1.0))
    }
}

/// CPU time of the server for each right answer of a window, milliseconds.
pub(crate) fn server_cpu_ms(measured: &Measured, seen: &Observation) -> Option<f64> {
    let cpu_ns = seen.server_cpu_ns.filter(|_| 0 < measured.completed)?;
    Some(cpu_ns as f64 / 1e6 / measured.completed as f64)
}
