//! A capacity for people: for the terminal the answer first, then why requests were late, then whether to believe it.

mod blame_picture;
mod csv;
mod curve_picture;
mod lines;
mod page;
mod page_tables;
mod terminal;
mod words;

pub use page::render as render_capacity_html;
pub use terminal::render as render_capacity_terminal;
