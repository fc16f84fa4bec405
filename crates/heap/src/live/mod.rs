//! The heap of a running JVM: a class histogram as a dump would give it, with no dump.
//!
//! The JVM is stopped while its heap is read from outside ([`assay_linux::Freeze`]: for a bounded time, and whatever
//! becomes of Assay it goes on). What can be found before and afterwards (symbols, exported structures, the fields of
//! classes) is not looked for meanwhile. A JVM that is caught in the middle of a collection is let go and tried again.
//!
//! Everything is counted, also unreachable objects; a dump has live objects only, unless it was
//! taken with `-all`. `assay_hotspot` finds the objects, byte by byte.

mod class_histogram;
mod counted;
mod tally;

use crate::ClassHistogram;
use assay_hotspot::{Hotspot, HotspotError};
use assay_linux::{Freeze, FreezeError, LinuxError, LiveProcess, ProcRoot};
use assay_model::DumpModel;
pub use counted::{Counted, FreezeReport};
use std::time::{Duration, Instant};
use tally::Tally;

/// How long is waited for a moment between collections, and how long between two attempts.
const ATTEMPTS_FOR: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Why the heap of a process gives no class histogram. The process goes on in every case.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// It is gone, or belongs to somebody else.
    #[error(transparent)]
    Linux(#[from] LinuxError),
    /// It could not be stopped.
    #[error(transparent)]
    Freeze(#[from] FreezeError),
    /// Its JVM could not be read.
    #[error(transparent)]
    Hotspot(#[from] HotspotError),
    /// No HotSpot JVM is mapped.
    #[error("process {pid} is not a HotSpot JVM")]
    NoJvm {
        /// The process.
        pid: u32,
    },
    /// Its structures are not known.
    #[error("the heap of process {pid} cannot be walked: {what}")]
    Unknown {
        /// The process.
        pid: u32,
        /// What is not known.
        what: String,
    },
    /// Each time that it was stopped a collection ran.
    #[error(
        "process {pid} collected garbage each of the {attempts} times that it was stopped; try again later"
    )]
    Collecting {
        /// The process.
        pid: u32,
        /// How often it was tried.
        attempts: u32,
    },
    /// The time allowed was over before the first object was read.
    #[error(
        "the time allowed for stopping process {pid} was over before its heap was read; allow more than {limit:?}"
    )]
    TimeOver {
        /// The process.
        pid: u32,
        /// What was allowed.
        limit: Duration,
    },
}

/// The heap of a running JVM.
#[derive(Debug)]
pub struct LiveHistogram {
    /// Its objects; the problems list their peculiarities.
    pub histogram: ClassHistogram,
    /// The model in which they are, by the JVM's flags; what the flags say where that is none of the models.
    pub model: Result<DumpModel, String>,
    /// How many objects the class histogram has, and what they take.
    pub counted: Counted,
    /// What it cost the process.
    pub freeze: FreezeReport,
}

/// Walks the heap of a running JVM. It is stopped meanwhile, each time at most for `limit`; when that is over, the class histogram
/// is of the part that was read until then, and a problem says how much.
///
/// # Errors
/// When it is no JVM, is gone or belongs to somebody else, cannot be stopped, or its structures are not known.
pub fn histogram(pid: u32, limit: Duration) -> Result<LiveHistogram, LiveError> {
    histogram_after(pid, limit, &|_| {})
}

/// The same; reports how many bytes of the heap are in use, dead objects included, before the process is stopped.
///
/// # Errors
/// As of [`class_histogram`].
pub fn histogram_after(
    pid: u32,
    limit: Duration,
    before_stop: &dyn Fn(u64),
) -> Result<LiveHistogram, LiveError> {
    let proc = ProcRoot::default();
    let before = LiveProcess::open(&proc, pid)?;
    let hotspot = Hotspot::open(&before)?.ok_or(LiveError::NoJvm { pid })?;
    let Some(heap) = hotspot.heap().filter(|_| hotspot.heap_classes().is_some()) else {
        return Err(unknown(pid, &hotspot));
    };
    before_stop(heap.used_bytes());
    let stopped = Stopped::between_collections(&proc, &hotspot, pid, limit)?;
    let source = LiveProcess::open(&proc, pid)?;
    if source.identity() != before.identity() {
        return Err(LinuxError::NoMemory { pid }.into());
    }
    let hotspot = hotspot.seen_through(&source);
    let heap = hotspot.heap().ok_or_else(|| unknown(pid, &hotspot))?;
    let classes = hotspot.heap_classes().ok_or_else(|| unknown(pid, &hotspot))?;
    if !stopped.freeze.is_still_frozen() {
        return Err(LiveError::TimeOver { pid, limit });
    }
    let walk = hotspot.walk_objects(&heap, &classes, &|| stopped.freeze.is_still_frozen(), Tally::default);
    let walk = walk.ok_or_else(|| unknown(pid, &hotspot))?;
    let mut freeze = FreezeReport {
        frozen_ns: stopped.earlier_ns,
        attempts: stopped.attempts,
        threads: stopped.freeze.threads(),
        bytes_read: walk.bytes_read,
        bytes: walk.bytes,
        objects: walk.objects,
        is_cut_short: false,
    };
    if let Some(times) = stopped.end() {
        freeze.frozen_ns = freeze.frozen_ns.saturating_add(times.stopped_ns);
        // The time may be over just after the last object was read.
        freeze.is_cut_short = times.is_cut_short && 0 < freeze.bytes.not_walked_bytes;
    }
    let (histogram, counted) =
        class_histogram::make(&hotspot, &heap, &classes, Tally::joined(walk.visitors), &freeze);
    Ok(LiveHistogram { model: class_histogram::model(&hotspot), histogram, counted, freeze })
}

fn unknown(pid: u32, hotspot: &Hotspot<'_>) -> LiveError {
    let problems = hotspot.problems();
    let what =
        problems.first().map_or_else(|| "no reason is known".to_owned(), |problem| problem.text.clone());
    LiveError::Unknown { pid, what }
}

/// A JVM that stands still outside of a collection.
struct Stopped {
    freeze: Freeze,
    attempts: u32,
    /// How long it was stopped in earlier attempts.
    earlier_ns: u64,
}

impl Stopped {
    fn between_collections(
        proc: &ProcRoot,
        hotspot: &Hotspot<'_>,
        pid: u32,
        limit: Duration,
    ) -> Result<Stopped, LiveError> {
        let began = Instant::now();
        let (mut attempts, mut earlier_ns) = (0, 0_u64);
        loop {
            attempts += 1;
            let freeze = Freeze::start(proc, pid, limit)?;
            // Where that is not exported, it is unknown.
            if hotspot.is_collecting() != Some(true) {
                return Ok(Stopped { freeze, attempts, earlier_ns });
            }
            earlier_ns = earlier_ns.saturating_add(freeze.end().map_or(0, |times| times.stopped_ns));
            if ATTEMPTS_FOR <= began.elapsed() {
                return Err(LiveError::Collecting { pid, attempts });
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn end(self) -> Option<assay_linux::FreezeTimes> {
        self.freeze.end()
    }
}
