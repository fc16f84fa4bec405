//! Watches a live server and the machine beside the load: a thread that samples counters, and the server's GC log as it grows.
//!
//! Sampled are the run-queue delay and CPU time of the server's threads (`/proc/PID/task/*/schedstat`), what a CPU limit took
//! from its control group, the gauges of the machine, both clocks, and whether the process is still the one that it was. The
//! interval is 20 ms, longer where a sample costs more than a hundredth of it: a JVM of 40 threads takes 0.2 ms.

mod half;
mod log;
mod sample;
mod spans;

use crate::observation::{Observation, WATCHED, Watcher};
use crate::observers::{Observers, Target};
use crate::process_cpu::tree_cpu_ns;
use assay_gcstudy::LiveStops;
use assay_host::{HostGauge, SpeedProbe};
use assay_linux::{LinuxError, ProcRoot, ProcessTree, Processors, SysRoot, process_cpu_ns};
use assay_load::{IntervalLogs, Measured, SessionStarts};
use assay_model::{MachineSpeed, Problem, SessionStartSummary, Window};
use half::Half;
use sample::{Sample, Server};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SAMPLE_EVERY: Duration = Duration::from_millis(20);
/// A sample takes at most this part of the time.
const COST_PART: u32 = 100;
/// The machine's gauges are read with every so many samples: their resolution is 10 ms of each processor.
const HOST_EVERY: u64 = 5;
const SLEEP_MAX: Duration = Duration::from_secs(2);
/// Samples that are kept: 20 minutes of them.
const SAMPLES_MAX: usize = 60_000;

/// Processes and files to watch.
#[derive(Debug, Clone, Default)]
pub struct WatchConfig {
    /// The server's process, if it is on this machine.
    pub pid: Option<u32>,
    /// Processes that belong to it, such as a database, other servers, or injectors on this machine. What they use, and all that
    /// descend from them or from the server, is not foreign.
    pub companions: Vec<u32>,
    /// Its GC log.
    pub gc_log: Option<PathBuf>,
    /// Time between two samples at least; absent: as short as serves the attribution of slow requests.
    pub every: Option<Duration>,
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    sampler: Arc<Mutex<Sampler>>,
    /// Whether the server is on this machine; then how fast that is can be measured, which takes memory from the first time on.
    is_here: bool,
    speed: Option<SpeedProbe>,
    /// The most users of a load so far, and how all began their sessions outside of the figures.
    users: (u32, SessionStarts),
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Time until the next sample after one that took so long.
fn sleep_after(cost: Duration) -> Duration {
    SAMPLE_EVERY.max(cost * COST_PART).min(SLEEP_MAX)
}

impl Watch {
    /// Starts watching, with no observers.
    ///
    /// # Errors
    /// The process does not exist. Anything else that cannot be read is reported as a problem.
    pub fn start(config: &WatchConfig) -> Result<Watch, LinuxError> {
        Watch::with_observers(config, None)
    }

