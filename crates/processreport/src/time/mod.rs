//! CPU time of one process for people: a tree for the terminal, a page, a line for each stretch of time.

mod flames;
mod page;
mod sampled;
mod terminal;
mod words;

pub use page::render as render_time_html;
pub use terminal::{line as render_time_line, render as render_time_terminal};
