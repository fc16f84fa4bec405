//! Windows of load: what is wanted of one, and its result.

use assay_model::CapacityStep;

/// More requests than any window has.
const REQUESTS_MAX: f64 = 1e10;

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
    /// For each limit, in the order of the configuration: how it fared.
    pub limits: Vec<LimitedRequests>,
}

/// The requests of a window that one limit holds for: all, or those of some operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitedRequests {
    /// How many.
    pub requests: u64,
    /// Of them, those that took longer, failed, or had no answer.
    pub misses: u64,
    /// The percentile of their response times that the limit holds for, in ms; absent without requests.
    pub percentile_ms: Option<f64>,
}

impl WindowResult {
    /// As asked for, with so many limits, without counts that no server gives, and with what was refused as one more limit behind them.
    pub(super) fn sound(mut self, ask: &WindowRequest, limits: usize) -> WindowResult {
        (self.rate_per_s, self.window_s) = (ask.rate_per_s, ask.window_s);
        let most = (10.0 * ask.rate_per_s * ask.window_s).min(REQUESTS_MAX) as u64 + 100;
        self.requests = self.requests.min(most);
        self.answers = self.answers.min(most);
        let requests = self.requests;
        let of_all = |misses: u64| LimitedRequests { requests, misses, percentile_ms: None };
        self.limits.resize(limits, of_all(requests));
        for of in &mut self.limits {
            of.requests = of.requests.min(requests);
            of.misses = of.misses.min(of.requests);
        }
        self.limits.push(of_all(self.refused.min(requests)));
        self
    }
}
