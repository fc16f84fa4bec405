//! The machine that a study runs on: facts about it, and gauges of what disturbs a measurement.
//!
//! Nothing here changes the machine.

mod facts;
mod gauge;
mod speed;

pub use facts::{host_facts, provenance};
pub use gauge::{HostGauge, HostInterval, HostReading};
pub use speed::SpeedProbe;
