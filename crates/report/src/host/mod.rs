//! What rules say of a machine and its JVMs, what differs between two machines, and what a trial of a rule's advice says.

mod check;
mod comparison;
mod counts;
mod data;
mod what_if;
mod words;

pub use check::document;
pub use comparison::document as comparison;
pub use data::{check as data, comparison as comparison_data};
pub use what_if::document as what_if;
pub use words::headline;
