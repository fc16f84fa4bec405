//! CPU time of one process for people: a tree for the terminal, a page, a line for each stretch of time.

mod change;
mod flames;
mod hardware;
mod page;
mod recorded;
mod sampled;
mod terminal;
mod traced;
mod words;

pub use change::{render_html as render_time_change_html, render_terminal as render_time_change_terminal};
pub use page::render as render_time_html;
pub use terminal::{line as render_time_line, render as render_time_terminal};
