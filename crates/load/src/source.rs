//! Where windows of load come from: one generator of this process, or several elsewhere that act as one.

use crate::LoadError;
use crate::interval_log::IntervalLogs;
use crate::law::{Load, Progress};
use crate::measured::Measured;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a rest goes on after it was stopped, at most.
const REST_SLICE: Duration = Duration::from_millis(100);

/// A window of load, preceded by a settling of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadWindow {
    /// The law of the run.
    pub load: Load,
    /// Time at this load before the window; nothing in it is recorded. There is no pause between it and the window, so that
    /// queues have their usual length when recording begins.
    pub settle: Duration,
    /// Length of what is recorded.
    pub length: Duration,
    /// Requests with a longer response time are kept one by one, as many as there is room for.
    pub slow_above: Option<Duration>,
}

/// Gives windows of load.
pub trait LoadSource {
    /// Runs one window and drains it, as [`crate::Generator::run`] does, with an interval log of it where one is wanted and
    /// the source can keep one.
    ///
    /// # Errors
    /// As those of [`crate::Generator::run`].
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError>;

    /// The same without a log.
    ///
    /// # Errors
    /// As of [`LoadSource::logged_window`].
    fn window(
        &mut self,
        window: &LoadWindow,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        self.logged_window(window, None, stop, on_progress)
    }

    /// Draws what follows from this seed: users, their sessions and connections stay.
    fn draw_from(&mut self, _seed: u64) {}

    /// The server was suspended since the last window: what it closed meanwhile, or is about to, is opened anew before the next.
    fn was_suspended(&mut self) {}

    /// Lets time pass without load, or until it is stopped.
    fn rest(&mut self, length: Duration, stop: &AtomicBool) {
        let begun = Instant::now();
        while let Some(left) = length.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())
            && !stop.load(Ordering::Relaxed)
        {
            std::thread::sleep(left.min(REST_SLICE));
        }
    }
}
