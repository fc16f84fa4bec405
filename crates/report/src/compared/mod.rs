//! Two runs side by side, for a terminal, as a page, as CSV and Markdown.

mod csv;
mod markdown;
mod page;
mod terminal;
mod words;

pub use csv::render as render_run_comparison_csv;
pub use markdown::render as render_run_comparison_markdown;
pub use page::render as render_run_comparison_html;
pub use terminal::render as render_run_comparison_terminal;
