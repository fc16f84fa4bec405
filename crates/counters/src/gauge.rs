//! Looking at a process from time to time, and the account of what lies between.

use crate::account::{TimeAccount, Total};
use crate::bpf::{Kernel, Loading, Tracing, split_by_tracing, traced_of};
use crate::figures::{Available, DelayAccounting};
use crate::findings::findings;
use crate::jvm::{Jvm, Lacks, Reads, read_jvm};
use crate::jvms::jvms_of_machine;
use crate::reading::{Reading, Target, ticks_ns};
use crate::sampling::{self, Clocked, CpuClock, Events, PerfMap, Refused, Sampling};
use crate::split::{Clocks, Sampled, kernel_share};
use crate::tracks::Tracks;
use assay_linux::{
    CpuTicks, Denial, ExitListener, LinuxError, MachineCpu, ProcRoot, ProcessIdentity, SysRoot,
    thread_cpu_ns, ticks_per_s, timer_interrupts_per_s,
};
use assay_model::{
    CgroupTime, JvmsOfMachine, LeftOutFigure, MachineTime, Problem, ProcessTime, RoleTime, TimeJvm,
    TimeReport, TimeSamples, schema,
};
use std::collections::HashMap;

/// Reading the JVM's list of threads takes at most this part of the time.
const JVM_READ_PART: u64 = 20;

/// The CPU time of a process, from its first reading on.
#[derive(Debug)]
pub struct TimeGauge {
    target: Target,
    identity: ProcessIdentity,
    clocks: Clocks,
    delays: DelayAccounting,
    first: Reading,
    last: Reading,
    tracks: Tracks,
    exits: Result<Exits, LeftOutFigure>,
    jvm: JvmState,
    sampling: Result<Sampling, Refused>,
    tracing: Result<Tracing, Refused>,
    methods: Option<PerfMap>,
    jvms: Option<JvmsOfMachine>,
    readings: u64,
    readings_cpu_ns: u64,
    problems: Vec<Problem>,
}

/// Threads that end.
#[derive(Debug)]
struct Exits {
    listener: ExitListener,
    has_lost: bool,
}

/// What is known of the JVM.
#[derive(Debug)]
enum JvmState {
    /// It is not to be read: another root, no JVM, or no right to.
    None(LeftOutFigure),
    Known {
        facts: TimeJvm,
        lacks: Lacks,
        read_at_ns: u64,
        took_cpu_ns: u64,
        has_frame_pointers: bool,
        problems: Vec<Problem>,
    },
}

impl TimeGauge {
    /// Takes the first reading of a process of this machine.
    ///
    /// # Errors
    /// When the process is gone ([`LinuxError::is_absent`]), or belongs to somebody else and `/proc` is hidden.
    pub fn start(pid: u32) -> Result<TimeGauge, LinuxError> {
        let sys = SysRoot::default();
        // Threads that end after the first reading must be reported.
        let listener = ExitListener::start(&sys);
        let mut gauge = TimeGauge::begin(ProcRoot::default(), &sys, pid, true)?;
        gauge.exits =
            listener.map(|listener| Exits { listener, has_lost: false }).map_err(|why| no_records(&why));
        gauge.keep_up();
        gauge.tracks.forget_unseen();
        gauge.jvm = gauge.read_jvm();
        gauge.sampling = Err(Refused::not_asked());
        gauge.tracing = Err(not_traced());
        gauge.jvms = jvms_of_machine(&gauge.target.proc);
        Ok(gauge)
    }

    /// Begins to sample the processors, and a new interval with it. Where that is not possible the report says why. Readings
    /// read the samples; where they are more than a second apart, call [`TimeGauge::keep_up`] between them.
    ///
    /// # Errors
    /// As of [`TimeGauge::read`].
    pub fn start_sampling(&mut self) -> Result<(), LinuxError> {
        self.start_sampling_with(&CpuClock)
    }

    /// The same with other calls of the kernel.
    ///
    /// # Errors
    /// As of [`TimeGauge::read`].
    pub fn start_sampling_with(&mut self, events: &dyn Events) -> Result<(), LinuxError> {
        let has_frame_pointers = matches!(&self.jvm, JvmState::Known { has_frame_pointers: true, .. });
        self.sampling = Sampling::start(events, &self.target.proc, self.identity.pid, has_frame_pointers);
        self.read()?;
        self.restart();
        Ok(())
    }

