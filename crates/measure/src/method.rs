//! The method that a configuration names.

use crate::config::CapacityConfig;
use crate::validation::Validated;
use assay_model::CapacityMethod;
use assay_stats::capacity::{Climbing, Method, Search, SearchConfig, Sweep, SweepConfig};

/// Where to begin when warm-up said nothing, per second.
const FIRST_RATE_PER_S: f64 = 100.0;
/// A few users of a closed loop get about as much as the server can do; half of it is a rate to begin with.
const FIRST_SHARE: f64 = 0.5;
const SEARCH_S: f64 = 300.0;
/// What the published sweep takes in its own time, about: 100 levels of a minute, and the search before them.
const SWEEP_S: f64 = 9_000.0;

/// The same for the shortest that says anything: a search brackets the capacity in some windows of four seconds.
const SEARCH_S_MIN: f64 = 10.0;
/// Of its own time, a sweep can do with this part: its shortest windows, of 3 s, then last half a second.
const SWEEP_PART_MIN: f64 = 1.0 / 6.0;

/// The shortest budget that a method can work with, seconds.
pub fn budget_s_min(method: CapacityMethod) -> f64 {
    match method {
        CapacityMethod::Search => SEARCH_S_MIN,
        CapacityMethod::Sweep => SWEEP_PART_MIN * SWEEP_S,
    }
}

/// Default budget of a method, seconds.
pub fn default_budget_s(method: CapacityMethod) -> f64 {
    match method {
        CapacityMethod::Search => SEARCH_S,
        CapacityMethod::Sweep => SWEEP_S,
    }
}

/// The method, beginning near what the server answered in warm-up.
pub fn method_of(config: &CapacityConfig, throughput_per_s: Option<f64>) -> Box<dyn Method> {
    let first_rate_per_s = throughput_per_s.map_or(FIRST_RATE_PER_S, |rate| FIRST_SHARE * rate).max(1.0);
    let limits = config.limits.clone();
    match config.method {
        CapacityMethod::Search => Box::new(Climbing::new(
            Search::new(SearchConfig {
                limits,
                miss_share: config.miss_share(),
                budget_s: config.budget_s,
                ..SearchConfig::new(first_rate_per_s)
            }),
            config.miss_share(),
        )),
        CapacityMethod::Sweep => {
            let time_factor = (config.budget_s / SWEEP_S).min(1.0);
            let sweep = Sweep::new(SweepConfig { time_factor, ..SweepConfig::new(limits) });
            Box::new(Climbing::behind(Validated::new(sweep, time_factor), config.miss_share()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Bounds;
    use assay_model::LatencyLimit;

    #[test]
    fn the_method_is_the_one_that_is_named_and_begins_at_half_of_what_warm_up_reached() {
        let config = |method| CapacityConfig {
            target: "x".to_owned(),
            scenario: None,
            method,
            percentile: 99.0,
            limits: vec![LatencyLimit::of_all(10.0)],
            limited_operations: Vec::new(),
            budget_s: default_budget_s(method),
            connections: 1,
            seed: 1,
            bounds: Bounds::default(),
            counts_disturbed: false,
        };
        let first = |method, throughput_per_s| {
            method_of(&config(method), throughput_per_s).next().map(|ask| ask.rate_per_s)
        };
        assert_eq!(first(CapacityMethod::Search, Some(800.0)), Some(400.0));
        assert_eq!(first(CapacityMethod::Search, None), Some(FIRST_RATE_PER_S));
        // The sweep's own ramp begins at a tenth of its first base.
        assert_eq!(first(CapacityMethod::Sweep, Some(800.0)), Some(10.0));
    }
}
