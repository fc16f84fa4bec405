//! Stored results to self-contained HTML files, Markdown, CSV and terminal tables.
//!
//! Every function here is a pure function of what is stored: no clock, no random draw, no file. The same run
//! gives the same bytes.
//!
//! A folder for each thing that is reported on, which knows `assay_kit` and `assay_model`. Only this file ties them together. Styles and the small scripts are
//! in `web/`.

pub mod capacity;
mod compared;
mod flags;
mod gc;
pub mod heap;
pub mod host;
mod load;
mod memory;
pub mod study;
mod time;

pub use assay_kit::document::{Data, Document};
pub use assay_kit::{EntriesShown, TerminalView};
pub use compared::{
    render_run_comparison_csv, render_run_comparison_html, render_run_comparison_markdown,
    render_run_comparison_terminal,
};
pub use flags::render as render_flags_terminal;
pub use flags::{render_flags_csv, render_flags_html, render_flags_markdown};
pub use gc::{
    GcFamily, OPENMETRICS_CONTENT_TYPE, gc_openmetrics_families, render_gc_csv, render_gc_diff_csv,
    render_gc_diff_html, render_gc_diff_markdown, render_gc_diff_terminal, render_gc_html, render_gc_line,
    render_gc_markdown, render_gc_openmetrics, render_gc_screen, render_gc_terminal,
};
pub use host::render_what_if_terminal;
pub use load::{render_load_csv, render_load_html, render_load_markdown};
pub use memory::{
    Watch, WatchEntry, WatchOrder, WatchRow, owners_left_out_sentence, render_advice_csv, render_advice_html,
    render_advice_markdown, render_advice_terminal, render_change_csv, render_change_html,
    render_change_markdown, render_change_terminal, render_memory_csv, render_memory_html,
    render_memory_markdown, render_memory_terminal, render_running_csv, render_running_markdown,
};
pub use time::{
    render_time_change_csv, render_time_change_html, render_time_change_markdown,
    render_time_change_terminal, render_time_csv, render_time_html, render_time_line, render_time_markdown,
    render_time_terminal,
};