    /// Loads programs into the kernel that time what each thread is in (BPF), and begins a new interval with it. Where that is not
    /// possible the report says why. They are gone with the gauge, however this process ends. Every system call of the machine becomes
    /// slower by some 100 ns meanwhile.
    ///
    /// # Errors
    /// As of [`TimeGauge::read`].
    pub fn start_tracing(&mut self) -> Result<(), LinuxError> {
        self.start_tracing_with(&Kernel, &SysRoot::default())
    }

    /// The same with a kernel of the caller's.
    ///
    /// # Errors
    /// As of [`TimeGauge::read`].
    pub fn start_tracing_with(&mut self, kernel: &dyn Loading, sys: &SysRoot) -> Result<(), LinuxError> {
        let roots = (&self.target.proc, sys);
        self.tracing = Tracing::start(kernel, roots, self.identity.pid, self.last.threads.len());
        self.read()?;
        self.restart();
        Ok(())
    }

    /// Has the JVM list its compiled methods (`Compiler.perfmap`), for names in the stacks. This acts on the process: it stops its Java
    /// threads for some milliseconds and writes a file in its `/tmp`, which is removed again. Failures are problems of the report.
    pub fn ask_for_methods(&mut self) {
        let pid = self.identity.pid;
        let inside =
            self.target.proc.read_memory_status(pid).ok().and_then(|status| status.pids.last().copied());
        match PerfMap::ask(&self.target.proc, pid, inside.unwrap_or(pid)) {
            Ok(methods) => self.methods = Some(methods),
            Err(why) => self.problems.push(Problem::new("names of compiled methods", why)),
        }
    }

    /// The same below other roots, of which only the files are known: CPU time is in ticks, and roles are unknown.
    ///
    /// # Errors
    /// When the process's files are missing or not in the documented form.
    pub fn at(proc: ProcRoot, sys: &SysRoot, pid: u32) -> Result<TimeGauge, LinuxError> {
        TimeGauge::begin(proc, sys, pid, false)
    }

    /// Says why the kernel sends no records of threads that end.
    pub fn without_exit_records(&mut self, why: &Denial) {
        self.exits = Err(no_records(why));
    }

    fn begin(proc: ProcRoot, sys: &SysRoot, pid: u32, has_clock: bool) -> Result<TimeGauge, LinuxError> {
        let identity = proc.identity_of(pid)?;
        let (target, problems) = Target::new(proc, sys, pid, has_clock);
        let first = target.read(&Default::default())?;
        let mut tracks = Tracks::default();
        tracks.add(&first.threads);
        Ok(TimeGauge {
            identity,
            clocks: Clocks { ticks_per_s: ticks_per_s(), interrupts_per_s: timer_interrupts_per_s() },
            delays: DelayAccounting::read(&target.proc),
            target,
            last: first.clone(),
            readings: 1,
            readings_cpu_ns: first.took_cpu_ns,
            first,
            tracks,
            exits: Err(no_records(&Denial {
                cause: "the files are not those of a live process".to_owned(),
                fix: "measure a live process".to_owned(),
            })),
            jvm: JvmState::None(no_roles(
                "the files are not those of a live process",
                "measure a live process",
            )),
            sampling: Err(Refused::not_live()),
            tracing: Err(Refused::not_live()),
            methods: None,
            jvms: None,
            problems,
        })
    }

    /// Takes another reading; false when the process has ended.
    ///
    /// # Errors
    /// When it cannot be read although it is there.
    pub fn read(&mut self) -> Result<bool, LinuxError> {
        let mut reading = match self.target.read(&self.last.threads) {
            Ok(reading) if reading.stat.start_ticks == self.identity.start_ticks => reading,
            Ok(_) => return Ok(false),
            Err(error) if error.is_absent() => return Ok(false),
            Err(error) => return Err(error),
        };
        self.tracks.add(&reading.threads);
        self.keep_up();
        if let Ok(tracing) = &mut self.tracing {
            reading.took_cpu_ns = reading.took_cpu_ns.saturating_add(tracing.read());
        }
        self.readings += 1;
        self.readings_cpu_ns = self.readings_cpu_ns.saturating_add(reading.took_cpu_ns);
        let has_ended = reading.stat.has_ended();
        self.last = reading;
        if let JvmState::Known { read_at_ns, took_cpu_ns, .. } = &self.jvm {
            let is_due = read_at_ns + took_cpu_ns * JVM_READ_PART <= self.last.monotonic_ns;
            if is_due && !has_ended && self.tracks.has_nameless() {
                let before = std::mem::replace(&mut self.jvm, JvmState::None(no_roles("", "")));
                let again = self.read_jvm();
                // A JVM that cannot be read now, since it ends, was one all the same.
                self.jvm = if matches!(again, JvmState::Known { .. }) { again } else { before };
            }
        }
        Ok(!has_ended)
    }

