//! The third source: programs on the kernel's raw tracepoints (BPF) say what each thread was in, and for how long.
//!
//! They are C, in `bpf/threads.bpf.c`, and compiled beforehand: types are looked up in the kernel's own description when they are loaded, so
//! that one object fits all kernels. Where they may not be loaded, samples remain.
//!
//! A soft interrupt that ran while a thread was on a processor counts for that thread, whoever it was for: received packets and timers of
//! others are in it, and what ksoftirqd did for this thread is not. Over loopback it is mostly the thread's own sending.

mod account;
mod calls;
mod kinds;
mod programs;
mod record;
mod records;
mod refused;
mod unseen;

pub use account::TRACED_COVERAGE;
pub(crate) use account::{split_by_tracing, traced_of};

use crate::sampling::Refused;
use assay_linux::{BpfSettings, ProcRoot, SysRoot, monotonic_ns, thread_cpu_ns};
use assay_model::{Certainty, TimeFigure, TimeSamples, TimeSource};
use aya::maps::MapError;
use aya::{Btf, Endianness};
use calls::CALLS_MAX;
pub(crate) use programs::Kernel;
pub use programs::{Loading, ProgramRequest, Programs};
use record::{Sums, has_ended};
use records::Record;
pub use refused::Refusal;
use refused::Rights;
use rustix::event::{EventfdFlags, eventfd};
use rustix::thread::gettid;
use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use unseen::Unseen;

/// Where the kernel describes its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Threads for which there is room, at least and at most: 0.7 KiB each.
const THREADS_MIN: u32 = 32_768;
const THREADS_MAX: u32 = 65_536;
/// Threads that ended whose sums are kept apart until the interval ends; further ones are one sum.
const ENDED_MAX: usize = 100_000;

/// What the whole process counts, by number.
#[derive(Debug, Clone, Default)]
struct Tables {
    /// Count, CPU time, waits, blocked time of each system call.
    calls: Vec<[u64; 4]>,
    /// Count and CPU time of each soft interrupt.
    softirqs: Vec<[u64; 2]>,
    /// Waits for a processor by length.
    delays: Vec<[u64; 1]>,
    lost: Vec<[u64; 1]>,
}

/// A process that is traced.
#[derive(Debug)]
pub(crate) struct Tracing {
    pid: u32,
    tester: u32,
    rights: Rights,
    programs: Programs,
    unseen: Unseen,
    /// By thread, at the begin of the interval and now.
    first: HashMap<u32, Sums>,
    last: HashMap<u32, Sums>,
    /// What threads that ended since used in the interval.
    ended: HashMap<u32, Sums>,
    first_tables: Tables,
    tables: Tables,
    problem: Option<String>,
    reading_cpu_ns: u64,
}

impl Tracing {
    /// Loads the programs for a process with so many threads, and tries them on the calling thread.
    pub(crate) fn start(
        kernel: &dyn Loading,
        (proc, sys): (&ProcRoot, &SysRoot),
        pid: u32,
        threads: usize,
    ) -> Result<Tracing, Refused> {
        let rights = Rights {
            may_load: kernel.may_load(),
            settings: BpfSettings::read(proc, sys).unwrap_or_default(),
        };
        let types = sys.place(TYPES.as_ref());
        Tracing::begin(kernel, &rights, &types, (pid, threads)).map_err(|refusal| refusal.explain(&rights))
    }

