//! One file for each command.

pub mod load;
pub mod report;
pub mod run;
