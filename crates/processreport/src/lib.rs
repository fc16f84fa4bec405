//! What was stored of one process, or of the machine that it runs on, for people: its CPU time; what rules say of the machine. As in `assay-report`, every function is a pure function of what is
//! stored: no clock, no random draw, no file.

mod flags;
mod host;
mod time;

pub use assay_kit::{EntriesShown, TerminalView};
pub use flags::render as render_flags_terminal;
pub use host::{render_host_comparison_terminal, render_host_terminal, render_what_if_terminal};
pub use time::{
    render_time_change_html, render_time_change_terminal, render_time_html, render_time_line,
    render_time_terminal,
};
