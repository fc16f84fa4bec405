//! Capacity inside response-time limits: which rate to try next, and what the windows of load say about the server.
//!
//! Pure decisions. A [`Method`] asks for windows of load and gets their results, by a load generator or by a simulated
//! server in virtual time; it has no clock and sends nothing.

mod between;
mod ceiling;
mod path;
mod root;
mod score;
mod search;
mod search_config;
mod sweep;
mod window;

pub use path::Climbing;
pub use search::Search;
pub use search_config::SearchConfig;
pub use sweep::{Sweep, SweepConfig};
pub use window::{LimitedRequests, WindowRequest, WindowResult};

use assay_model::{Estimate, FromBelow, LimitRate};

/// A way to find the capacity of a server.
pub trait Method {
    /// The next window that is wanted; `None` when enough is known or the time is used up.
    fn next(&self) -> Option<WindowRequest>;
    /// Takes the result of a window. One that the machine disturbed is not given; the method then asks again.
    fn take(&mut self, ask: &WindowRequest, window: WindowResult);
    /// Tells that a window took time and gave nothing that counts.
    fn lose(&mut self, ask: &WindowRequest);
    /// Tells that so many seconds passed before a window besides what it asked for: the answers to the one before were waited for.
    fn spend(&mut self, seconds: f64);
    /// What is known so far.
    fn capacity(&self) -> Capacity;
}

/// A server's capacity as far as it is known. Rates are per second; intervals aim at holding the truth in 95 of 100 searches, and for
/// some servers do so less often: `tests/capacity/table.rs` says which.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Highest rate that the server sustains, refusing at most one in a hundred; absent when it kept up with all that was tried, or with nothing.
    pub max_rate_per_s: Option<Estimate>,
    /// For each limit, in the order of the configuration.
    pub limits: Vec<LimitRate>,
    /// Geometric mean of the rates at the limits; absent when one of them is.
    pub critical_rate_per_s: Option<Estimate>,
    /// Whether every interval is as narrow as was asked.
    pub is_precise: bool,
    /// What was found from below; absent where no windows contradict each other.
    pub from_below: Option<FromBelow>,
    /// Time that windows took, with what came before them, seconds.
    pub used_s: f64,
}
