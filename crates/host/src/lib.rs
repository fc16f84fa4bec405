//! The machine that a study runs on: facts about it and its JVMs, and gauges of what disturbs a measurement.
//!
//! Nothing here changes the machine. A JVM is started only by who asks for it ([`run_java`], [`StartedJvm`]); finding one
//! starts nothing.

mod facts;
mod gauge;
mod jvm;
mod jvm_start;
mod speed;

pub use facts::{host_facts, provenance};
pub use gauge::{HostGauge, HostInterval, HostReading};
pub use jvm::{find_jvms, jvm_at};
pub use jvm_start::{JvmOutput, StartError, StartedJvm, run_java};
pub use speed::SpeedProbe;
