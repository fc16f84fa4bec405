//! The frame of what is written to a terminal: its width, and the lists at its end.

use crate::ink::{Ink, paragraph};
use crate::number::count;
use crate::text::clean;

/// Leaves that a tree shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeavesShown {
    /// The biggest ones; what is beneath the same branch and smaller is folded into one line.
    Biggest(usize),
    /// Every one.
    All,
}

/// How to show something on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalView {
    /// Columns.
    pub width: u16,
    /// Whether to write styles (the caller knows `NO_COLOR` and pipes).
    pub color: bool,
    /// Leaves of the tree.
    pub leaves: LeavesShown,
}

/// Narrower than this the lines would say nothing.
pub const WIDTH_MIN: usize = 72;
/// Wider lines are hard to read.
pub const WIDTH_MAX: usize = 140;
/// Problems that are listed; the stored form has all.
const PROBLEMS_SHOWN: usize = 8;

/// Columns to use of a terminal this wide.
pub fn usable(width: u16) -> usize {
    usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// What could not be read: what each problem is about, and what is wrong. Nothing where there is none.
pub fn problems(out: &mut String, problems: &[(String, String)], ink: Ink, width: usize) {
    if problems.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", ink.warn("Problems"));
    for (about, text) in problems.iter().take(PROBLEMS_SHOWN) {
        paragraph(out, 2, width, &format!("{}: {}", clean(about), clean(text)), str::to_owned);
    }
    more(out, (problems.len(), PROBLEMS_SHOWN), "  ", "more (--json has them)", ink);
}

/// Behind the first of a list: how many more there are, and where. Nothing where there are none.
pub fn more(out: &mut String, (all, shown): (usize, usize), indent: &str, what: &str, ink: Ink) {
    if shown < all {
        let told = format!("{} {what}", count((all - shown) as u64));
        *out += &format!("{indent}{}\n", ink.dim(&told));
    }
}
