//! Capacity inside response-time limits: which rate to try next, and what the windows of load say about the server.
//!
//! Pure decisions. A [`Method`] asks for windows of load and gets their results, by a load generator or by a simulated
//! server in virtual time; it has no clock and sends nothing.

mod ceiling;
mod path;
mod root;
mod score;
mod search;
mod search_config;
mod sweep;

pub use path::Climbing;
pub use search::Search;
pub use search_config::SearchConfig;
pub use sweep::{Sweep, SweepConfig};

use assay_model::{CapacityStep, Estimate, FromBelow, LimitRate};

/// A window of load that is wanted. Before it the same rate runs for a while, so that queues have their usual length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRequest {
    /// Rate, requests per second.
    pub rate_per_s: f64,
    /// Time without load before all of it, seconds: a server that was overloaded does what is left.
    pub cool_down_s: f64,
    /// Time at this rate before the window, seconds; nothing in it counts.
    pub settle_s: f64,
    /// Length of the window, seconds.
    pub window_s: f64,
    /// Its purpose.
    pub step: CapacityStep,
}

/// The result of a window of load.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowResult {
    /// Rate that was asked for, per second.
    pub rate_per_s: f64,
    /// Length of the window, seconds.
    pub window_s: f64,
    /// Requests whose intended start lies in it.
    pub requests: u64,
    /// Right answers that came in it, whenever their requests were to start.
    pub answers: u64,
    /// Of the requests, those that the server refused or answered wrongly: a status that was not wanted, a wrong content, a connection
    /// that was refused or cut. What was not answered in time is none: it may only have come too late.
    pub refused: u64,
    /// Of the requests, for each limit: those that took longer, failed, or had no answer.
    pub misses: Vec<u64>,
    /// The percentile of the response times that the limits hold for, in ms; absent without requests.
    pub percentile_ms: Option<f64>,
}

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