    /// Whether the kernel sends records of threads that end; without them what a thread does after the last reading of it is missing.
    pub fn hears_of_ends(&self) -> bool {
        self.exits.is_ok()
    }

    /// Takes the samples and the records of threads that ended. Between two readings that are long apart it makes room for more of them.
    pub fn keep_up(&mut self) {
        if let Ok(sampling) = &mut self.sampling {
            sampling.read();
        }
        let Ok(exits) = &mut self.exits else { return };
        let began_ns = thread_cpu_ns();
        match exits.listener.take() {
            Ok(heard) => {
                exits.has_lost |= heard.has_lost;
                self.tracks.end(self.identity.pid, &heard.records, self.clocks.interrupt_ns());
            }
            Err(error) => {
                let cause = format!("taskstats: {error}");
                self.exits = Err(no_records(&Denial { cause, fix: "look again".to_owned() }));
            }
        }
        self.readings_cpu_ns = self.readings_cpu_ns.saturating_add(thread_cpu_ns().saturating_sub(began_ns));
    }

    /// CPU time that the last reading took in Assay.
    pub fn reading_cpu_ns(&self) -> u64 {
        self.last.took_cpu_ns
    }

    /// Starts a new interval at the last reading.
    pub fn restart(&mut self) {
        self.tracks.restart();
        if let Ok(exits) = &mut self.exits {
            exits.has_lost = false;
        }
        if let Ok(sampling) = &mut self.sampling {
            sampling.restart();
        }
        if let Ok(tracing) = &mut self.tracing {
            tracing.restart();
        }
        self.first = self.last.clone();
        (self.readings, self.readings_cpu_ns) = (1, self.last.took_cpu_ns);
    }

    /// Why no programs in the kernel time the process, and what would allow it; none where they do.
    pub fn why_untraced(&self) -> Option<String> {
        self.tracing.as_ref().err().map(|Refused { why, enable }| format!("{why}; {enable}"))
    }

