//! A program that measures itself: it is watched until it ends, and its whole launch is one window.

use crate::config::Bounds;
use crate::judge;
use crate::measurement::{Context, Measurement, MeasurementId, Procedure};
use assay_load::{IntervalLogs, Load, LoadError, LoadSource, LoadWindow, Measured, Progress};
use assay_model::{WarmUp, Window};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A program that measures itself. Its metrics are read from what it leaves, by who started it.
#[derive(Debug, Clone)]
pub struct Benchmark {
    /// What is accepted.
    pub bounds: Bounds,
}

impl Procedure for Benchmark {
    /// The program warms itself up.
    fn warm_up(&mut self, _: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError> {
        Ok(None)
    }

    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError> {
        let launch = LoadWindow {
            load: Load::Closed { users: 0, think: None },
            settle: Duration::ZERO,
            length: Duration::ZERO,
            slow_above: None,
        };
        with.watcher.begin_window(Duration::ZERO);
        let measured = with.source.window(&launch, with.stop, &mut |_| ())?;
        if measured.stopped {
            return Ok(None);
        }
        let seen = with.watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
        let mut window = Window {
            block: turn.block,
            attempt: turn.attempt,
            start_monotonic_ns: measured.start_monotonic_ns,
            end_monotonic_ns: measured.end_monotonic_ns,
            disturbances: judge::of_program(&self.bounds, seen, with.watcher.knows_server()),
            ..Window::default()
        };
        with.watcher.end_window(&measured, &mut window);
        Ok(Some(Measurement { window, capacity: None, audit: None }))
    }
}

/// The load that a program makes by itself: one window, from now to its end.
#[derive(Debug)]
pub struct OwnLoad<'a> {
    /// Set when the program has ended.
    pub has_ended: &'a AtomicBool,
}

impl LoadSource for OwnLoad<'_> {
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        _: Option<IntervalLogs>,
        stop: &AtomicBool,
        _: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let start_ns = assay_linux::monotonic_ns();
        while !self.has_ended.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
        }
        let times = (start_ns, assay_linux::monotonic_ns());
        let stopped = !self.has_ended.load(Ordering::Relaxed);
        Ok(Measured { stopped, ..Measured::empty(window.load, 0, times) })
    }
}
