//! How long a run should take.

use crate::check::emulation;
use crate::check::layout::Layout;
use assay_model::{Design, PlannedProcedure};
use assay_stats::BLOCKS_FOR_INTERVAL;

/// Start, and audit and stop, of a server take about so long, seconds.
const START_S: f64 = 7.0;
const STOP_S: f64 = 2.0;
/// Each auxiliary process adds so much to its start and to its stop.
const FURTHER_START_S: f64 = 2.5;
const FURTHER_STOP_S: f64 = 0.4;
/// A window takes about so much longer than its load: the speed of the machine is measured before it, memory is read after it.
const AROUND_WINDOW_S: f64 = 0.4;
/// A warm-up takes longer by this share: the time between its slices.
const AROUND_SLICES: f64 = 0.1;
/// Load that is not counted before each window: queues reach their usual length, connections open, held timers fire.
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
    /// Expected length of a warm-up.
    pub fn warm_up_s(&self) -> f64 {
        (1.0 + AROUND_SLICES) * f64::midpoint(self.warm_up_min_s, self.warm_up_cap_s)
    }

    /// Expected length of a window with all that belongs to it.
    pub fn whole_window_s(&self) -> f64 {
        SETTLE_S + self.window_s + AROUND_WINDOW_S
    }

    /// Expected time to audit and stop the servers that run together, when no further block begins. `auxiliary` has the number of auxiliary
    /// processes of each variant.
    pub fn stopping_s(&self, auxiliary: &[u32]) -> f64 {
        let each_s = auxiliary.iter().map(|auxiliary| stop_s(*auxiliary));
        if self.kind == Design::Resident { each_s.sum() } else { each_s.fold(0.0, f64::max) }
    }

    /// Expected length of the run, if nothing is repeated and warm-up ends half way between minimum and cap. `auxiliary` has the number of
    /// auxiliary processes of each variant.
    pub fn expected_s(&self, auxiliary: &[u32], procedure: &PlannedProcedure) -> f64 {
        let n = auxiliary.len() as f64;
        let launches_s: f64 = auxiliary.iter().map(|b| start_s(*b) + self.warm_up_s() + stop_s(*b)).sum();
        let together_s =
            auxiliary.iter().map(|b| start_s(*b) + self.warm_up_s() + stop_s(*b)).fold(0.0, f64::max);
        let of_blocks = |blocks: f64| match (procedure, self.kind) {
            (PlannedProcedure::Benchmark | PlannedProcedure::Emulated(_), _) => n * blocks * self.window_s,
            (_, Design::Fresh) => blocks * (launches_s + n * self.whole_window_s()),
            (_, Design::Duet) => blocks * (together_s + f64::from(self.windows) * self.whole_window_s()),
            (_, Design::Resident) => launches_s + n * blocks * self.whole_window_s(),
        };
        let whole_s = of_blocks(f64::from(self.blocks));
        // The blocks that an interval needs are measured even beyond the time allowed.
        let least_s = of_blocks(f64::from(self.blocks.min(BLOCKS_FOR_INTERVAL as u32)));
        let allowed_s = self.time_max_s.map(|max| (max + self.stopping_s(auxiliary)).max(least_s));
        allowed_s.map_or(whole_s, |allowed_s| whole_s.min(allowed_s))
    }
}

/// Expected time until a server is ready, with so many auxiliary processes.
pub(crate) fn start_s(auxiliary: u32) -> f64 {
    START_S + FURTHER_START_S * f64::from(auxiliary)
}

/// Expected time until they have stopped.
pub(crate) fn stop_s(auxiliary: u32) -> f64 {
    STOP_S + FURTHER_STOP_S * f64::from(auxiliary)
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
            windows: 6,
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
