//! The engines: where each has workers, and how it starts them.

mod kubernetes;
mod place;
mod slots;
mod slurm;
mod ssh;

pub use kubernetes::{Cluster, Pods};
pub use place::Place;
pub(crate) use slots::{Reuse, Slots};
