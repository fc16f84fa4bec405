//! The statistics of a study: quantiles, intervals over blocks, paired comparison, comparison that stops when it is decided, comparison
//! of hosts, and the test that ends warm-up.
//!
//! Everything here is a pure function of its arguments and a seed: no clock, no I/O, the same input gives the
//! same result to the last bit. Nothing here knows what the numbers mean.
//!
//! The unit of sampling is the **block**: one round in which every variant had its turn. Requests or slices
//! within a block are not independent, so an interval over them would be far too narrow; blocks are what is
//! resampled.

mod between;
mod bisection;
pub mod capacity;
mod draw;
mod fit;
mod interval;
mod paired;
mod power_law;
mod quantile;
mod ratio;
pub mod sequential;
mod steady;
mod theil_sen;
mod trend;
mod unpaired;

pub use between::{BETWEEN_ERROR, BetweenGroups, between_groups};
pub use bisection::{Bisection, Compared, FirstSlow};
pub use fit::{HOLDS, SizeSearch, SmallestSize, TriedSize};
pub use interval::{BLOCKS_FOR_BOOTSTRAP, BLOCKS_FOR_INTERVAL, Statistic, StatsError, estimate};
pub use paired::{PairedComparison, compare_paired, log_ratios};
pub use power_law::{POINTS_MIN, PowerLaw, power_law};
pub use quantile::{geometric_mean, mean, median, quantile};
pub use ratio::estimate_ratio;
pub use steady::{Phase, SteadyRule, SteadyState};
pub use theil_sen::{PairSlopes, TrendPoint};
pub use trend::{POINTS_FOR_TREND, trend};
pub use unpaired::compare_unpaired;
