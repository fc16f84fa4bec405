//! From a checked study to the plan of its run on this machine. Nothing is started or written.

mod baselines;
mod bounds;
pub(crate) mod budget;
pub(crate) mod builds;
mod candidate;
mod changes;
mod duet;
pub(crate) mod duration;
mod memory_left;
mod missing;
pub(crate) mod names;
mod needed;
pub(crate) mod order;
pub(crate) mod part;
mod planned;
mod preload;
pub(crate) mod prepare;
#[cfg(test)]
mod ready_made_tests;
pub(crate) mod requests;
mod scenarios;
mod secrets;
pub(crate) mod variant_launch;
