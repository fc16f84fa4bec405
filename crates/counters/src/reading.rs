//! One reading: what the kernel counts for a process, its threads, its control group and the machine at one moment.

use assay_linux::{
    CgroupThrottling, Cgroups, LinuxError, MachineCpu, ProcRoot, ProcessStat, SysRoot, ThreadCounters,
    ThreadReadings, monotonic_ns, process_cpu_ns, thread_cpu_ns, ticks_per_s,
};
use assay_model::Problem;
use std::collections::HashMap;

/// Where a process is looked at.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) proc: ProcRoot,
    pub(crate) pid: u32,
    /// Whether `proc` is this machine's, so that the process has a CPU clock.
    pub(crate) has_clock: bool,
    pub(crate) cgroups: Option<Cgroups>,
}

/// What there was at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) monotonic_ns: u64,
    pub(crate) cpu: ProcessCpuNs,
    pub(crate) stat: ProcessStat,
    pub(crate) threads: HashMap<u32, ThreadCounters>,
    pub(crate) cgroup: Option<(String, u64)>,
    pub(crate) throttling: Option<CgroupThrottling>,
    pub(crate) machine: Option<MachineCpu>,
    pub(crate) took_cpu_ns: u64,
    pub(crate) problems: Vec<Problem>,
}

/// The CPU time of a process around the moment at which its threads were read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCpuNs {
    before: u64,
    after: u64,
}

impl ProcessCpuNs {
    /// In the middle of the reading.
    pub(crate) fn middle(self) -> u64 {
        self.before + self.after.saturating_sub(self.before) / 2
    }

    /// By how much the middle may be wrong.
    pub(crate) fn half_width(self) -> u64 {
        self.after.saturating_sub(self.before).div_ceil(2)
    }
}

impl Target {
    pub(crate) fn new(proc: ProcRoot, sys: &SysRoot, pid: u32, has_clock: bool) -> (Target, Vec<Problem>) {
        let mut problems = Vec::new();
        let cgroups = proc.read_cgroups(sys, Some(pid)).map_err(|e| problems.push(Problem::from(&e))).ok();
        (Target { proc, pid, has_clock, cgroups }, problems)
    }

    /// Takes a reading.
    pub(crate) fn read(&self, before: &HashMap<u32, ThreadCounters>) -> Result<Reading, LinuxError> {
        let began_cpu_ns = thread_cpu_ns();
        let first = self.cpu_ns()?;
        let ThreadReadings { threads, mut problems } = self.proc.read_thread_counters(self.pid, before)?;
        let monotonic_ns = monotonic_ns();
        let cpu = ProcessCpuNs { before: first, after: self.cpu_ns()? };
        let mut noted = |error: LinuxError| problems.push(Problem::from(&error));
        let groups = self.cgroups.as_ref();
        let cgroup = groups.and_then(|g| g.read_cpu().map_err(&mut noted).ok().flatten());
        let throttling = groups.and_then(|g| g.read_throttling().map_err(&mut noted).ok().flatten());
        let machine = self.proc.read_machine_cpu().map_err(&mut noted).ok();
        Ok(Reading {
            monotonic_ns,
            cpu,
            stat: self.proc.read_process_stat(self.pid)?,
            threads,
            cgroup: cgroup.map(|group| (group.path, group.usage_ns)),
            throttling,
            machine,
            took_cpu_ns: thread_cpu_ns().saturating_sub(began_cpu_ns),
            problems,
        })
    }

    fn cpu_ns(&self) -> Result<u64, LinuxError> {
        if self.has_clock {
            return process_cpu_ns(self.pid);
        }
        let stat = self.proc.read_process_stat(self.pid)?;
        Ok(ticks_ns(stat.user_ticks.saturating_add(stat.system_ticks)))
    }
}

/// Ticks of `/proc` as nanoseconds.
pub(crate) fn ticks_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ticks_per_s().max(1))
}