    /// What the process used between the first and the last reading. `requests`: how many it answered in that time.
    pub fn report(&self, requests: Option<f64>) -> TimeReport {
        let (first, last) = (&self.first, &self.last);
        let counts_block_io = self.delays == DelayAccounting::On;
        let process = self.process();
        let total = Total { cpu_ns: process.cpu_ns, reading_ns: self.reading_ns() };
        let TimeAccount { cpu_ns: threads_cpu_ns, ends_ns, threads_ended, mut roles, mut groups, threads } =
            TimeAccount::of(&self.tracks, total, self.clocks, counts_block_io);
        let exit_records = self.exits.as_ref().ok();
        let (roles_known, facts, jvm_problems) = match &self.jvm {
            JvmState::None(why) => (Err(why.clone()), None, &[][..]),
            JvmState::Known { facts, lacks, problems, .. } => {
                (Ok(*lacks), Some(facts.clone()), &problems[..])
            }
        };
        let mut problems: Vec<Problem> = Vec::new();
        let difference_ns = less(process.cpu_ns, threads_cpu_ns);
        let samples = self
            .sampling
            .as_ref()
            .ok()
            .map(|sampling| self.samples(sampling, &roles, process.cpu_ns, difference_ns, &mut problems));
        let traced = self.tracing.as_ref().ok().map(|tracing| {
            problems.extend(tracing.problem().map(|why| Problem::new("records of threads", why)));
            let sampled = samples.as_ref().and_then(|samples| samples.kernel_share);
            let timed = (tracing, tracing.unseen(samples.as_ref()));
            split_by_tracing(timed, &self.tracks.named_by_number(), &mut roles, &mut groups);
            traced_of(
                timed,
                &self.tracks.roles_by_number(),
                process.cpu_ns,
                sampled.map(|share| share.estimate),
            )
        });
        let available = Available {
            reading: last,
            sampling: self.sampling.as_ref(),
            tracing: self.tracing.as_ref(),
            has_clock: self.target.has_clock,
            delays: self.delays,
            roles: roles_known,
            no_exit_records: self.exits.as_ref().err().cloned(),
            interrupts_per_s: self.clocks.interrupts_per_s,
        };
        let all = self.problems.iter().chain(&first.problems).chain(&last.problems).chain(jvm_problems);
        for problem in all {
            if !problems.contains(problem) {
                problems.push(problem.clone());
            }
        }
        let mut report = TimeReport {
            schema: schema::TIME.to_owned(),
            provenance: assay_host::provenance(&self.target.proc, env!("CARGO_PKG_VERSION")),
            pid: self.identity.pid,
            program: last.stat.command.clone(),
            start_ticks: self.identity.start_ticks,
            boot_id: self.target.proc.read_boot_id().ok(),
            taken_at: jiff::Timestamp::now().to_string(),
            monotonic_ns: first.monotonic_ns,
            duration_ns: last.monotonic_ns.saturating_sub(first.monotonic_ns),
            readings: self.readings,
            readings_cpu_ns: self.readings_cpu_ns,
            jvm: facts,
            threads_cpu_ns,
            difference_ns,
            difference_reading_ns: self.reading_ns(),
            process,
            threads_ended,
            exit_records: exit_records.map(|exits| self.tracks.exit_records(exits.has_lost, ends_ns)),
            roles,
            groups,
            threads,
            samples,
            recording: None,
            hardware: None,
            data_accesses: None,
            fault_places: None,
            carrier_waits: None,
            jvm_held: None,
            traced,
            requests,
            cgroup: self.cgroup(process.cpu_ns),
            machine: self.machine(),
            findings: Vec::new(),
            figures: available.figures(),
            left_out: available.left_out(),
            problems,
        };
        report.findings = findings(&report);
        report
    }

    fn samples(
        &self,
        sampling: &Sampling,
        roles: &[RoleTime],
        cpu_ns: u64,
        difference_ns: i64,
        problems: &mut Vec<Problem>,
    ) -> TimeSamples {
        let clocked = Clocked {
            cpu_ns,
            roles: roles.iter().map(|role| (role.role, role.sums.cpu_ns)).collect(),
            unseen_ns: u64::try_from(difference_ns).unwrap_or(0),
            role_of: self.tracks.roles_by_number(),
        };
        let places = sampling::place_all(
            &self.target.proc,
            self.identity.pid,
            &sampling.user_addresses(),
            self.methods.as_ref(),
        );
        let places = places.unwrap_or_else(|error| {
            problems.push(Problem::from(&error));
            HashMap::new()
        });
        sampling::account_of(sampling, &clocked, &places)
    }

    fn process(&self) -> ProcessTime {
        let (first, last) = (&self.first, &self.last);
        let cpu_ns = last.cpu.middle().saturating_sub(first.cpu.middle());
        let user_ns = ticks_ns(last.stat.user_ticks.saturating_sub(first.stat.user_ticks));
        let kernel_ns = ticks_ns(last.stat.system_ticks.saturating_sub(first.stat.system_ticks));
        ProcessTime {
            cpu_ns,
            cpu_resolution_ns: if self.target.has_clock { 1 } else { 2 * ticks_ns(1) },
            user_ns,
            kernel_ns,
            kernel_share: kernel_share(Sampled { user_ns, kernel_ns, cpu_ns, cut: 1 }, self.clocks),
            minor_faults: last.stat.minor_faults.saturating_sub(first.stat.minor_faults),
            major_faults: last.stat.major_faults.saturating_sub(first.stat.major_faults),
            threads: last.stat.threads,
            cpu_since_start_ns: Some(last.cpu.middle()),
        }
    }

    /// A thread that is running has a run time as of the last timer interrupt, on each processor; the rest is how long reading took.
    fn reading_ns(&self) -> u64 {
        let cpus = self.last.machine.as_ref().map_or(1, |machine| machine.each.len() as u64);
        let ends = self.first.cpu.half_width().saturating_add(self.last.cpu.half_width());
        ends.saturating_add(2 * cpus * self.clocks.interrupt_ns())
    }

