//! CPU time of a process: by role of the threads, by what the kernel did, by place in the code; what changed between two accounts; a line
//! for each interval.

mod change;
mod data;
mod document;
mod figures;
mod flames;
mod hardware;
mod line;
mod recorded;
mod roles;
mod sampled;
mod scheduling;
mod sentences;
mod sources;
mod stacks;
mod traced;

pub use change::document as change;
pub use data::{change as change_data, report as data};
pub use document::document;
pub use line::line;
pub use sentences::headline;
pub use stacks::{collapsed, speedscope};
