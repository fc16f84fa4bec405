//! Events while a trial is measured, for progress displays.

use assay_load::{Progress, SessionProgress};
use assay_model::Window;
use assay_stats::capacity::Capacity;

/// A step on the way.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasureEvent {
    /// Warm-up goes on.
    WarmUp {
        /// Since it began, seconds.
        elapsed_s: f64,
        /// Right answers per second of the last slice.
        throughput_per_s: f64,
        /// CPU time of the server for each of them, milliseconds; absent where its process is not known.
        cpu_ms_per_request: Option<f64>,
    },
    /// Warm-up is over.
    WarmedUp {
        /// Whether the server was steady, and not only the time over.
        is_steady: bool,
        /// How long it took, seconds.
        duration_s: f64,
    },
    /// Users begin their sessions, before any load.
    Sessions {
        /// Since the first began, seconds.
        elapsed_s: f64,
        /// How far that is.
        progress: SessionProgress,
    },
    /// The load of a window of one load begins.
    WindowBegins {
        /// When its settling will be over and the window starts, `CLOCK_MONOTONIC`.
        start_monotonic_ns: u64,
    },
    /// The load of a window goes on.
    Load {
        /// How far it is; settling is part of it.
        progress: Progress,
        /// How long it takes, settling included, seconds.
        planned_s: f64,
        /// Requests a second that are asked for; absent of a closed load.
        offered_rate_per_s: Option<f64>,
    },
    /// A window is over.
    WindowEnded {
        /// What it gave.
        window: Box<Window>,
        /// What is known by now.
        capacity: Box<Capacity>,
    },
}

impl MeasureEvent {
    /// Of a load while its users still begin their sessions.
    pub(crate) fn of_sessions(progress: &Progress) -> Option<MeasureEvent> {
        let elapsed_s = progress.elapsed.as_secs_f64();
        progress.starting.map(|progress| MeasureEvent::Sessions { elapsed_s, progress })
    }
}
