//! Two runs side by side, for a terminal and as a page.

mod page;
mod terminal;
mod words;

pub use page::render as render_run_comparison_html;
pub use terminal::render as render_run_comparison_terminal;
