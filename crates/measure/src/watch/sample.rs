//! One sample of counters that all count up.

use assay_host::{HostGauge, HostReading};
use assay_linux::{Cgroups, ProcRoot, ProcessIdentity, monotonic_ns, process_cpu, ticks_per_s};
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Threads that are read; of a server with more, the rest is left out.
const THREADS_MAX: usize = 4096;
/// Children of a companion that are read.
const PROCESSES_MAX: usize = 1024;
const NS_PER_S: u64 = 1_000_000_000;

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
    /// Of the processes that belong to the server, and their children. Read with the host's.
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
}

/// The threads of a server, with what was counted for each.
#[derive(Debug)]
pub(super) struct Threads {
    pid: u32,
    /// Run and wait time by thread.
    known: HashMap<u32, (u64, u64)>,
    times: ThreadTimes,
    is_begun: bool,
}

impl Threads {
    pub fn new(pid: u32) -> Self {
        Threads { pid, known: HashMap::new(), times: ThreadTimes::default(), is_begun: false }
    }

    /// Adds what was counted since the last reading. Absent where the kernel does not count it, or nothing can be read.
    fn read(&mut self, proc: &ProcRoot) -> Option<ThreadTimes> {
        let folder = proc.path().join(self.pid.to_string()).join("task");
        let names = folder.read_dir().ok()?.flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| name.to_str()?.parse::<u32>().ok()).take(THREADS_MAX);
        self.times.longest_wait_ns = 0;
        let mut now = HashMap::with_capacity(self.known.len());
        for number in numbers {
            let Ok(Some(of)) = proc.read_thread_schedstat(self.pid, number) else { continue };
            // A thread that was not there before has done all of it since.
            let none = if self.is_begun { (0, 0) } else { (of.run_ns, of.wait_ns) };
            let (run_ns, wait_ns) = self.known.get(&number).copied().unwrap_or(none);
            let waited_ns = of.wait_ns.saturating_sub(wait_ns);
            self.times.run_ns = self.times.run_ns.saturating_add(of.run_ns.saturating_sub(run_ns));
            self.times.wait_ns = self.times.wait_ns.saturating_add(waited_ns);
            self.times.longest_wait_ns = self.times.longest_wait_ns.max(waited_ns);
            now.insert(number, (of.run_ns, of.wait_ns));
        }
        self.is_begun = true;
        self.known = now;
        (!self.known.is_empty()).then_some(self.times)
    }
}

/// The server's process.
#[derive(Debug)]
pub(super) struct Server {
    pub identity: ProcessIdentity,
    pub cgroups: Option<Cgroups>,
    pub threads: Threads,
}

impl Sample {
    pub fn take(proc: &ProcRoot, gauge: &HostGauge, server: Option<&mut Server>, has_host: bool) -> Sample {
        let host = has_host.then(|| gauge.read());
        let mut sample = Sample {
            at_ns: monotonic_ns(),
            wall_offset_ns: wall_offset_ns(),
            host,
            own_cpu_ns: process_cpu(std::process::id()).ok().map(|cpu| cpu.total_ns),
            ..Sample::default()
        };
        if let Some(server) = server {
            let pid = server.identity.pid;
            sample.restart = match proc.is_running(server.identity) {
                Ok(false) => Some(format!("process {pid} has ended, or its number was given to another one")),
                Ok(true) | Err(_) => None,
            };
            sample.server_cpu_ns = process_cpu(pid).ok().map(|cpu| cpu.total_ns);
            sample.threads = server.threads.read(proc);
            let throttling =
                server.cgroups.as_ref().and_then(|groups| groups.read_throttling().ok().flatten());
            sample.server_throttled_ns = throttling.map(|t| t.throttled_ns);
        }
        sample
    }
}

/// CPU time of a process and its children. A database has a process for each connection, as children of a main process of one
/// thread.
pub(super) fn companion_cpu_ns(proc: &ProcRoot, main: u32) -> u64 {
    let own_ns = process_cpu(main).map_or(0, |cpu| cpu.total_ns);
    own_ns.saturating_add(children_cpu_ns(proc, main))
}

/// CPU time of the children of a process, which its main thread started, and of those that ended and were waited for.
pub(super) fn children_cpu_ns(proc: &ProcRoot, main: u32) -> u64 {
    let path = proc.path().join(format!("{main}/task/{main}/children"));
    let children = std::fs::read_to_string(path).unwrap_or_default();
    let children = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).take(PROCESSES_MAX);
    let living = children.filter_map(|pid| process_cpu(pid).ok());
    let living_ns = living.fold(0, |sum: u64, cpu| sum.saturating_add(cpu.total_ns));
    let ended = proc.read_process_stat(main).map_or(0, |stat| stat.children_ticks);
    living_ns.saturating_add(ended.saturating_mul(NS_PER_S / ticks_per_s().max(1)))
}

/// Between two readings of the monotonic clock, so that being put off the processor in between does not look like a step.
fn wall_offset_ns() -> Option<i128> {
    let before_ns = monotonic_ns();
    let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let after_ns = monotonic_ns();
    let is_close = after_ns.saturating_sub(before_ns) < 1_000_000;
    is_close.then(|| i128::try_from(wall_ns).ok()).flatten().map(|wall| wall - i128::from(before_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// A shell of one thread waits while its child works: what both use is the companion's.
    #[test]
    fn what_children_of_a_companion_use_is_its_own() {
        let mut shell = Command::new("sh")
            .args(["-c", "(while :; do :; done) & read line; kill $!; wait"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let (proc, pid) = (ProcRoot::default(), shell.id());
        let begun = std::time::Instant::now();
        let mut used_ns = 0;
        while used_ns < 50_000_000 && begun.elapsed().as_secs() < 120 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            used_ns = companion_cpu_ns(&proc, pid);
        }
        let of_main_ns = process_cpu(pid).expect("it runs").total_ns;
        drop(shell.stdin.take());
        shell.wait().expect("it ends");
        assert!(of_main_ns < 40_000_000, "the shell itself waits: {of_main_ns} ns");
        assert!(50_000_000 <= used_ns, "{used_ns} ns");
    }
}
