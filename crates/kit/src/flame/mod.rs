//! Flame graphs: stacks as rows of rectangles, callers above what they called, each as wide as its share.
//!
//! The program draws the first view, which prints and needs no script. The page carries the stacks beside it, of which `web/flames.js`
//! draws what a reader zooms into, searches or inverts.

mod changed;
mod data;
mod name;
mod picture;
mod plain;
mod view;
mod weight;

pub use changed::{ChangedFlame, changed_flames, class_of_change, key_of_changes};
pub use plain::{Flame, flames};
pub use weight::Weight;

/// Frames of a stack that are kept; callees of the last one are not.
const FRAMES_MAX: usize = 256;
/// Changes, as a part of the larger whole, from which on a frame has the next colour.
const STEPS: [f64; 4] = [0.001, 0.005, 0.02, 0.08];

/// A frame as it is drawn, whatever the graph is of.
struct Frame {
    name: String,
    /// Class of its fill.
    class: String,
    /// What stands before its name.
    sign: &'static str,
    /// One weight, or those before and after.
    weights: Vec<f64>,
    /// What a pointer shows.
    tip: String,
    /// What it called, the widest first.
    calls: Vec<Frame>,
}

impl Frame {
    fn size(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Rows below it.
    fn depth(&self) -> usize {
        self.calls.iter().map(|call| 1 + call.depth()).max().unwrap_or(0)
    }

    /// By size, the widest first; names decide where it is equal.
    fn sorted(mut calls: Vec<Frame>) -> Vec<Frame> {
        calls.sort_by(|a, b| b.size().total_cmp(&a.size()).then_with(|| a.name.cmp(&b.name)));
        calls
    }
}
