//! Windows of time joined into one axis: what lies between them would leave it mostly empty. The gaps are left out,
//! their places are marked.

use crate::axes::Plot;
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};
use crate::time_axis::{Clock, TimeAxis};

/// The axis: windows in order, without what lies between them.
pub struct JoinedAxis {
    windows: Vec<Span>,
    /// From monotonic to calendar time, nanoseconds.
    to_unix_ns: Option<i64>,
    /// Length of all windows, seconds.
    pub total_s: f64,
}

struct Span {
    start_ns: u64,
    end_ns: u64,
    offset_s: f64,
    left_out: Option<String>,
}

impl JoinedAxis {
    /// Joins windows, each with its start, its end, and what a pointer shows where it is left out.
    pub fn of(windows: impl IntoIterator<Item = (u64, u64, Option<String>)>) -> Self {
        let mut joined = JoinedAxis { windows: Vec::new(), to_unix_ns: None, total_s: 0.0 };
        for (start_ns, end_ns, left_out) in windows {
            let end_ns = end_ns.max(start_ns);
            joined.windows.push(Span { start_ns, end_ns, offset_s: joined.total_s, left_out });
            joined.total_s += (end_ns - start_ns) as f64 / 1e9;
        }
        joined
    }

    /// The same with the time of day, where it is known of a moment on the windows' clock.
    pub fn with_clock(self, known: Option<(u64, Clock)>) -> Self {
        let to_unix_ns = known.and_then(|(at_ns, clock)| clock.unix_ns.checked_sub_unsigned(at_ns));
        JoinedAxis { to_unix_ns, ..self }
    }

    /// The axis; each window has its own time of day, since what lies between them is left out.
    pub fn time(&self) -> TimeAxis {
        let clock = |window: &Span| {
            let unix_ns = self.to_unix_ns?.checked_add_unsigned(window.start_ns)?;
            Some(Clock { at_ns: (window.offset_s * 1e9) as u64, unix_ns })
        };
        TimeAxis::seconds(self.total_s).with_clocks(self.windows.iter().filter_map(clock))
    }

    /// Seconds on the axis and index of the window; absent outside all windows.
    pub fn at(&self, monotonic_ns: u64) -> Option<(f64, usize)> {
        let index = self.windows.iter().position(|w| (w.start_ns..=w.end_ns).contains(&monotonic_ns))?;
        let window = &self.windows[index];
        Some((window.offset_s + (monotonic_ns - window.start_ns) as f64 / 1e9, index))
    }

    /// Draws borders between windows, and hatches those left out.
    pub fn borders(&self, svg: &mut Svg, plot: &Plot, x: &Scale) {
        for window in &self.windows {
            let from = x.at(window.offset_s);
            let to = x.at(window.offset_s + (window.end_ns - window.start_ns) as f64 / 1e9);
            if let Some(tip) = &window.left_out {
                svg.rect((from, plot.top), (to - from, plot.bottom - plot.top), "out", tip);
            }
            if window.offset_s > 0.0 {
                svg.line((from, plot.top), (from, plot.bottom), "cut");
            }
        }
    }

    /// Draws the lower axis.
    pub fn axis(&self, svg: &mut Svg, plot: &Plot) {
        // A time of day is wider than a number: it has room as far as a number at the end has.
        self.time().draw(svg, plot, (4, plot.right + 10.0), "windows joined");
    }

    /// A note in the panel when a window is left out.
    pub fn note(&self, svg: &mut Svg, plot: &Plot) {
        if self.windows.iter().any(|w| w.left_out.is_some()) {
            svg.text((plot.right, plot.top - 9.0), Anchor::End, "t", "hatched: disturbed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_has_its_own_time_of_day() {
        let windows = [(60_000_000_000, 65_000_000_000, None), (100_000_000_000, 105_000_000_000, None)];
        let begun = Clock::stored("2026-11-30T08:00:00Z").map(|clock| (10_000_000_000, clock));
        let joined = JoinedAxis::of(windows.clone()).with_clock(begun);
        assert_eq!(
            joined.time().attributes(),
            " data-time=\"10 s\" data-clocks=\"0 1796025650000;5 1796025690000\""
        );
        let without = JoinedAxis::of(windows).with_clock(None);
        assert_eq!(without.time().attributes(), " data-time=\"10 s\"");
    }
}
