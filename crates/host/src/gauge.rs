//! Gauges of disturbance: was the machine ours while we measured?
//!
//! Two readings give an interval with these figures.
//!
//! - `foreign_cpu_share`: CPU time used by anybody but the server and the load generator, as a share of the machine.
//!   **The figure to judge by.** Limit that we recommend: 0.10. On two processors that is a fifth of one: as much as the
//!   differences that a study looks for. Below it there is always something: the kernel's own threads, the observers.
//! - `steal_share`: the hypervisor ran something else although a task was ready. Limit: 0.03. It lengthens response
//!   times at random moments, and depending on the hypervisor part of it is counted as CPU time of whoever was running.
//! - `throttled_share`, `throttled_periods`: the control group's CPU limit held us. Limit: none at all, unless the limit
//!   is what the study varies: a throttled server stands still for the rest of a period (mostly 100 ms), and its
//!   response times are those of the limit.
//! - `cpu_some_share`: pressure stall information, the share of time in which some task waited for a processor. It
//!   counts the waits of the server's own threads too: with more threads ready than processors it goes to 1, be they
//!   ours or not (0.94 with six on two processors). So it shows a disturbance only in an open-loop trial well below
//!   saturation, where 0.10 is a fair limit; at saturation show it, but do not judge by it.
//!
//! Resolution: `/proc/stat` counts ticks of 10 ms per processor and is updated at the kernel's timer interrupts, so an
//! interval should last 3 s or more (rounding is then at most 0.4 % of the machine). Busy time is taken as what was
//! neither idle nor stolen: kernels that stop the timer when idle measure idle time, but user and system time are only
//! sampled, and a server that sleeps and wakes in step with the timer would be sampled wrongly.

use assay_linux::{
    CgroupThrottling, Cgroups, LinuxError, MachineCpu, ProcRoot, Processors, Resource, SysRoot, monotonic_ns,
    ticks_per_s,
};
use assay_model::Problem;

/// Reads the gauges. Make it once: it finds the control groups when it is made.
#[derive(Debug, Clone)]
pub struct HostGauge {
    proc: ProcRoot,
    cgroups: Option<Cgroups>,
    /// The processors that are read; absent: all.
    processors: Option<Processors>,
    /// Gauges that this machine does not have, with the reason.
    problems: Vec<Problem>,
}

/// The gauges at one moment. All count up since boot or since the group was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostReading {
    /// When, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Time in which some task waited for a processor; absent where the kernel does not count it.
    pub cpu_some_us: Option<u64>,
    /// What the processors did; absent if `/proc/stat` could not be read.
    pub cpu: Option<MachineCpu>,
    /// How the control group's CPU limit held this process; absent where there is none.
    pub throttling: Option<CgroupThrottling>,
}

/// Changes between two readings. Shares go from 0 to 1; values that could not be read are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostInterval {
    /// Length.
    pub duration_ns: u64,
    /// Processors online; busy time is at most this many times the length.
    pub cpus: Option<u32>,
    /// CPU time of everybody, hypervisor's steal left out.
    pub busy_ns: Option<u64>,
    /// Share of the time in which some task waited for a processor.
    pub cpu_some_share: Option<f64>,
    /// Share of the machine's time that the hypervisor took.
    pub steal_share: Option<f64>,
    /// Share of the time in which the CPU limit held us, per processor; at most 1.
    pub throttled_share: Option<f64>,
    /// Periods in which the CPU limit held us.
    pub throttled_periods: Option<u64>,
}

impl Default for HostGauge {
    fn default() -> Self {
        HostGauge::new()
    }
}

impl HostGauge {
    /// Gauges of this machine and of the control groups that this process, and so its children, are in.
    pub fn new() -> Self {
        HostGauge::at(ProcRoot::default(), &SysRoot::default())
    }

    /// Gauges below other roots.
    pub fn at(proc: ProcRoot, sys: &SysRoot) -> Self {
        let mut problems = Vec::new();
        let mut missing = |gauge: &str, error: Option<&LinuxError>| {
            problems.push(
                error.map_or_else(|| Problem::new(gauge, "this kernel does not count it"), Problem::from),
            );
        };
        let cgroups = proc.read_cgroups(sys, None).inspect_err(|e| missing("cgroup", Some(e))).ok();
        match proc.read_pressure(Resource::Cpu) {
            Ok(Some(_)) => {}
            Ok(None) => missing("/proc/pressure/cpu", None),
            Err(e) => missing("/proc/pressure/cpu", Some(&e)),
        }
        if let Err(e) = proc.read_machine_cpu() {
            missing("/proc/stat", Some(&e));
        }
        match cgroups.as_ref().map(Cgroups::read_throttling) {
            Some(Ok(None)) => missing("cpu.stat of the control group", None),
            Some(Err(e)) => missing("cpu.stat of the control group", Some(&e)),
            Some(Ok(Some(_))) | None => {}
        }
        HostGauge { proc, cgroups, processors: None, problems }
    }

