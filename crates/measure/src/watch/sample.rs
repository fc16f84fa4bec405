//! One sample of counters that all count up.

use assay_counters::is_compiler_s;
use assay_host::{HostGauge, HostReading};
use assay_linux::{Cgroups, ProcRoot, ProcessIdentity, monotonic_ns, process_cpu_ns, wall_offset_ns};
use assay_model::Problem;
use std::collections::HashMap;

/// Threads that are read; of a server with more, the rest is left out, which is a problem of the result.
const THREADS_MAX: usize = 4096;

/// The counters at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Wall clock less monotonic clock: it changes when the wall clock is set.
    pub wall_offset_ns: Option<i128>,
    pub host: Option<HostReading>,
    pub server_cpu_ns: Option<u64>,
    pub own_cpu_ns: Option<u64>,
    /// Of what the server's process started, and of the processes that belong to it with all that descend from them. Read with the
    /// host's.
    pub companions_cpu_ns: u64,
    pub threads: Option<ThreadTimes>,
    /// Of the server's control groups.
    pub server_throttled_ns: Option<u64>,
    /// Why the process is not the one that it was.
    pub restart: Option<String>,
}

/// What the scheduler counted for a server's threads since watching began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    pub run_ns: u64,
    pub wait_ns: u64,
    /// Longest wait of one thread that ended since the sample before. The kernel counts a wait when it ends, so it may have
    /// begun before that sample.
    pub longest_wait_ns: u64,
    /// Of `run_ns`, that of JIT compilers; absent while no thread has the name of one.
    pub compilers_ns: Option<u64>,
}

/// What was counted for one thread when it was last read.
#[derive(Debug, Clone, Copy, Default)]
struct ThreadCounted {
    run_ns: u64,
    wait_ns: u64,
    is_compiler: bool,
    /// Whether its name was read twice. A thread begins under the name of the one that started it.
    is_named: bool,
}

impl ThreadTimes {
    /// Adds what one thread did between two readings.
    fn add(&mut self, before: ThreadCounted, now: ThreadCounted) {
        let ran_ns = now.run_ns.saturating_sub(before.run_ns);
        let waited_ns = now.wait_ns.saturating_sub(before.wait_ns);
        self.run_ns = self.run_ns.saturating_add(ran_ns);
        self.wait_ns = self.wait_ns.saturating_add(waited_ns);
        self.longest_wait_ns = self.longest_wait_ns.max(waited_ns);
        if now.is_compiler {
            self.compilers_ns = Some(self.compilers_ns.unwrap_or(0).saturating_add(ran_ns));
        }
    }
}

/// The threads of a server, with what was counted for each.
#[derive(Debug)]
pub(super) struct Threads {
    pid: u32,
    known: HashMap<u32, ThreadCounted>,
    times: ThreadTimes,
    is_begun: bool,
    /// Whether there were once more than are read.
    has_left_out: bool,
}

impl Threads {
    pub fn new(pid: u32) -> Self {
        let (known, times) = (HashMap::new(), ThreadTimes::default());
        Threads { pid, known, times, is_begun: false, has_left_out: false }
    }

    /// That threads were left out, if they were.
    pub fn problem(&self) -> Option<Problem> {
        let what = format!(
            "the server has more than {THREADS_MAX} threads: only that many were read for run-queue delay and compilers' CPU time"
        );
        self.has_left_out.then(|| Problem::new("threads", what))
    }

    /// From now on those of another process, all of whose time counts.
    fn follow(&mut self, pid: u32) {
        self.pid = pid;
        self.known.clear();
    }

    /// Adds what was counted since the last reading. Absent where the kernel does not count it, or nothing can be read.
    fn read(&mut self, proc: &ProcRoot) -> Option<ThreadTimes> {
        let folder = proc.path().join(self.pid.to_string()).join("task");
        let names = folder.read_dir().ok()?.flatten().map(|entry| entry.file_name());
        let mut numbers = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
        self.times.longest_wait_ns = 0;
        let mut now = HashMap::with_capacity(self.known.len());
        for number in numbers.by_ref().take(THREADS_MAX) {
            let Ok(Some(of)) = proc.read_thread_schedstat(self.pid, number) else { continue };
            let before = self.known.get(&number).copied();
            let is_compiler = match before {
                Some(before) if before.is_named => before.is_compiler,
                _ => has_compiler_name(proc, self.pid, number),
            };
            let counted = ThreadCounted {
                run_ns: of.run_ns,
                wait_ns: of.wait_ns,
                is_compiler,
                is_named: before.is_some(),
            };
            // A thread that was not there before has done all of it since.
            let none = if self.is_begun { ThreadCounted::default() } else { counted };
            self.times.add(before.unwrap_or(none), counted);
            now.insert(number, counted);
        }
        self.has_left_out |= numbers.next().is_some();
        self.is_begun = true;
        self.known = now;
        (!self.known.is_empty()).then_some(self.times)
    }
}

fn has_compiler_name(proc: &ProcRoot, pid: u32, thread: u32) -> bool {
    let name = proc.read_thread_name(pid, thread).ok().flatten();
    name.is_some_and(|name| is_compiler_s(&name))
}

/// The server's process.
#[derive(Debug)]
pub(super) struct Server {
    pub identity: ProcessIdentity,
    pub cgroups: Option<Cgroups>,
    pub threads: Threads,
    /// What the processes used that were the server before.
    earlier_ns: u64,
    /// That it is another process since the last sample.
    replaced: Option<String>,
}

impl Server {
    pub fn new(identity: ProcessIdentity, cgroups: Option<Cgroups>) -> Server {
        let threads = Threads::new(identity.pid);
        Server { identity, cgroups, threads, earlier_ns: 0, replaced: None }
    }

    /// Another process is the server now; the one before used `used_ns`.
    pub fn follow(&mut self, identity: ProcessIdentity, cgroups: Option<Cgroups>, used_ns: u64) {
        let (old, new) = (self.identity.pid, identity.pid);
        self.replaced = Some(format!("process {old} was started again as process {new}"));
        self.earlier_ns = self.earlier_ns.saturating_add(used_ns);
        (self.identity, self.cgroups) = (identity, cgroups);
        self.threads.follow(new);
    }
}

impl Sample {
    pub fn take(proc: &ProcRoot, gauge: &HostGauge, server: Option<&mut Server>, has_host: bool) -> Sample {
        let host = has_host.then(|| gauge.read());
        let mut sample = Sample {
            at_ns: monotonic_ns(),
            wall_offset_ns: wall_offset_ns(),
            host,
            own_cpu_ns: process_cpu_ns(std::process::id()).ok(),
            ..Sample::default()
        };
        if let Some(server) = server {
            let pid = server.identity.pid;
            sample.restart = match proc.is_running(server.identity) {
                Ok(false) => Some(format!("process {pid} has ended, or its number was given to another one")),
                Ok(true) | Err(_) => server.replaced.take(),
            };
            sample.server_cpu_ns = process_cpu_ns(pid).ok().map(|ns| ns.saturating_add(server.earlier_ns));
            sample.threads = server.threads.read(proc);
            let throttling =
                server.cgroups.as_ref().and_then(|groups| groups.read_throttling().ok().flatten());
            sample.server_throttled_ns = throttling.map(|t| t.throttled_ns);
        }
        sample
    }
}
