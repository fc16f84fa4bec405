//! The machine that a study runs on: facts about it and its JVMs, and gauges of what disturbs a measurement.
//!
//! Nothing here changes the machine or runs a program that it finds.

mod facts;
mod gauge;
mod jvm;

pub use facts::{host_facts, provenance};
pub use gauge::{HostGauge, HostInterval, HostReading};
pub use jvm::{find_jvms, jvm_at};
