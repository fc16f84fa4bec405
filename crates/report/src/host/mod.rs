//! What rules say of a machine and its JVMs, and what differs between two machines.

mod check;
mod comparison;
mod counts;
mod data;
mod what_if;
mod words;

pub use check::document;
pub use comparison::document as comparison;
pub use data::{check as data, comparison as comparison_data};
pub use what_if::render as render_what_if_terminal;
