//! One stretch of load for people: as a page, as Markdown, as CSV.

mod csv;
mod markdown;
mod page;
mod tables;
mod words;

pub use csv::render as render_load_csv;
pub use markdown::render as render_load_markdown;
pub use page::render as render_load_html;
