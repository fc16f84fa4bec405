//! What was stored of one process, or of the machine that it runs on, for people: its CPU time; what rules
//! say of the machine; what releases make of its options; how it answered a load. As in `assay-report`, every function is a pure function of what is
//! stored: no clock, no random draw, no file.

mod flags;
mod host;
mod load;
mod time;

pub use assay_kit::{EntriesShown, TerminalView};
pub use flags::render as render_flags_terminal;
pub use flags::{render_flags_csv, render_flags_html, render_flags_markdown};
pub use host::{
    render_host_comparison_csv, render_host_comparison_html, render_host_comparison_markdown,
    render_host_comparison_terminal, render_host_csv, render_host_html, render_host_markdown,
    render_host_terminal, render_what_if_terminal,
};
pub use load::{render_load_csv, render_load_html, render_load_markdown};
pub use time::{
    render_time_change_csv, render_time_change_html, render_time_change_markdown,
    render_time_change_terminal, render_time_csv, render_time_html, render_time_line, render_time_markdown,
    render_time_terminal,
};
