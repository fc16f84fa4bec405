//! One file for each command.

pub mod capacity;
pub mod gc;
pub mod heap;
pub mod inject;
pub mod load;
pub mod memory;
pub mod report;
pub mod run;
