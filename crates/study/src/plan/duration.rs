//! How long a run should take.

use crate::check::emulation;
use crate::check::layout::Layout;
use assay_model::{Design, PlannedProcedure};
use assay_stats::BLOCKS_FOR_INTERVAL;

/// What start, audit and stop of a server take, about, for the estimate of the run's length.
const START_S: f64 = 7.0;
const STOP_S: f64 = 2.0;
/// What each auxiliary process adds to its start and to its stop.
const FURTHER_START_S: f64 = 2.5;
const FURTHER_STOP_S: f64 = 0.4;
/// What a window takes beside its load, about: the speed of the machine is measured before it, memory is read after it.
const AROUND_WINDOW_S: f64 = 0.4;
/// So of a warm-up, as a share: what lies between its slices.
const AROUND_SLICES: f64 = 0.1;
/// Load that is not counted before each window: sessions begin, connections open, held timers fire.
pub(crate) const SETTLE_S: f64 = 0.5;

/// Wall time of a trial where the procedure says it, seconds, about.
pub(crate) fn trial_s(procedure: &PlannedProcedure) -> Option<f64> {
    match procedure {
        PlannedProcedure::Capacity(planned) => Some(planned.budget_s),
        PlannedProcedure::Emulated(planned) => Some(emulation::trial_s(planned)),
        PlannedProcedure::Windows | PlannedProcedure::Benchmark => None,
    }
}

impl Layout {
    /// What a warm-up should take.
    pub fn warm_up_s(&self) -> f64 {
        (1.0 + AROUND_SLICES) * f64::midpoint(self.warm_up_min_s, self.warm_up_cap_s)
    }

    /// What a window takes.
    pub fn whole_window_s(&self) -> f64 {
        SETTLE_S + self.window_s + AROUND_WINDOW_S
    }

    /// What stopping takes when no further block begins: the servers that run together are audited and stopped. Of each variant
    /// it takes the processes that run beside the server.
    pub fn stopping_s(&self, beside: &[u32]) -> f64 {
        let each_s = beside.iter().map(|beside| stop_s(*beside));
        if self.kind == Design::Resident { each_s.sum() } else { each_s.fold(0.0, f64::max) }
    }

    /// Seconds that the run should take, if nothing is repeated and warm-up ends half way between minimum and cap. Of each variant
    /// it takes the processes that run beside the server.
    pub fn expected_s(&self, beside: &[u32], procedure: &PlannedProcedure) -> f64 {
        let n = beside.len() as f64;
        let launches_s: f64 = beside.iter().map(|b| start_s(*b) + self.warm_up_s() + stop_s(*b)).sum();
        let of_blocks = |blocks: f64| match (procedure, self.kind) {
            (PlannedProcedure::Benchmark | PlannedProcedure::Emulated(_), _) => n * blocks * self.window_s,
            (_, Design::Fresh) => blocks * (launches_s + n * self.whole_window_s()),
            (_, Design::Resident) => launches_s + n * blocks * self.whole_window_s(),
        };
        let whole_s = of_blocks(f64::from(self.blocks));
        // The blocks that an interval needs are measured whatever time is allowed.
        let least_s = of_blocks(f64::from(self.blocks.min(BLOCKS_FOR_INTERVAL as u32)));
        let allowed_s = self.time_max_s.map(|max| (max + self.stopping_s(beside)).max(least_s));
        allowed_s.map_or(whole_s, |allowed_s| whole_s.min(allowed_s))
    }
}

/// What a server takes to start, with so many processes beside it.
pub(crate) fn start_s(beside: u32) -> f64 {
    START_S + FURTHER_START_S * f64::from(beside)
}

/// What they take to stop.
pub(crate) fn stop_s(beside: u32) -> f64 {
    STOP_S + FURTHER_STOP_S * f64::from(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded run of the demo's design on a quiet machine took 306.7 s: seven starts of Open Liberty two at a time, warm-ups that
    /// ended at their cap, 42 windows.
    #[test]
    fn the_expected_time_is_that_of_a_recorded_run_and_counts_what_is_run_in_any_case() {
        let layout = Layout {
            kind: Design::Resident,
            blocks: 6,
            window_s: 3.0,
            warm_up_min_s: 8.0,
            warm_up_cap_s: 12.0,
            repeats_max: 0,
            time_max_s: None,
        };
        let expected_s = |layout: &Layout| layout.expected_s(&[0; 7], &PlannedProcedure::Windows);
        assert!((expected_s(&layout) / 306.7 - 1.0).abs() < 0.05, "{}", expected_s(&layout));
        let hasty = Layout { time_max_s: Some(10.0), ..layout };
        let three_blocks = Layout { blocks: 3, ..layout };
        assert_eq!(expected_s(&hasty), expected_s(&three_blocks), "an interval needs three blocks");
    }
}
