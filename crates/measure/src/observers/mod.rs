//! Observers: what watches a trial. One that cannot work is listed with its reason and never fails a trial.

mod gc;
mod host;
mod latency;
mod memory;

use crate::prepare::Prepared;
use crate::study_file::Observe;
use assay_load::{IntervalLogs, Measured};
use assay_model::{ExcludedObserver, HeapRange, ModeRead, Trial, Window};
use std::path::PathBuf;

pub(crate) use host::{judge, no_host_gauges};

/// The server that is watched, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The process that does the work.
    pub pid: u32,
    /// The trial's folder.
    pub folder: PathBuf,
    /// Where the Java heap lies.
    pub heap: Option<HeapRange>,
    /// Reference mode that the log shows.
    pub mode: Option<ModeRead>,
    /// Whether the command takes JVM options.
    pub takes_jvm_options: bool,
    /// Whether its capacity is searched for, and no window of even load measured.
    pub finds_capacity: bool,
}

/// CPU time at one instant: of the server, and of what else belongs to the trial (generator, database).
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuSample {
    pub monotonic_ns: u64,
    pub server_ns: u64,
    pub own_ns: u64,
}

/// What was seen of a window: `first` and `last` are the outermost samples within the stretch of load.
pub(crate) struct Seen<'a> {
    pub measured: &'a Measured,
    pub first: CpuSample,
    pub last: CpuSample,
    /// Whether the plan has no further window for this server.
    pub is_last: bool,
}

/// What watches a trial. Every step may fail with a reason; the observer is then left out of the rest of the trial.
pub(crate) trait Observer {
    fn name(&self) -> &'static str;

    /// Before the launch: returns JVM options that it needs.
    fn prepare(&mut self, _target: &Target) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// The server answers.
    fn start(&mut self, _target: &mut Target) -> Result<(), String> {
        Ok(())
    }

    /// A stretch of load is over: warm-up, settling, or a window.
    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        Ok(())
    }

    /// A window begins: where the generator's interval log goes.
    fn logs(&mut self) -> Result<Option<IntervalLogs>, String> {
        Ok(None)
    }

    /// Several times a second while a window is measured.
    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        Ok(())
    }

    /// A window is over.
    fn end_window(&mut self, _target: &Target, _seen: &Seen<'_>, _window: &mut Window) -> Result<(), String> {
        Ok(())
    }

    /// The server has stopped: completes the trial.
    fn finish(&mut self, _trial: &mut Trial) -> Result<(), String> {
        Ok(())
    }
}

/// The observers of one trial that still work.
pub(crate) struct Observers {
    working: Vec<Box<dyn Observer>>,
    pub excluded: Vec<ExcludedObserver>,
}

impl Observers {
    /// Those that the study asks for. A wanted reference mode is verified from the GC log, so that is read then too.
    ///
    /// A search for a capacity watches the machine itself, window by window, so there is no observer of the host then.
    pub fn new(prepared: &Prepared, verifies_mode: bool) -> Observers {
        let (wanted, window_s) = (&prepared.observe, prepared.layout.window_s);
        let wants = |o: Observe| wanted.contains(&o);
        let mut working: Vec<Box<dyn Observer>> = Vec::new();
        if wants(Observe::Gc) || verifies_mode {
            working.push(Box::new(gc::GcObserver::default()));
        }
        if wants(Observe::Areas) {
            working.push(Box::new(memory::MemoryObserver::with_areas(window_s)));
        } else if wants(Observe::Memory) {
            working.push(Box::new(memory::MemoryObserver::default()));
        }
        if wants(Observe::Host) && prepared.plan.capacity.is_none() {
            working.push(Box::new(host::HostObserver::new(prepared.limits)));
        }
        if wants(Observe::Latency) {
            working.push(Box::new(latency::LatencyObserver::default()));
        }
        Observers { working, excluded: Vec::new() }
    }

    /// Has each working observer take a step; those that cannot are excluded.
    pub fn each(&mut self, mut step: impl FnMut(&mut dyn Observer) -> Result<(), String>) {
        let excluded = &mut self.excluded;
        self.working.retain_mut(|observer| match step(observer.as_mut()) {
            Ok(()) => true,
            Err(reason) => {
                excluded.push(ExcludedObserver { name: observer.name().to_owned(), reason });
                false
            }
        });
    }
}