    fn cgroup(&self, process_cpu_ns: u64) -> Option<CgroupTime> {
        let (path, last_ns) = self.last.cgroup.as_ref()?;
        let (first_path, first_ns) = self.first.cgroup.as_ref()?;
        let cpu_ns = (path == first_path).then(|| last_ns.saturating_sub(*first_ns))?;
        let limits = self.target.cgroups.as_ref().and_then(|groups| groups.read_limits().ok());
        let throttling = self.last.throttling.zip(self.first.throttling);
        Some(CgroupTime {
            path: path.clone(),
            cpu_ns,
            others_cpu_ns: less(cpu_ns, process_cpu_ns),
            cpus_max: limits.and_then(|limits| limits.cpus),
            throttled_periods: throttling.map(|(last, first)| last.periods.saturating_sub(first.periods)),
            throttled_ns: throttling
                .map(|(last, first)| last.throttled_ns.saturating_sub(first.throttled_ns)),
        })
    }

    fn machine(&self) -> MachineTime {
        let Some((last, first)) = self.last.machine.as_ref().zip(self.first.machine.as_ref()) else {
            return MachineTime::default();
        };
        let grown = |of: fn(&MachineCpu) -> u64| ticks_ns(of(last).saturating_sub(of(first)));
        let cpus = u32::try_from(last.each.len())
            .ok()
            .filter(|cpus| *cpus != 0 && last.each.len() == first.each.len());
        let steal_ns = last.all.steal.and(first.all.steal).map(|_| grown(|cpu| cpu.all.steal.unwrap_or(0)));
        // Busy time is only sampled, idle time is measured.
        let idle_ns = grown(|cpu| cpu.all.idle.saturating_add(cpu.all.io_wait));
        let whole_ns = self.last.monotonic_ns.saturating_sub(self.first.monotonic_ns);
        let busy_ns = |cpus: u32| {
            let all_ns = whole_ns.saturating_mul(u64::from(cpus));
            all_ns.saturating_sub(idle_ns).saturating_sub(steal_ns.unwrap_or(0))
        };
        let softirq_ns =
            |(last, first): (&CpuTicks, &CpuTicks)| ticks_ns(last.soft_irq.saturating_sub(first.soft_irq));
        let softirq_ns = cpus.map(|_| last.each.iter().zip(&first.each).map(softirq_ns).collect());
        MachineTime {
            cpus,
            busy_ns: cpus.map(busy_ns),
            steal_ns,
            softirq_ns: softirq_ns.unwrap_or_default(),
            jvms: self.jvms,
        }
    }

    fn read_jvm(&mut self) -> JvmState {
        let began_ns = thread_cpu_ns();
        match read_jvm(&self.target.proc, self.identity.pid, Reads::Threads) {
            Ok(Some(jvm)) => {
                self.tracks.label(&jvm.labels);
                let took_cpu_ns = thread_cpu_ns().saturating_sub(began_ns);
                self.readings_cpu_ns = self.readings_cpu_ns.saturating_add(took_cpu_ns);
                let read_at_ns = assay_linux::monotonic_ns();
                let Jvm { facts, lacks, has_frame_pointers, problems, .. } = jvm;
                JvmState::Known { facts, lacks, read_at_ns, took_cpu_ns, has_frame_pointers, problems }
            }
            Ok(None) => JvmState::None(no_roles("no JVM was found in the process", "measure a JVM")),
            Err(error) => JvmState::None(no_roles(
                &error.to_string(),
                "run assay as the user of the process, or as root",
            )),
        }
    }
}

fn no_roles(why: &str, enable: &str) -> LeftOutFigure {
    let [figure, why, enable] = ["roles and Java names", why, enable].map(str::to_owned);
    LeftOutFigure { figure, why, enable }
}

fn no_records(why: &Denial) -> LeftOutFigure {
    let figure = "threads after the last sample of them".to_owned();
    LeftOutFigure { figure, why: why.cause.clone(), enable: why.fix.clone() }
}

fn not_traced() -> Refused {
    Refused { why: "the kernel was not traced".to_owned(), enable: "leave out --no-bpf".to_owned() }
}

fn less(a: u64, b: u64) -> i64 {
    a.cast_signed().saturating_sub(b.cast_signed())
}