    fn begin(
        kernel: &dyn Loading,
        rights: &Rights,
        types: &Path,
        (pid, threads): (u32, usize),
    ) -> Result<Tracing, Refusal> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Refusal::Architecture);
        }
        if rights.settings.is_in_first_pid_namespace == Some(false) {
            return Err(Refusal::PidNamespace);
        }
        if !rights.settings.has_btf {
            return Err(Refusal::NoTypes);
        }
        let btf = Btf::parse_file(types, Endianness::default()).map_err(|e| Refusal::Types(e.to_string()))?;
        let tester = u32::try_from(gettid().as_raw_nonzero().get()).unwrap_or(0);
        let room =
            u32::try_from(threads).unwrap_or(THREADS_MAX).saturating_mul(2).saturating_add(THREADS_MIN);
        let threads_max = room.min(THREADS_MAX);
        let mut programs = kernel.load(&ProgramRequest { btf, target: pid, tester, threads_max })?;
        let read = || -> Result<Sums, Refusal> {
            let words = programs.record_of(tester).map_err(|e| Refusal::Loader(e.to_string()))?;
            Ok(words.map(|words| Sums::of(&words, monotonic_ns())).unwrap_or_default())
        };
        let unseen = Unseen::measure(read)?;
        learn_files(&mut programs).map_err(|e| Refusal::Loader(e.to_string()))?;
        let mut tracing = Tracing {
            pid,
            tester,
            rights: rights.clone(),
            programs,
            unseen,
            first: HashMap::new(),
            last: HashMap::new(),
            ended: HashMap::new(),
            first_tables: Tables::default(),
            tables: Tables::default(),
            problem: None,
            reading_cpu_ns: 0,
        };
        tracing.read();
        tracing.restart();
        Ok(tracing)
    }

    /// Reads what the programs have counted; says how much CPU time that took.
    pub(crate) fn read(&mut self) -> u64 {
        let began = thread_cpu_ns();
        self.problem = self.read_all().err().map(|error| error.to_string());
        let took_ns = thread_cpu_ns().saturating_sub(began);
        self.reading_cpu_ns += took_ns;
        took_ns
    }

    fn read_all(&mut self) -> Result<(), MapError> {
        let now_ns = monotonic_ns();
        let (own, tester) = (self.pid == std::process::id(), self.tester);
        let (ended, living): (Vec<_>, Vec<_>) =
            self.programs.records().partition(|record| has_ended(&record.words));
        let is_its = |record: &&Record| record.tid != tester || own;
        // The ended ones first: a new thread may have the number of one of them.
        for Record { tid, words, .. } in ended.iter().filter(is_its) {
            let sums = Sums::of(words, now_ns);
            self.last.remove(tid);
            let used = self.first.remove(tid).map_or(sums, |first| sums.since(&first));
            // One sum stands for what is too much; no thread has the number 0.
            let is_kept = self.ended.len() < ENDED_MAX || self.ended.contains_key(tid);
            self.ended.entry(if is_kept { *tid } else { 0 }).or_default().add(&used);
        }
        for Record { tid, words, .. } in living.iter().filter(is_its) {
            self.last.insert(*tid, Sums::of(words, now_ns));
        }
        self.programs.forget(&ended)?;
        self.tables = Tables {
            calls: self.programs.rows("calls")?,
            softirqs: self.programs.rows("softirqs")?,
            delays: self.programs.rows("delays")?,
            lost: self.programs.rows("lost")?,
        };
        Ok(())
    }

    /// Starts a new interval at the last reading.
    pub(crate) fn restart(&mut self) {
        self.first = self.last.clone();
        self.ended.clear();
        self.first_tables = self.tables.clone();
        self.reading_cpu_ns = 0;
    }

    /// What each thread used in the interval.
    fn used(&self) -> impl Iterator<Item = (u32, Sums)> {
        let since = |(tid, sums): (&u32, &Sums)| {
            let used = self.first.get(tid).map_or(*sums, |first| sums.since(first));
            (*tid, used)
        };
        self.last.iter().map(since).chain(self.ended.iter().map(|(tid, sums)| (*tid, *sums)))
    }

    /// CPU time in the interval that the programs did not trace, by its samples where there are enough.
    pub(crate) fn unseen(&self, samples: Option<&TimeSamples>) -> Unseen {
        let mut seen = Sums::default();
        self.used().for_each(|(_, used)| seen.add(&used));
        samples.map_or(self.unseen, |samples| self.unseen.by_samples(samples, &seen))
    }

    /// Whether the kernel says when the work of a page fault is done.
    pub(crate) fn times_faults(&self) -> bool {
        self.programs.times_faults
    }

    /// Which figure comes from where.
    pub(crate) fn figures(&self) -> Vec<TimeFigure> {
        let figure = |figure: &str, basis, from: &str| {
            let (figure, from) = (figure.to_owned(), from.to_owned());
            TimeFigure { figure, source: TimeSource::Tracing, basis, from }
        };
        let mut figures = vec![
            figure(
                "system calls, softirq and interrupts, with CPU time",
                Certainty::Known,
                "each timed by programs on the kernel's raw tracepoints (BPF)",
            ),
            figure(
                "waits in system calls",
                Certainty::Known,
                "time from leaving the processor in one to getting it back, less the kernel's run delay",
            ),
            figure(
                "user and kernel of roles and groups",
                Certainty::Inferred,
                "CPU time, divided like the observed part of the same threads, including kernel entry and exit",
            ),
            figure(
                "entering and leaving the kernel, and preemption",
                Certainty::Inferred,
                "each call, fault, interrupt and preemption with its cost outside the programs: from samples \
                    of threads there, if they are enough. Otherwise calls are calibrated by a loop of \
                    Assay's own at the start, as faults always are",
            ),
        ];
        if self.times_faults() {
            figures.push(figure(
                "page faults, with CPU time",
                Certainty::Known,
                "from the kernel's tracepoint at their begin to the end of the handler, or to where the page is counted",
            ));
        }
        figures
    }

    /// What could not be read.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Kinds that the programs do not see here, with the reason.
    pub(crate) fn missing(&self) -> Vec<(&'static str, Refused)> {
        self.programs
            .missing
            .iter()
            .map(|missing| (missing.what, missing.why.explain(&self.rights)))
            .collect()
    }
}

/// Has the programs learn how the kernel reads an eventfd, a timerfd and a socket: nothing else distinguishes them from files at so low a cost.
fn learn_files(programs: &mut Programs) -> Result<(), MapError> {
    let mut buffer = [0u8; 8];
    if let Ok(file) = eventfd(0, EventfdFlags::NONBLOCK) {
        let _ = rustix::io::read(&file, &mut buffer);
        programs.learn_operations(1)?;
    }
    if let Ok(file) = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK) {
        let _ = rustix::io::read(&file, &mut buffer);
        programs.learn_operations(2)?;
    }
    if let Ok((socket, other)) = UnixStream::pair() {
        let _ = rustix::io::write(&other, &[0]);
        let _ = rustix::io::read(&socket, &mut buffer);
        programs.learn_operations(3)?;
    }
    Ok(())
}
