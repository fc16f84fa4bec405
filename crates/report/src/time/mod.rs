//! CPU time of one process for people: a tree for the terminal, a page, a line for each interval, CSV and Markdown.

mod change;
mod csv;
mod flames;
mod hardware;
mod markdown;
mod page;
mod recorded;
mod sampled;
mod terminal;
mod traced;
mod words;

pub use change::{render_html as render_time_change_html, render_terminal as render_time_change_terminal};
pub use csv::{change as render_time_change_csv, report as render_time_csv};
pub use markdown::{comparison as render_time_change_markdown, report as render_time_markdown};
pub use page::render as render_time_html;
pub use terminal::{line as render_time_line, render as render_time_terminal};
