//! When an observer reads at the start and at the end of a window: the start comes with a sample after the settling, the end with that of the
//! load. Warm-up and settling are loads, too, and not windows.

use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct WindowEdges {
    /// When the settling ends; `None` once the reading at the window's start was taken.
    begins: Option<Instant>,
    is_in_window: bool,
}

impl WindowEdges {
    /// A window begins, after so much settling.
    pub(super) fn begin(&mut self, settle: Duration) {
        self.begins = Some(Instant::now() + settle);
        self.is_in_window = true;
    }

    /// Whether the reading at the window's start is due. [`WindowEdges::has_started`] follows it.
    pub(super) fn is_start_due(&self) -> bool {
        self.begins.is_some_and(|begins| begins <= Instant::now())
    }

    /// The reading at the start was taken.
    pub(super) fn has_started(&mut self) {
        self.begins = None;
    }

    /// Whether the load that ends is the window's.
    pub(super) fn ends(&mut self) -> bool {
        std::mem::take(&mut self.is_in_window)
    }

    /// Whether the window ended before the reading at its start was taken.
    pub(super) fn was_too_short(&mut self) -> bool {
        self.begins.take().is_some()
    }
}
