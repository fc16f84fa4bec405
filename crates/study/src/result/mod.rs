//! The result of a run: its directory, and everything computed from stored trials. Nothing here knows study files.

pub(crate) mod across;
pub(crate) mod claims;
pub(crate) mod curves;
pub(crate) mod decisions;
pub(crate) mod duet;
pub(crate) mod earlier;
pub(crate) mod findings;
pub(crate) mod gate;
mod hosts;
mod measured;
pub(crate) mod merge;
pub(crate) mod outlook;
#[cfg(test)]
pub(crate) mod planned;
pub(crate) mod redacted;
pub(crate) mod run_dir;
mod scaling;
pub(crate) mod summary;