    /// Starts watching. The observers of the target sample on the same thread while a window is measured.
    ///
    /// # Errors
    /// As of [`Watch::start`].
    pub fn with_observers(
        config: &WatchConfig,
        observing: Option<(Observers, Target)>,
    ) -> Result<Watch, LinuxError> {
        let sampler = Arc::new(Mutex::new(Sampler::new(config, observing)?));
        let every = config.every.unwrap_or(SAMPLE_EVERY);
        let stop = Arc::new(AtomicBool::new(false));
        let (of_thread, until) = (Arc::clone(&sampler), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                let cost = lock(&of_thread).tick();
                std::thread::park_timeout(sleep_after(cost).max(every));
            }
        });
        let users = (0, SessionStarts::none());
        Ok(Watch { sampler, is_here: config.pid.is_some(), speed: None, users, stop, thread: Some(thread) })
    }

    /// Pauses while the server is held still, or goes on.
    pub fn hold(&self, is_held: bool) {
        lock(&self.sampler).is_held = is_held;
        if let Some(thread) = self.thread.as_ref().filter(|_| !is_held) {
            thread.thread().unpark();
        }
    }

    /// Runs on these processors, and looks at what others do there alone: those of one side of a duet. Between windows; the generator has
    /// to run there, too.
    pub fn move_to(&self, processors: &Processors) {
        lock(&self.sampler).move_to(processors);
    }

    /// The most users of a load so far, where there was one, and how all began their sessions outside of its figures.
    pub fn users(&self) -> (Option<u32>, Option<SessionStartSummary>) {
        let (users, starts) = &self.users;
        (Some(*users).filter(|users| 0 < *users), starts.summary())
    }

    /// A handle to report processes that end, or are replaced, during a measurement.
    pub fn replacements(&self) -> Replacements {
        Replacements { sampler: Arc::clone(&self.sampler) }
    }

    /// No further window follows, and the server still runs: the observers take their last looks.
    pub fn end_windows(&mut self) {
        if let Some(Observing { observers, target, .. }) = &mut lock(&self.sampler).observing {
            observers.each(|o| o.end_windows(target));
        }
    }

    /// Stops watching and gives the observers back.
    pub fn finish(mut self) -> Observers {
        self.end();
        lock(&self.sampler).observing.take().map(|observing| observing.observers).unwrap_or_default()
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread was reported on standard error when it happened; there is nothing to undo.
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Watcher for Watch {
    fn seen(&mut self, from_ns: u64, to_ns: u64) -> Observation {
        let mut sampler = lock(&self.sampler);
        // So that there is one at or after the end.
        sampler.sample(true);
        sampler.seen(from_ns, to_ns)
    }

    fn machine_speed(&mut self) -> Option<MachineSpeed> {
        self.is_here.then(|| self.speed.get_or_insert_with(SpeedProbe::new).measure())
    }

    fn problems(&self) -> Vec<Problem> {
        let sampler = lock(&self.sampler);
        let of_log = sampler.log.iter().flat_map(LiveStops::problems);
        let of_threads = sampler.server.iter().filter_map(|server| server.threads.problem());
        sampler.problems.iter().cloned().chain(of_log).chain(of_threads).collect()
    }

    fn knows_server(&self) -> bool {
        lock(&self.sampler).server.is_some()
    }

    fn begin_window(&mut self, settle: Duration) -> Option<IntervalLogs> {
        let mut sampler = lock(&self.sampler);
        // The generator runs on the thread that asks.
        sampler.half.iter_mut().for_each(Half::generator_is_here);
        let Observing { observers, is_in_window, .. } = sampler.observing.as_mut()?;
        *is_in_window = true;
        observers.each(|o| o.begin_window(settle));
        let mut logs = None;
        observers.each(|o| o.logs().map(|of_this| logs = logs.take().or(of_this)));
        logs
    }

    fn end_load(&mut self, measured: &Measured) {
        self.users.0 = self.users.0.max(measured.users);
        self.users.1.add_all(&measured.session_starts);
        if let Some(observing) = &mut lock(&self.sampler).observing {
            observing.observers.each(|o| o.end_load(measured));
        }
    }

    fn end_search_window(&mut self, measured: &Measured, window: &mut Window) {
        if let Some(observing) = &mut lock(&self.sampler).observing {
            observing.observers.each(|o| o.end_search_window(measured, window));
        }
    }

    fn end_window(&mut self, measured: &Measured, window: &mut Window) {
        if let Some(Observing { observers, target, is_in_window }) = &mut lock(&self.sampler).observing {
            *is_in_window = false;
            observers.each(|o| o.end_window(target, measured, window));
        }
    }
}

/// Handle by which the runner reports processes that faults end, and their replacements, while a window is measured.
#[derive(Debug, Clone)]
pub struct Replacements {
    sampler: Arc<Mutex<Sampler>>,
}

impl Replacements {
    /// This process of a role is about to be ended; or it has ended, and was not waited for yet.
    pub fn lost(&self, role: &str, pid: u32) {
        if let Some(Observing { observers, target, .. }) = &mut lock(&self.sampler).observing {
            observers.each(|o| o.lost(target, role, pid));
        }
    }

    /// `start` waits for the process of a role that has ended, starts it again and gives its number. Nothing is sampled meanwhile, so that
    /// what the ended one used stays counted.
    ///
    /// # Errors
    /// Those of `start`.
    pub fn replace<E>(
        &self,
        role: &str,
        old: u32,
        start: impl FnOnce() -> Result<Option<u32>, E>,
    ) -> Result<Option<u32>, E> {
        let mut sampler = lock(&self.sampler);
        let is_server = sampler.server.as_ref().is_some_and(|server| server.identity.pid == old);
        let used_ns = process_cpu_ns(old).unwrap_or(0);
        let before_ns = sampler.companions_ns();
        let Some(new) = start()? else { return Ok(None) };
        let after_ns = sampler.companions_ns();
        sampler.companions_gone_ns += before_ns.saturating_sub(after_ns);
        if is_server {
            sampler.follow_server(new, used_ns);
        }
        sampler.replaced(role, old, new);
        Ok(Some(new))
    }

    /// The process that was started again is ready, and this one of it does the work.
    pub fn is_ready(&self, role: &str, started: u32, works: u32) {
        let mut sampler = lock(&self.sampler);
        if started == works {
            return;
        }
        if sampler.server.as_ref().is_some_and(|server| server.identity.pid == started) {
            sampler.follow_server(works, 0);
        }
        sampler.replaced(role, started, works);
    }
}

/// Observers with what they look at.
struct Observing {
    observers: Observers,
    target: Target,
    is_in_window: bool,
}

impl std::fmt::Debug for Observing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observing").field("target", &self.target).finish_non_exhaustive()
    }
}

/// A sample that panicked half-way left nothing that a later one cannot go on from.
fn lock(sampler: &Mutex<Sampler>) -> MutexGuard<'_, Sampler> {
    sampler.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Sampler {
    proc: ProcRoot,
    gauge: HostGauge,
    server: Option<Server>,
    /// The server and its companions, with all that descend from them.
    tree: ProcessTree,
    log: Option<LiveStops>,
    /// Whether a CPU limit of this process holds the server too.
    shares_group: bool,
    samples: VecDeque<Sample>,
    taken: u64,
    /// CPU time of companions that ended and were started again.
    companions_gone_ns: u64,
    problems: Vec<Problem>,
    observing: Option<Observing>,
    is_held: bool,
    /// The processors that are looked at; absent: all.
    half: Option<Half>,
}

