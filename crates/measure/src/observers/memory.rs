//! Observes resident memory by area while a window is measured, and at its end.
//!
//! In short: the kernel's mappings once a second, and one full snapshot after the last window. With areas: a full snapshot every
//! few seconds and at the end of each window, and the page faults of the window.

use super::contract::{Observer, Target};
use assay_linux::{ProcRoot, monotonic_ns};
use assay_load::Measured;
use assay_memory::{ReadOptions, SnapshotDepth};
use assay_model::{Area, AreaBytes, MemoryReport, MemorySample, Problem, Trial, Window, file, metric};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::thread::JoinHandle;

pub(super) const INTERVAL_NS: u64 = 1_000_000_000;
/// A full snapshot takes some tenths of a second of CPU time: every five seconds that is a few per cent of one processor.
const AREAS_INTERVAL_NS_MAX: u64 = 5_000_000_000;
/// Full snapshots in a window, if it is so short that there would be fewer.
const LOOKS_IN_WINDOW: f64 = 3.0;

/// Metrics that are one area of a full snapshot.
const AREA_METRICS: [(&str, Area); 7] = [
    (metric::CLASS_METADATA_BYTES, Area::ClassMetadata),
    (metric::JIT_CODE_BYTES, Area::JitCode),
    (metric::JVM_WORK_BYTES, Area::JvmWork),
    (metric::NATIVE_LIBRARIES_BYTES, Area::NativeLibraries),
    (metric::BUFFERS_BYTES, Area::Buffers),
    (metric::STACKS_BYTES, Area::Stacks),
    (metric::FREED_RESIDENT_BYTES, Area::FreedResident),
];

#[derive(Default)]
pub(crate) struct MemoryObserver {
    /// Full snapshots in place of short ones, and the time between two of them.
    areas_interval_ns: Option<u64>,
    file: Option<File>,
    next_ns: Option<u64>,
    faults: Vec<Faults>,
    /// A full snapshot that is being taken: it may last longer than the gauges of a window can wait.
    taking: Option<JoinHandle<Result<MemoryReport, String>>>,
    /// Why the full snapshot after the last window is missing.
    last_look: Option<String>,
    /// A fault has ended the server, which may be started again.
    is_lost: bool,
}

/// The kernel's count of a process's minor faults at one instant.
#[derive(Clone, Copy)]
struct Faults {
    monotonic_ns: u64,
    minor: u64,
}

impl MemoryObserver {
    /// The one that looks at every resident byte, in windows of so many seconds.
    pub fn with_areas(window_s: f64) -> Self {
        let interval_ns = areas_interval_ns(window_s);
        MemoryObserver { areas_interval_ns: Some(interval_ns), ..MemoryObserver::default() }
    }

    /// Begins a full snapshot when it is due, and keeps the result of one that is complete.
    fn look_beside(&mut self, target: &Target, interval_ns: u64) -> Result<(), String> {
        let now_ns = monotonic_ns();
        if self.taking.as_ref().is_some_and(JoinHandle::is_finished) {
            self.end_look()?;
            self.next_ns = Some(now_ns + interval_ns);
        }
        let due_ns = *self.next_ns.get_or_insert(now_ns + interval_ns);
        if self.taking.is_none() && due_ns <= now_ns {
            let target = target.clone();
            self.taking = Some(std::thread::spawn(move || full_look(&target)));
        }
        Ok(())
    }

    /// Waits for a snapshot that is under way.
    fn end_look(&mut self) -> Result<(), String> {
        let Some(taking) = self.taking.take() else { return Ok(()) };
        let report = taking.join().map_err(|_| "the reader of memory panicked".to_owned())??;
        self.append(&sample_of(&report))
    }

    fn append(&mut self, sample: &MemorySample) -> Result<(), String> {
        let mut line = serde_json::to_vec(sample).map_err(|e| e.to_string())?;
        line.push(b'\n');
        match &mut self.file {
            Some(file) => {
                file.write_all(&line).map_err(|e| format!("{} could not be written: {e}", file::MEMORY))
            }
            None => Ok(()),
        }
    }

    /// The areas at the end of a window.
    fn end_areas(&mut self, target: &Target, window: &mut Window) -> Result<MemorySample, String> {
        let report = full_look(target)?;
        add_areas(&report, window);
        store(target, &report)?;
        Ok(sample_of(&report))
    }

    /// Faults between the first and the last count within the window.
    fn end_faults(&mut self, measured: &Measured, window: &mut Window) {
        let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
        let mut counts = std::mem::take(&mut self.faults).into_iter();
        let mut counts = counts.by_ref().filter(|f| inside.contains(&f.monotonic_ns));
        let id = metric::MINOR_FAULTS_PER_REQUEST;
        let (Some(first), Some(last)) = (counts.next(), counts.last()) else {
            window.problems.push(Problem::new(id, "the window is too short to count faults twice"));
            return;
        };
        let requests = measured.completions.completed_between(first.monotonic_ns, last.monotonic_ns);
        if requests < 1.0 {
            window.problems.push(Problem::new(id, "no request completed"));
            return;
        }
        let faults = last.minor.saturating_sub(first.minor) as f64;
        window.metrics.insert(id.to_owned(), faults / requests);
    }
}

/// Metrics of the memory of a program that ends by itself: what the last look at it saw.
pub fn memory_metrics() -> impl Iterator<Item = &'static str> {
    [metric::RSS_BYTES, metric::NATIVE_BYTES].into_iter().chain(AREA_METRICS.map(|(id, _)| id))
}

