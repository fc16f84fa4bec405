//! The validation phase of the published sweep: when the levels are done, the load goes up to the highest rate once more in ten steps,
//! of 10 s each, and each must be reached within 5 %; then the workload is asked for its audit. The published rules start the server
//! anew before it, which a conductor that is given a running server cannot; the check says so.

use assay_model::CapacityStep;
use assay_stats::capacity::{Capacity, Method, WindowRequest, WindowResult};

const STEPS: u32 = 10;
const STEP_S: f64 = 10.0;
const SETTLE_S: f64 = 1.0;
/// How far sent and answered rate may be from the asked one, as a share.
pub(crate) const TOLERANCE_SHARE: f64 = 0.05;
/// Disturbed windows of one step; behind them it is passed over.
const LOST_MAX: u32 = 3;

/// A method with the validation of its highest rate behind it, in windows that change nothing of the answer.
pub(crate) struct Validated<M> {
    method: M,
    time_factor: f64,
    step: u32,
    lost: u32,
    used_s: f64,
}

impl<M: Method> Validated<M> {
    /// All durations are multiplied with `time_factor`.
    pub fn new(method: M, time_factor: f64) -> Self {
        Validated { method, time_factor, step: 1, lost: 0, used_s: 0.0 }
    }

    fn use_up(&mut self, ask: &WindowRequest) {
        self.used_s += ask.settle_s + ask.window_s;
    }
}

impl<M: Method> Method for Validated<M> {
    fn next(&self) -> Option<WindowRequest> {
        if let Some(ask) = self.method.next() {
            return Some(ask);
        }
        let max = self.method.capacity().max_rate_per_s.filter(|_| self.step <= STEPS)?;
        Some(WindowRequest {
            rate_per_s: max.estimate * f64::from(self.step) / f64::from(STEPS),
            cool_down_s: 0.0,
            settle_s: SETTLE_S * self.time_factor,
            window_s: STEP_S * self.time_factor,
            step: CapacityStep::Confirm,
        })
    }

    fn take(&mut self, ask: &WindowRequest, window: WindowResult) {
        if ask.step == CapacityStep::Confirm {
            self.use_up(ask);
            (self.step, self.lost) = (self.step + 1, 0);
        } else {
            self.method.take(ask, window);
        }
    }

    fn spend(&mut self, seconds: f64) {
        self.method.spend(seconds);
    }

    fn lose(&mut self, ask: &WindowRequest) {
        if ask.step != CapacityStep::Confirm {
            return self.method.lose(ask);
        }
        self.use_up(ask);
        self.lost += 1;
        if self.lost == LOST_MAX {
            (self.step, self.lost) = (self.step + 1, 0);
        }
    }

    fn capacity(&self) -> Capacity {
        let capacity = self.method.capacity();
        Capacity { used_s: capacity.used_s + self.used_s, ..capacity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::LatencyLimit;
    use assay_stats::capacity::{LimitedRequests, Sweep, SweepConfig};

    /// A server that answers up to 500 a second.
    fn give(ask: &WindowRequest) -> WindowResult {
        let asked = ask.rate_per_s * ask.window_s;
        WindowResult {
            rate_per_s: ask.rate_per_s,
            window_s: ask.window_s,
            requests: asked.round() as u64,
            answers: (500.0_f64.min(ask.rate_per_s) * ask.window_s).round() as u64,
            refused: 0,
            limits: vec![LimitedRequests {
                requests: asked.round() as u64,
                misses: 0,
                percentile_ms: Some(1.0),
            }],
        }
    }

    #[test]
    fn behind_the_levels_the_highest_rate_is_gone_up_to_in_ten_steps_that_change_nothing() {
        let mut method = Validated::new(Sweep::new(SweepConfig::new(vec![LatencyLimit::of_all(50.0)])), 0.1);
        let (mut steps, mut found) = (Vec::new(), None);
        while let Some(ask) = method.next() {
            if ask.step == CapacityStep::Confirm {
                assert!((ask.window_s - 1.0).abs() < 1e-9, "{ask:?}");
                found.get_or_insert_with(|| method.capacity().max_rate_per_s);
                steps.push(ask.rate_per_s);
                // One window is disturbed, one step always.
                if steps.len() == 2 || steps.len() > 10 {
                    method.lose(&ask);
                    continue;
                }
            }
            method.take(&ask, give(&ask));
        }
        let max = found.flatten().expect("levels were kept").estimate;
        let of = |step: f64| max * step / 10.0;
        let want: Vec<f64> = [1., 2., 2., 3., 4., 5., 6., 7., 8., 9., 10., 10., 10.].map(of).to_vec();
        assert!(steps.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-6), "{steps:?}");
        assert_eq!(steps.len(), want.len());
        assert_eq!(method.capacity().max_rate_per_s.map(|rate| rate.estimate), Some(max));
    }
}
