//! What the rules say of a machine, and what differs between two.

mod terminal;

pub use terminal::{render as render_host_terminal, render_comparison as render_host_comparison_terminal};