/// Time between two full snapshots in windows of so many seconds.
pub(super) fn areas_interval_ns(window_s: f64) -> u64 {
    let nanoseconds = (window_s / LOOKS_IN_WINDOW * 1e9) as u64;
    nanoseconds.clamp(INTERVAL_NS, AREAS_INTERVAL_NS_MAX)
}

/// The areas of a full snapshot, and all but the heap, as metrics of a window.
pub(super) fn add_areas(report: &MemoryReport, window: &mut Window) {
    for (id, area) in AREA_METRICS {
        // Every area is in a full snapshot; one that is not listed holds nothing.
        window.metrics.insert(id.to_owned(), bytes_of(&report.areas, area).unwrap_or(0) as f64);
    }
    let heap = bytes_of(&report.areas, Area::JavaHeap).unwrap_or(0);
    let native_bytes = report.rss_bytes.saturating_sub(heap);
    window.metrics.insert(metric::NATIVE_BYTES.to_owned(), native_bytes as f64);
}

/// The file of samples in the trial's folder.
pub(super) fn open_samples(target: &Target) -> Result<File, String> {
    let path = target.folder.join(file::MEMORY);
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    opened.map_err(|e| format!("{} could not be made: {e}", path.display()))
}

/// Of one depth however large the heap is: areas are compared between variants, which may have heaps of different sizes.
pub(super) fn full_look(target: &Target) -> Result<MemoryReport, String> {
    assay_memory::read(target.known_pid()?, &ReadOptions::of_depth(SnapshotDepth::Owners))
        .map_err(|e| e.to_string())
}

pub(super) fn short_look(target: &Target) -> Result<MemorySample, String> {
    assay_memory::sample(&ProcRoot::default(), target.known_pid()?, target.heap, monotonic_ns())
        .map_err(|e| e.to_string())
}

pub(super) fn sample_of(report: &MemoryReport) -> MemorySample {
    MemorySample {
        monotonic_ns: report.monotonic_ns,
        rss_bytes: report.rss_bytes,
        pss_bytes: report.outside_rss.pss_bytes,
        swap_bytes: report.outside_rss.swap_bytes,
        areas: report.areas.clone(),
    }
}

fn bytes_of(areas: &[AreaBytes], area: Area) -> Option<u64> {
    areas.iter().find(|a| a.area == area).map(|a| a.resident_bytes)
}

pub(super) fn store(target: &Target, report: &MemoryReport) -> Result<(), String> {
    let path = target.folder.join(file::MEMORY_REPORT);
    let failed = |e: std::io::Error| format!("{} could not be written: {e}", path.display());
    let mut options = OpenOptions::new();
    let mut file = options.create(true).write(true).truncate(true).mode(0o600).open(&path).map_err(failed)?;
    let text = serde_json::to_vec_pretty(report).map_err(|e| e.to_string())?;
    file.write_all(&text).map_err(failed)
}

impl Observer for MemoryObserver {
    fn name(&self) -> &'static str {
        if self.areas_interval_ns.is_some() { "areas" } else { "memory" }
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.file = Some(open_samples(target)?);
        Ok(())
    }

    fn lost(&mut self, target: &Target, _role: &str, pid: u32) -> Result<(), String> {
        if target.pid == Some(pid) {
            self.is_lost = true;
            self.faults.clear();
            // The process that a snapshot was reading is gone: the snapshot fails, and is not needed.
            let _ = self.taking.take().map(JoinHandle::join);
        }
        Ok(())
    }

    fn replaced(&mut self, target: &Target, _role: &str, pid: u32) -> Result<(), String> {
        self.is_lost &= target.pid != Some(pid);
        Ok(())
    }

    fn sample(&mut self, target: &Target) -> Result<(), String> {
        if self.is_lost {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        if let Some(interval_ns) = self.areas_interval_ns {
            let stat = ProcRoot::default().read_process_stat(target.known_pid()?);
            let stat = stat.map_err(|e| e.to_string())?;
            self.faults.push(Faults { monotonic_ns: now_ns, minor: stat.minor_faults });
            return self.look_beside(target, interval_ns);
        }
        if self.next_ns.is_some_and(|due_ns| now_ns < due_ns) {
            return Ok(());
        }
        self.next_ns = Some(now_ns + INTERVAL_NS);
        self.append(&short_look(target)?)
    }

    fn end_window(
        &mut self,
        target: &Target,
        measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        let with_areas = self.areas_interval_ns.is_some();
        self.next_ns = None;
        if self.is_lost {
            window.problems.push(Problem::new(metric::RSS_BYTES, "a fault has ended the server"));
            return Ok(());
        }
        let sample = if with_areas {
            self.end_look()?;
            // On the way to a capacity the rates differ by variant, and so would faults for each request.
            if target.has_even_load {
                self.end_faults(measured, window);
            }
            self.end_areas(target, window)?
        } else {
            short_look(target)?
        };
        self.append(&sample)?;
        window.metrics.insert(metric::RSS_BYTES.to_owned(), sample.rss_bytes as f64);
        Ok(())
    }

    fn end_windows(&mut self, target: &Target) -> Result<(), String> {
        if self.areas_interval_ns.is_none() && !self.is_lost {
            // More than was asked for: what windows are measured by does not depend on it.
            self.last_look = full_look(target).and_then(|report| store(target, &report)).err();
        }
        Ok(())
    }

    fn finish(&mut self, trial: &mut Trial) -> Result<(), String> {
        let why = self.last_look.take();
        trial.problems.extend(why.map(|why| Problem::new(file::MEMORY_REPORT, why)));
        Ok(())
    }
}
