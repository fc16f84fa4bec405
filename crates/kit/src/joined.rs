//! Windows of time joined into one axis: what lies between them would leave it mostly empty. The gaps are left out,
//! their places are marked.

use crate::axes::{Plot, labels};
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};

/// The axis: windows in order, without what lies between them.
pub struct JoinedAxis {
    windows: Vec<Span>,
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
        let mut joined = JoinedAxis { windows: Vec::new(), total_s: 0.0 };
        for (start_ns, end_ns, left_out) in windows {
            let end_ns = end_ns.max(start_ns);
            joined.windows.push(Span { start_ns, end_ns, offset_s: joined.total_s, left_out });
            joined.total_s += (end_ns - start_ns) as f64 / 1e9;
        }
        joined
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
    pub fn axis(&self, svg: &mut Svg, plot: &Plot, x: &Scale) {
        let labels = labels(x, self.total_s, 4, f64::INFINITY);
        plot.x_axis(svg, &labels, "measured time (s), windows joined");
    }

    /// A note in the panel when a window is left out.
    pub fn note(&self, svg: &mut Svg, plot: &Plot) {
        if self.windows.iter().any(|w| w.left_out.is_some()) {
            svg.text((plot.right, plot.top - 9.0), Anchor::End, "t", "hatched: disturbed");
        }
    }
}
