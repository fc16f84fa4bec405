//! A capacity for people: for the terminal the answer first, then why requests were late, then whether to believe it.

mod attribution_picture;
mod csv;
mod curve_picture;
mod lines;
mod markdown;
mod page;
mod page_tables;
mod rates_csv;
mod terminal;
mod words;

pub use attribution_picture::{draw as late_picture, key as late_key};
pub use markdown::render as render_capacity_markdown;
pub use page::render as render_capacity_html;
pub use page_tables::causes as late_table;
pub use rates_csv::render as render_capacity_csv;
pub use terminal::render as render_capacity_terminal;
pub use words::cause as late_cause;
