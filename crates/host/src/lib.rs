//! The machine: facts about it and the JVMs that run on it, rules about both, and gauges of what disturbs a measurement.
//!
//! Nothing here changes the machine.

mod check;
mod facts;
mod gauge;
mod running;
mod snapshot;
mod speed;

pub use check::{RuleInWords, advice, check, compare, in_words};
pub use facts::{host_facts, provenance};
pub use gauge::{HostGauge, HostInterval, HostReading};
pub use running::{JvmOptions, jvm_options, main_of_process, running_jvms};
pub use snapshot::take_snapshot;
pub use speed::SpeedProbe;