impl Sampler {
    fn new(config: &WatchConfig, observing: Option<(Observers, Target)>) -> Result<Sampler, LinuxError> {
        let (proc, sys) = (ProcRoot::default(), SysRoot::default());
        let gauge = HostGauge::new();
        let mut problems = gauge.problems().to_vec();
        let own = proc.read_cgroups(&sys, None).ok();
        let server = match config.pid {
            None => None,
            Some(pid) => {
                let identity = proc.identity_of(pid)?;
                let cgroups = proc.read_cgroups(&sys, Some(pid));
                let cgroups = cgroups.inspect_err(|e| problems.push(Problem::from(e))).ok();
                Some(Server::new(identity, cgroups))
            }
        };
        let shares_group = server.as_ref().is_none_or(|s| s.cgroups == own);
        let log = config.gc_log.clone().map(LiveStops::new);
        let samples = VecDeque::new();
        let all = config.companions.iter().chain(&config.pid);
        let tree = ProcessTree::of(all.filter_map(|pid| proc.identity_of(*pid).ok()));
        let observing =
            observing.map(|(observers, target)| Observing { observers, target, is_in_window: false });
        Ok(Sampler {
            proc,
            gauge,
            server,
            tree,
            log,
            shares_group,
            samples,
            taken: 0,
            companions_gone_ns: 0,
            problems,
            observing,
            is_held: false,
            half: None,
        })
    }

    /// What the thread does each time; says what the counters took.
    fn tick(&mut self) -> Duration {
        if self.is_held {
            return SLEEP_MAX;
        }
        self.half.iter_mut().for_each(Half::watch_is_here);
        let begun = Instant::now();
        let has_host = self.taken.is_multiple_of(HOST_EVERY);
        self.sample(has_host);
        let cost = begun.elapsed();
        if let Some(Observing { observers, target, .. }) = self.observing.as_mut().filter(|o| o.is_in_window)
        {
            observers.sample(target, sleep_after);
        }
        cost
    }

    fn sample(&mut self, has_host: bool) {
        let last_ns = self.samples.back().map(|sample| sample.at_ns);
        let mut sample = Sample::take(&self.proc, &self.gauge, self.server.as_mut(), has_host);
        if let Some(half) = &self.half {
            sample.own_cpu_ns = half.own_cpu_ns(&self.proc);
        }
        if sample.host.is_some() {
            sample.companions_cpu_ns = self.companions_ns().saturating_add(self.companions_gone_ns);
        }
        self.taken += 1;
        if let Some(log) = &mut self.log {
            log.follow(last_ns, sample.at_ns);
        }
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    fn move_to(&mut self, processors: &Processors) {
        self.gauge.look_at(processors.clone());
        // They are about other processors.
        self.samples.iter_mut().for_each(|sample| sample.host = None);
        self.half = Some(Half::new(processors.clone()));
    }

    /// CPU time of the companions that there are.
    fn companions_ns(&mut self) -> u64 {
        // The server's own time and that of this process are counted by themselves.
        let but = self.server.iter().map(|s| s.identity.pid).chain([std::process::id()]);
        let but: Vec<u32> = but.collect();
        tree_cpu_ns(&self.proc, &mut self.tree, &but)
    }

    /// Has the server watched as this process.
    fn follow_server(&mut self, pid: u32, used_ns: u64) {
        let Ok(identity) = self.proc.identity_of(pid) else { return };
        let cgroups = self.proc.read_cgroups(&SysRoot::default(), Some(pid)).ok();
        if let Some(server) = &mut self.server {
            server.follow(identity, cgroups, used_ns);
        }
    }

    /// A process of a role was started again: it is watched, and the observers look at it.
    fn replaced(&mut self, role: &str, old: u32, new: u32) {
        self.proc.identity_of(new).into_iter().for_each(|identity| self.tree.add(identity));
        let Some(Observing { observers, target, .. }) = &mut self.observing else { return };
        if target.pid == Some(old) {
            target.pid = Some(new);
            // Where its heap lies is not known.
            target.heap = None;
        }
        let of_old = target.processes.iter_mut().filter(|(_, pid)| *pid == old);
        of_old.for_each(|(_, pid)| *pid = new);
        observers.each(|o| o.replaced(target, role, new));
    }

    fn seen(&mut self, from_ns: u64, to_ns: u64) -> Observation {
        let mut seen = spans::seen(self.samples.make_contiguous(), from_ns, to_ns, self.shares_group);
        if let Some(log) = &self.log {
            log::add(log, &mut seen, from_ns, to_ns);
        }
        // The last one before the end is the first of the next interval.
        let over = self.samples.partition_point(|sample| sample.at_ns < to_ns).saturating_sub(1);
        self.samples.drain(..over);
        seen.watched.sort_unstable();
        seen.watched.dedup();
        debug_assert!(seen.watched.iter().all(|cause| WATCHED.contains(cause)));
        seen
    }
}
