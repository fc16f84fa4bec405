//! Minimum mutator utilisation, exactly and as it comes.

use assay_model::GcMmu;
use std::collections::VecDeque;

/// Windows, milliseconds.
const WINDOWS_MS: [u64; 14] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000];
/// Pauses within the longest window. Where there are more, windows that would need those forgotten are absent.
const PAUSES_MAX: usize = 32_768;
/// So often it is seen which pauses no window needs any more.
const FORGOTTEN_EVERY: usize = 64;

/// The most that any window of a length was paused.
///
/// **Why the ends of pauses are enough.** Slide a window: the time paused within it changes by p(end) - p(beginning), p being 1 in a pause
/// and 0 outside. It can only begin to fall when its end leaves a pause, so that each maximum is also reached by a window that ends with a
/// pause, or by the very first window, before which there is nothing to slide from.
#[derive(Debug, Clone)]
pub(super) struct Mmu {
    windows: Vec<SlidingWindow>,
    /// Beginning, end, and sum of all pauses up to that end.
    pauses: VecDeque<(u64, u64, u64)>,
    /// How many have left the queue.
    forgotten: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    total_ns: u64,
}

#[derive(Debug, Clone)]
struct SlidingWindow {
    length_ns: u64,
    /// Number of the first pause that reaches into the window that ends now.
    oldest: u64,
    /// Paused within the first window of this JVM.
    first_window_ns: u64,
    /// Largest so far.
    paused_ns: Option<u64>,
    is_lost: bool,
}

impl Default for Mmu {
    fn default() -> Self {
        let window = |ms: &u64| SlidingWindow {
            length_ns: ms * 1_000_000,
            oldest: 0,
            first_window_ns: 0,
            paused_ns: None,
            is_lost: false,
        };
        Mmu {
            windows: WINDOWS_MS.iter().map(window).collect(),
            pauses: VecDeque::new(),
            forgotten: 0,
            first_ns: None,
            last_ns: 0,
            total_ns: 0,
        }
    }
}

impl Mmu {
    /// Another JVM begins: no window reaches over that.
    pub fn begin_jvm(&mut self) {
        self.take_first_windows();
        self.forgotten += self.pauses.len() as u64;
        self.pauses.clear();
        self.first_ns = None;
        self.total_ns = 0;
        for window in &mut self.windows {
            window.oldest = self.forgotten;
            window.first_window_ns = 0;
        }
    }

    /// Something was at this time, which widens the span.
    pub fn see(&mut self, start_ns: u64, end_ns: u64) {
        self.first_ns.get_or_insert(start_ns);
        self.last_ns = self.last_ns.max(end_ns);
    }

    /// Takes a pause. One that seems to begin before the one before it ended, which the steps of the clock bring about, is taken to follow
    /// it at once.
    pub fn add(&mut self, start_ns: u64, end_ns: u64) {
        self.see(start_ns, end_ns);
        let length_ns = end_ns.saturating_sub(start_ns);
        let after_ns = self.pauses.back().map_or(0, |(_, end, _)| *end);
        let start_ns = start_ns.max(after_ns);
        let end_ns = start_ns.saturating_add(length_ns);
        self.last_ns = self.last_ns.max(end_ns);
        self.total_ns = self.total_ns.saturating_add(length_ns);
        self.pauses.push_back((start_ns, end_ns, self.total_ns));
        let first_ns = self.first_ns.unwrap_or(start_ns);
        let pause = (start_ns, end_ns, self.total_ns);
        for window in &mut self.windows {
            window.take(pause, &self.pauses, self.forgotten, (first_ns, after_ns));
        }
        if self.pauses.len().is_multiple_of(FORGOTTEN_EVERY) || PAUSES_MAX < self.pauses.len() {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let oldest = self.windows.iter().filter(|window| !window.is_lost).map(|window| window.oldest).min();
        let oldest = oldest.unwrap_or(self.forgotten + self.pauses.len() as u64);
        while self.forgotten < oldest && self.pauses.len() > 1 {
            self.pauses.pop_front();
            self.forgotten += 1;
        }
        if self.pauses.len() > PAUSES_MAX {
            self.pauses.pop_front();
            self.forgotten += 1;
            let forgotten = self.forgotten;
            for window in self.windows.iter_mut().filter(|window| window.oldest < forgotten) {
                window.is_lost = true;
            }
        }
    }

    /// The first windows of this JVM count when it lived as long as they are.
    fn take_first_windows(&mut self) {
        let Some(first_ns) = self.first_ns else { return };
        let span_ns = self.last_ns.saturating_sub(first_ns);
        for window in self.windows.iter_mut().filter(|window| window.length_ns <= span_ns) {
            window.paused_ns = window.paused_ns.max(Some(window.first_window_ns));
        }
    }

    /// The table: windows that no JVM lived long enough for are absent.
    pub fn table(&self) -> Vec<GcMmu> {
        let mut all = self.clone();
        all.take_first_windows();
        let row = |window: &SlidingWindow| {
            let paused_ns = window.paused_ns.filter(|_| !window.is_lost)?.min(window.length_ns);
            Some(GcMmu {
                window_ms: window.length_ns as f64 / 1e6,
                utilisation_percent: (window.length_ns - paused_ns) as f64 / window.length_ns as f64 * 100.0,
            })
        };
        all.windows.iter().filter_map(row).collect()
    }
}

impl SlidingWindow {
    /// Takes the last pause of the queue, the one before which ended at `after_ns`.
    fn take(
        &mut self,
        (start_ns, end_ns, sum_ns): (u64, u64, u64),
        pauses: &VecDeque<(u64, u64, u64)>,
        forgotten: u64,
        (first_ns, after_ns): (u64, u64),
    ) {
        let from_ns = end_ns.saturating_sub(self.length_ns);
        let first_end_ns = first_ns.saturating_add(self.length_ns);
        self.first_window_ns += end_ns.min(first_end_ns).saturating_sub(start_ns);
        let counts = first_ns <= from_ns && self.length_ns <= end_ns;
        // Most pauses lie farther apart than a window is long: it holds this one alone.
        if after_ns <= from_ns {
            self.oldest = forgotten + pauses.len() as u64 - 1;
            if counts {
                self.paused_ns = self.paused_ns.max(Some(end_ns - start_ns.max(from_ns)));
            }
            return;
        }
        let at = |number: u64| pauses.get(usize::try_from(number.checked_sub(forgotten)?).ok()?);
        let (oldest_start, oldest_end, oldest_sum) = loop {
            let Some(&oldest) = at(self.oldest) else { return };
            if from_ns < oldest.1 {
                break oldest;
            }
            self.oldest += 1;
        };
        if counts {
            let before_ns = oldest_sum.saturating_sub(oldest_end - oldest_start);
            let cut_ns = from_ns.saturating_sub(oldest_start);
            let paused_ns = sum_ns.saturating_sub(before_ns).saturating_sub(cut_ns);
            self.paused_ns = self.paused_ns.max(Some(paused_ns));
        }
    }
}

#[cfg(test)]
#[path = "mmu_tests.rs"]
mod tests;
