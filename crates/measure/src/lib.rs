//! Finds the capacity of a server inside response-time limits: runs the windows of load that a method of
//! [`assay_stats::capacity`] asks for, says why requests were late, and whether the result may be believed.
//!
//! How the server came to be is not known here: load comes from a [`assay_load::LoadSource`], what the server and the machine did
//! meanwhile from a [`Watcher`]. So the same conductor runs against a URL, against a server that a study started, and in
//! virtual time against a simulated one.
//!
//! - [`WarmUpPhase`] loads the server until it is steady;
//! - a [`Procedure`] measures windows, [`measure`] those that a method asks for on the way to a capacity;
//! - [`attribution`] lays slow requests beside what happened meanwhile: a pure function;
//! - [`validity`] judges the result: pure functions, too.

mod account;
mod answer;
pub mod attribution;
mod conduct;
mod config;
pub mod duet;
mod event;
pub mod judge;
mod limited;
mod load_problems;
mod measurement;
mod method;
mod noise;
mod observation;
pub mod observers;
pub mod procedure;
mod process_cpu;
mod validation;
pub mod validity;
mod warm_up;
mod watch;
mod window;

pub use account::ServerData;
pub use conduct::measure;
pub use config::{Bounds, CapacityConfig};
pub use event::MeasureEvent;
pub use limited::limited_apart;
pub use measurement::{Context, DuetPlace, Measurement, MeasurementId, Procedure};
pub use method::{budget_s_min, default_budget_s, method_of};
pub use observation::{Observation, Span, Watcher};
pub use procedure::{Benchmark, CapacitySearch, Emulated, OwnLoad, Windows};
pub use warm_up::{WarmUpPhase, WarmUpPlan, WarmedUp};
pub use watch::{Replacements, Watch, WatchConfig};