    /// Reads these processors alone from now on. Readings of others before it cannot be compared with those after it.
    pub fn look_at(&mut self, processors: Processors) {
        self.processors = Some(processors);
    }

    /// Gauges that cannot be read here, found when this was made.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Reads all gauges: a few small files, some 15 µs of CPU time on two processors.
    pub fn read(&self) -> HostReading {
        let cpu = match &self.processors {
            Some(of) => self.proc.read_machine_cpu_of(of),
            None => self.proc.read_machine_cpu(),
        };
        HostReading {
            monotonic_ns: monotonic_ns(),
            cpu_some_us: self.proc.read_pressure(Resource::Cpu).ok().flatten().map(|p| p.some.total_us),
            cpu: cpu.ok(),
            throttling: self.cgroups.as_ref().and_then(|groups| groups.read_throttling().ok().flatten()),
        }
    }
}

impl HostReading {
    /// What happened since an earlier reading of the same gauge.
    pub fn since(&self, earlier: &HostReading) -> HostInterval {
        let duration_ns = self.monotonic_ns.saturating_sub(earlier.monotonic_ns);
        let mut interval = HostInterval { duration_ns, ..HostInterval::default() };
        if duration_ns == 0 {
            return interval;
        }
        let waited_us = difference(self.cpu_some_us, earlier.cpu_some_us);
        interval.cpu_some_share = waited_us.map(|us| share(us.saturating_mul(1000), duration_ns as f64));
        if let Some((now, before)) = self.cpu.as_ref().zip(earlier.cpu.as_ref()) {
            interval.add_machine(now, before);
        }
        if let Some((now, before)) = self.throttling.zip(earlier.throttling) {
            interval.throttled_periods = Some(now.periods.saturating_sub(before.periods));
            let held_ns = now.throttled_ns.saturating_sub(before.throttled_ns);
            interval.throttled_share = interval.machine_ns().map(|machine_ns| share(held_ns, machine_ns));
        }
        interval
    }
}

impl HostInterval {
    /// CPU time used by anybody else, as a share of the machine, 0 to 1. `our_cpu_ns` is what the server, the load
    /// generator and other processes of the trial used in this very interval ([`assay_linux::process_cpu`]).
    ///
    /// Below zero by rounding counts as zero. Absent when the machine's time could not be read.
    pub fn foreign_cpu_share(&self, our_cpu_ns: u64) -> Option<f64> {
        Some(share(self.busy_ns?.saturating_sub(our_cpu_ns), self.machine_ns()?))
    }

    /// Time of all processors together.
    fn machine_ns(&self) -> Option<f64> {
        self.cpus.map(|cpus| self.duration_ns as f64 * f64::from(cpus))
    }

    fn add_machine(&mut self, now: &MachineCpu, before: &MachineCpu) {
        // A processor that came or went makes the sums incomparable.
        let cpus = now.each.len();
        if cpus == 0 || cpus != before.each.len() {
            return;
        }
        self.cpus = u32::try_from(cpus).ok();
        let Some(machine_ns) = self.machine_ns() else { return };
        let steal_ns = difference(now.all.steal, before.all.steal).map(ticks_as_ns);
        let idle = |cpu: &MachineCpu| cpu.all.idle.saturating_add(cpu.all.io_wait);
        let idle_ns = ticks_as_ns(idle(now).saturating_sub(idle(before)));
        self.busy_ns =
            Some((machine_ns as u64).saturating_sub(idle_ns).saturating_sub(steal_ns.unwrap_or(0)));
        self.steal_share = steal_ns.map(|ns| share(ns, machine_ns));
    }
}

/// Between 0 and 1, whatever rounding says.
fn share(part_ns: u64, whole_ns: f64) -> f64 {
    (part_ns as f64 / whole_ns).clamp(0.0, 1.0)
}

fn difference(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

fn ticks_as_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ticks_per_s().max(1))
}
