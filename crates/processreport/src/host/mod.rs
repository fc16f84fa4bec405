//! What the rules say of a machine, what differs between two, and what a rule's advice brought.

mod csv;
mod markdown;
mod page;
mod tables;
mod terminal;
mod what_if;
mod words;

pub use csv::{check as render_host_csv, comparison as render_host_comparison_csv};
pub use markdown::{check as render_host_markdown, comparison as render_host_comparison_markdown};
pub use page::{render_check as render_host_html, render_comparison as render_host_comparison_html};
pub use terminal::{render as render_host_terminal, render_comparison as render_host_comparison_terminal};
pub use what_if::render as render_what_if_terminal;
