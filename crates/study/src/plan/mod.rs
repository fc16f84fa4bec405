//! What this machine will run of a checked study: nothing is started or written.

mod baselines;
mod bounds;
mod candidate;
mod changes;
pub(crate) mod duration;
mod memory_left;
mod missing;
pub(crate) mod names;
mod needed;
pub(crate) mod order;
mod planned;
mod preload;
pub(crate) mod prepare;
#[cfg(test)]
mod ready_made_tests;
mod scenarios;
pub(crate) mod variant_launch;
