//! What the rules say of a machine, what differs between two, and what a rule's advice brought.

mod terminal;
mod what_if;

pub use terminal::{render as render_host_terminal, render_comparison as render_host_comparison_terminal};
pub use what_if::render as render_what_if_terminal;
