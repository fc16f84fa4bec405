//! Load that begins on both sides of a duet at the same time, whatever each did before it.

use assay_load::{IntervalLogs, LoadError, LoadSource, LoadWindow, Measured, Progress};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Time between two looks whether the other side is here: much less than the load before a window that is not counted.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Where both sides wait for each other, once.
#[derive(Debug, Default)]
pub(super) struct Gate {
    arrived: AtomicU32,
}

impl Gate {
    /// Until both are here, or `stop` is set, as it is when the other side has failed.
    fn wait(&self, stop: &AtomicBool) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        while self.arrived.load(Ordering::Acquire) < 2 && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// A source whose windows begin when the other side's do.
pub(super) struct InStep<'a> {
    pub source: &'a mut dyn LoadSource,
    pub gate: &'a Gate,
}

impl LoadSource for InStep<'_> {
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        self.gate.wait(stop);
        self.source.logged_window(window, logs, stop, on_progress)
    }

    fn draw_from(&mut self, seed: u64) {
        self.source.draw_from(seed);
    }

    fn was_suspended(&mut self) {
        self.source.was_suspended();
    }

    fn rest(&mut self, length: Duration, stop: &AtomicBool) {
        self.source.rest(length, stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_waits_for_the_other_and_not_for_one_that_has_failed() {
        let (gate, stop) = (Gate::default(), AtomicBool::new(false));
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let pass = || {
                gate.wait(&stop);
                passed.fetch_add(1, Ordering::AcqRel)
            };
            let first = scope.spawn(pass);
            while gate.arrived.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            assert_eq!(passed.load(Ordering::Acquire), 0, "the other is not here");
            scope.spawn(pass);
            first.join().expect("it passes");
        });
        assert_eq!(passed.load(Ordering::Acquire), 2);
        let alone = Gate::default();
        stop.store(true, Ordering::Relaxed);
        alone.wait(&stop);
    }
}
