//! Study file and workload file as they are written: their tables, their lines, and where their files lie.

pub(crate) mod checkout;
pub(crate) mod document;
pub(crate) mod fault;
pub(crate) mod guest;
pub(crate) mod host;
pub(crate) mod page_out;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod ready_made;
pub(crate) mod study;
pub(crate) mod units;
mod varied;
pub(crate) mod workload;
