//! The metrics that windows, variants and comparisons carry, each with its unit and direction.
//!
//! A server's metrics are known beforehand: [`METRICS`], and [`EMULATED`] in an emulated guest. A benchmark program names its benchmarks
//! itself, so their metrics are made from the name: `ns_per_op/PointerChase.follow(nodes=8192)`. So is that of a limit of the response
//! time, up to which rate it is kept: `rate_at_10_ms_per_s`.

mod definition;
mod emulated;
mod lists;
mod lookup;

pub use definition::{Better, Feels, Metric};
pub use emulated::*;
pub use lists::*;
