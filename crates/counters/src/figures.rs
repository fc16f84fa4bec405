//! Which figure comes from where, and which are not here.

use crate::bpf::Tracing;
use crate::jvm::Lacks;
use crate::reading::Reading;
use crate::sampling::{Refused, Sampling};
use assay_linux::ProcRoot;
use assay_model::{Certainty, LeftOutFigure, TimeFigure, TimeSource};

/// Whether the kernel counts the time for which threads are blocked on block devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DelayAccounting {
    On,
    Off,
    /// Before Linux 5.14 it was a boot parameter, which cannot be read.
    Unknown,
}

impl DelayAccounting {
    pub(crate) fn read(proc: &ProcRoot) -> DelayAccounting {
        match proc.read_delay_accounting() {
            Ok(Some(true)) => DelayAccounting::On,
            Ok(Some(false)) => DelayAccounting::Off,
            Ok(None) | Err(_) => DelayAccounting::Unknown,
        }
    }
}

/// What programs in the kernel count.
const CALLS: &str = "system calls, their CPU time and waits";

/// What gives figures of the machine.
const ELSEWHERE: &str = "run where /proc is that of the machine";

/// Settings that decide which figures there are.
pub(crate) struct Available<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) sampling: Result<&'a Sampling, &'a Refused>,
    pub(crate) tracing: Result<&'a Tracing, &'a Refused>,
    pub(crate) has_clock: bool,
    pub(crate) delays: DelayAccounting,
    /// Missing figures, or why roles are not known.
    pub(crate) roles: Result<Lacks, LeftOutFigure>,
    /// Why what threads did after the last reading of them is not; `None` when it is.
    pub(crate) no_exit_records: Option<LeftOutFigure>,
    pub(crate) interrupts_per_s: u64,
}

