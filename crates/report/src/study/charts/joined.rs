//! The measured windows of a trial joined into one time axis.
//!
//! In the resident design a server is measured in short windows far apart and held still between them; a plain
//! time axis would be mostly empty. The gaps are left out, their places are marked.

use super::super::grid::is_quiet;
use assay_kit::axes::Plot;
use assay_kit::number::tick;
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::svg::{Anchor, Svg};
use assay_model::Trial;

/// The axis: windows in order, without what lies between them.
pub struct Joined {
    windows: Vec<Span>,
    /// Length of all windows, seconds.
    pub total_s: f64,
}

struct Span {
    start_ns: u64,
    end_ns: u64,
    offset_s: f64,
    counts: bool,
    block: u32,
}

impl Joined {
    /// Joins the windows of a trial.
    pub fn of(trial: &Trial) -> Self {
        let mut joined = Joined { windows: Vec::new(), total_s: 0.0 };
        for window in &trial.windows {
            let (start_ns, end_ns) =
                (window.start_monotonic_ns, window.end_monotonic_ns.max(window.start_monotonic_ns));
            let (counts, block) = (is_quiet(window), window.block);
            joined.windows.push(Span { start_ns, end_ns, offset_s: joined.total_s, counts, block });
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

    /// Draws borders between windows, hatches those left out, and the lower axis.
    pub fn draw(&self, svg: &mut Svg, plot: &Plot, x: &Scale) {
        for window in &self.windows {
            let from = x.at(window.offset_s);
            let to = x.at(window.offset_s + (window.end_ns - window.start_ns) as f64 / 1e9);
            if !window.counts {
                let tip = format!("block {}: disturbed", window.block);
                svg.rect((from, plot.top), (to - from, plot.bottom - plot.top), "out", &tip);
            }
            if window.offset_s > 0.0 {
                svg.line((from, plot.top), (from, plot.bottom), "cut");
            }
        }
        let ticks = ticks_from_zero(self.total_s, 4);
        let labels: Vec<(f64, String)> =
            ticks.iter().filter(|t| **t <= self.total_s).map(|t| (x.at(*t), tick(*t))).collect();
        plot.x_axis(svg, &labels, "measured time (s), windows joined");
    }

    /// A note in the panel when a window is left out.
    pub fn note(&self, svg: &mut Svg, plot: &Plot) {
        if self.windows.iter().any(|w| !w.counts) {
            svg.text((plot.right, plot.top - 9.0), Anchor::End, "t", "hatched: disturbed");
        }
    }
}
