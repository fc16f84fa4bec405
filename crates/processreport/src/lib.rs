//! What was stored of one process, for people: so far its CPU time. As in `assay-report`, every function is a pure function of what is
//! stored: no clock, no random draw, no file.

mod time;

pub use assay_kit::{LeavesShown, TerminalView};
pub use time::{render_time_html, render_time_line, render_time_terminal};