impl Available<'_> {
    fn has_schedstat(&self) -> bool {
        self.reading.threads.values().all(|thread| thread.schedstat.is_some())
    }

    fn has_switches(&self) -> bool {
        self.reading.threads.values().all(|thread| thread.voluntary_switches.is_some())
    }

    fn has_block_io(&self) -> bool {
        self.reading.threads.values().all(|thread| thread.block_io_ticks.is_some())
    }

    /// The figures that are there.
    pub(crate) fn figures(&self) -> Vec<TimeFigure> {
        let mut figures = Vec::new();
        let mut known = |figure: &str, source, from: &str| {
            let (figure, from) = (figure.to_owned(), from.to_owned());
            figures.push(TimeFigure { figure, source, basis: Certainty::Known, from });
        };
        if self.has_clock {
            known(
                "CPU time of the process",
                TimeSource::CpuClock,
                "clock_gettime of its CPU clock: live and ended threads",
            );
        } else {
            known(
                "CPU time of the process",
                TimeSource::Procfs,
                "utime and stime of /proc/PID/stat, in ticks of 10 ms",
            );
        }
        if self.has_schedstat() {
            known(
                "CPU time of threads",
                TimeSource::Procfs,
                "run time in /proc/PID/task/TID/schedstat, exact",
            );
            known(
                "waiting for a processor",
                TimeSource::Procfs,
                "run delay in /proc/PID/task/TID/schedstat, exact",
            );
        } else {
            known(
                "CPU time of threads",
                TimeSource::Procfs,
                "utime and stime of /proc/PID/task/TID/stat, in ticks of 10 ms",
            );
        }
        if self.has_switches() {
            known("switches", TimeSource::Procfs, "/proc/PID/task/TID/status");
        }
        known("page faults", TimeSource::Procfs, "/proc/PID/task/TID/stat");
        if self.delays == DelayAccounting::On && self.has_block_io() {
            known(
                "blocked on block devices",
                TimeSource::Procfs,
                "delayacct_blkio_ticks in /proc/PID/task/TID/stat",
            );
        }
        match self.roles {
            Ok(Lacks { java_names: false, .. }) => {
                known("roles and Java names", TimeSource::VmStructures, "the JVM's own lists of its threads");
            }
            Ok(_) => known(
                "roles of threads, by their class",
                TimeSource::VmStructures,
                "the JVM's own list of Java threads",
            ),
            Err(_) => {}
        }
        if self.no_exit_records.is_none() {
            known(
                "threads that ended",
                TimeSource::ExitRecords,
                "taskstats: the kernel's record of each thread at its end. The missing part, up to a timer \
                    interrupt for each, is inferred from the total",
            );
        }
        if self.reading.cgroup.is_some() {
            known("control group", TimeSource::Procfs, "cpuacct.usage, or usage_usec of cpu.stat");
        }
        figures.push(TimeFigure {
            figure: "user and kernel".to_owned(),
            source: TimeSource::Procfs,
            basis: Certainty::Inferred,
            from: format!(
                "CPU time, divided as utime to stime of the same threads: samples at {} timer interrupts a second",
                self.interrupts_per_s
            ),
        });
        if let Ok(lacks) = self.roles {
            if lacks.list || lacks.java_names {
                figures.push(TimeFigure {
                    figure: "roles of the other threads".to_owned(),
                    source: TimeSource::Procfs,
                    basis: Certainty::Inferred,
                    from: "the names that HotSpot gives its own threads in the kernel".to_owned(),
                });
            }
            figures.push(TimeFigure {
                figure: "roles of threads that ended before the JVM's list was read".to_owned(),
                source: TimeSource::Procfs,
                basis: Certainty::Inferred,
                from: "the kernel's name of them, where all listed threads of that name have one role"
                    .to_owned(),
            });
        }
        if let Ok(sampling) = self.sampling {
            let mut inferred = |figure: &str, from: String| {
                let (source, basis) = (TimeSource::Sampling, Certainty::Inferred);
                figures.push(TimeFigure { figure: figure.to_owned(), source, basis, from });
            };
            if sampling.names.are_known() {
                let from = "CPU time of the role, divided as its samples by the function through which the kernel was entered";
                inferred("what the kernel did", from.to_owned());
            }
            let from = "the same by the address: the JVM's code cache, symbols, mappings";
            inferred("where in the code", from.to_owned());
        }
        if let Ok(tracing) = self.tracing {
            figures.extend(tracing.figures());
        }
        figures
    }

    /// Those that are not.
    pub(crate) fn left_out(&self) -> Vec<LeftOutFigure> {
        let no_roles = self.roles.as_ref().err();
        let mut left_out: Vec<LeftOutFigure> =
            no_roles.into_iter().chain(&self.no_exit_records).cloned().collect();
        let mut push = |figure: &str, why: &str, enable: &str| {
            let [figure, why, enable] = [figure, why, enable].map(str::to_owned);
            left_out.push(LeftOutFigure { figure, why, enable });
        };
        if let Ok(Lacks { java_names: true, .. }) = self.roles {
            push(
                "Java names of threads",
                "the JVM's libjvm.so has no symbols, which are needed to find the name of a Java thread; the names are the kernel's",
                "install the debug symbols of this very build, which are found by its build id (Debian: openjdk-8-dbg), or run a JDK whose libjvm.so has symbols",
            );
        }
        self.left_out_of_threads(&mut push);
        self.left_out_of_machine(&mut push);
        match self.sampling {
            Ok(sampling) if sampling.names.are_known() => {}
            Ok(_) => push(
                "what the kernel did",
                "the kernel hides where its functions are (kernel.kptr_restrict, or no CAP_SYSLOG)",
                "run assay as root; where kernel.kptr_restrict is 2: sysctl -w kernel.kptr_restrict=1",
            ),
            Err(Refused { why, enable }) => {
                push("what the kernel did", why, enable);
                push("where in the code", why, enable);
            }
        }
        match self.tracing {
            Ok(tracing) => {
                for (figure, Refused { why, enable }) in tracing.missing() {
                    push(figure, &why, &enable);
                }
            }
            Err(Refused { why, enable }) => push(CALLS, why, enable),
        }
        left_out
    }

    fn left_out_of_threads(&self, push: &mut impl FnMut(&str, &str, &str)) {
        if !self.has_schedstat() {
            push(
                "waiting for a processor",
                "this kernel does not count it: /proc/PID/task/TID/schedstat is missing, or 0 for every thread",
                "a kernel with CONFIG_SCHED_INFO=y (CONFIG_TASK_DELAY_ACCT=y selects it); before Linux 5.14 without the boot parameter nodelayacct",
            );
        }
        if !self.has_switches() {
            push(
                "switches",
                "this /proc does not count them in /proc/PID/task/TID/status",
                "Linux 2.6.23 or later. Run assay on the host if a sandbox (gVisor) has a /proc of its own",
            );
        }
        match self.delays {
            DelayAccounting::On if self.has_block_io() => {}
            DelayAccounting::On => push(
                "blocked on block devices",
                "this /proc has no delayacct_blkio_ticks in /proc/PID/task/TID/stat",
                "Linux 2.6.18 or later. Run assay on the host if a sandbox (gVisor) has a /proc of its own",
            ),
            DelayAccounting::Off => push(
                "blocked on block devices",
                "the kernel does not account delays (kernel.task_delayacct is 0)",
                "sysctl -w kernel.task_delayacct=1",
            ),
            DelayAccounting::Unknown => push(
                "blocked on block devices",
                "this kernel does not show whether it accounts delays",
                "Linux 5.14 or later with CONFIG_TASK_DELAY_ACCT=y, and sysctl -w kernel.task_delayacct=1",
            ),
        }
    }

    fn left_out_of_machine(&self, push: &mut impl FnMut(&str, &str, &str)) {
        if self.reading.cgroup.is_none() {
            push(
                "control group",
                "no control group counts the CPU time of this process, or it is not mounted here",
                "mount the cpuacct controller (version 1) or cgroup2 (version 2)",
            );
        }
        if self.reading.cgroup.is_some() && self.reading.throttling.is_none() {
            push(
                "throttled by the CPU limit",
                "cpu.stat of the control group does not count it: its cpu controller is off, or not mounted here",
                "echo +cpu > cgroup.subtree_control in the group above (version 2), or mount the cpu controller (version 1)",
            );
        }
        let machine = self.reading.machine.as_ref();
        match machine {
            None => push("the machine", "/proc/stat could not be read", ELSEWHERE),
            Some(machine) if machine.all.steal.is_none() => push(
                "time stolen by the hypervisor",
                "this kernel has no such column in /proc/stat",
                "Linux 2.6.11 or later",
            ),
            Some(_) => {}
        }
        if machine.is_some_and(|machine| machine.each.is_empty()) {
            push("softirq by processor", "/proc/stat names no processor", ELSEWHERE);
        }
    }
}
