//! GC logs for people: for the terminal and as a page the verdict first, then the tables it rests on, then what was not understood;
//! as CSV and OpenMetrics for programs, as Markdown for what shows that.

mod csv;
mod diff;
mod diff_csv;
mod diff_page;
mod digest;
mod length_pictures;
mod live;
mod markdown;
mod openmetrics;
mod page;
mod page_tables;
mod terminal;
mod timeline_picture;
mod words;

pub use csv::render as render_gc_csv;
pub use diff::render as render_gc_diff_terminal;
pub use diff_csv::render as render_gc_diff_csv;
pub use diff_page::render as render_gc_diff_html;
pub use digest::digest;
pub use live::line as render_gc_line;
pub use live::screen as render_gc_screen;
pub use markdown::{comparison as render_gc_diff_markdown, report as render_gc_markdown};
pub use openmetrics::{
    CONTENT_TYPE as OPENMETRICS_CONTENT_TYPE, GcFamily, families as gc_openmetrics_families,
    render as render_gc_openmetrics,
};
pub use page::render as render_gc_html;
pub use terminal::render as render_gc_terminal;
