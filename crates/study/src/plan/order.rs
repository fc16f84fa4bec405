//! The plan: who has a turn when. Pure and seeded.

use crate::file::study::{DesignTable, LimitsTable};
use assay_measure::Bounds;
use assay_model::{Design, PlannedProcedure};
use assay_stats::{BLOCKS_FOR_INTERVAL, SteadyRule};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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
/// Servers that start at the same time in the resident design.
pub(crate) const STARTING_MAX: usize = 2;

/// How trials are laid out, defaults filled in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    pub kind: Design,
    pub blocks: u32,
    pub window_s: f64,
    pub warm_up_min_s: f64,
    pub warm_up_cap_s: f64,
    pub repeats_max: u32,
    pub time_max_s: Option<f64>,
}

impl Layout {
    /// The same where the procedure says how long a trial takes, as a search for a capacity and a guest do.
    pub fn with_length(self, trial_s: Option<f64>) -> Layout {
        Layout { window_s: trial_s.unwrap_or(self.window_s), ..self }
    }

    /// `quick` replaces what it names.
    pub fn of(study: &DesignTable, quick: Option<&DesignTable>) -> Layout {
        fn pick<T>(
            study: &DesignTable,
            quick: Option<&DesignTable>,
            key: impl Fn(&DesignTable) -> Option<T>,
        ) -> Option<T> {
            quick.and_then(&key).or_else(|| key(study))
        }
        let cap_s = pick(study, quick, |d| d.warm_up.cap).map_or(120.0, |s| s.0);
        Layout {
            kind: pick(study, quick, |d| d.kind).unwrap_or(Design::Fresh),
            blocks: pick(study, quick, |d| d.blocks).unwrap_or(8),
            window_s: pick(study, quick, |d| d.window).map_or(30.0, |s| s.0),
            warm_up_min_s: pick(study, quick, |d| d.warm_up.min).map_or(20.0, |s| s.0).min(cap_s),
            warm_up_cap_s: cap_s,
            repeats_max: pick(study, quick, |d| d.repeats_max).unwrap_or(2),
            time_max_s: pick(study, quick, |d| d.time_max).map(|s| s.0),
        }
    }

    /// The rule of the warm-up by this load, in words.
    pub fn describe_warm_up(&self, load: &str) -> String {
        let (min, cap) = (self.warm_up_min_s, self.warm_up_cap_s);
        if cap == 0.0 {
            return "none".to_owned();
        }
        format!(
            "at least {min} s of {load}, then until the CPU time per request is steady, at most {cap} s (steady: {})",
            SteadyRule::default().describe()
        )
    }

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

/// The study's limits in place of the usual ones, for windows or for a search for a capacity. A study that does not watch the
/// machine leaves nothing out for it.
pub(crate) fn bounds(table: &LimitsTable, watches_host: bool, procedure: &PlannedProcedure) -> Bounds {
    let share = |limit: Option<f64>, usual: f64| if watches_host { limit.unwrap_or(usual) } else { 1.0 };
    let usual = Bounds::default();
    Bounds {
        foreign_cpu_share: share(table.foreign_cpu_share, usual.foreign_cpu_share),
        steal_share: share(table.steal_share, usual.steal_share),
        own_throttled_share: share(table.throttled_share, usual.own_throttled_share),
        throttled_share: procedure.capacity().is_none().then(|| share(table.throttled_share, 0.0)),
        error_share: table.error_share.unwrap_or(usual.error_share),
        ..usual
    }
}

/// The order in which `n` variants have their turn in a block, as indices.
///
/// The first order is drawn from the seed. Fresh design: each block begins with the last variant of the one before
/// (A B C, C A B, B C A), so that over n blocks everyone has every place; the next n blocks go backwards, so that
/// nobody always follows the same neighbour. Resident design: every second block goes backwards (A B C, C B A), which
/// cancels a drift that is linear over two blocks; the pairs of blocks are turned as above.
pub(crate) fn order(n: usize, block: u32, design: Design, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Fisher-Yates.
    for last in (1..n).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    if n == 0 {
        return order;
    }
    let index = block.saturating_sub(1) as usize;
    let (turns, backwards) = match design {
        Design::Fresh => (index % n, index / n % 2 == 1),
        Design::Resident => (index / 2 % n, index % 2 == 1),
    };
    order.rotate_right(turns);
    if backwards {
        order.reverse();
    }
    order
}

/// The seed of the load that warms a server up: a window sends other requests, or the server would know their unique values already.
pub(crate) fn warm_up_seed(seed: u64, block: u32) -> u64 {
    // Attempts of windows are numbered from 1.
    load_seed(seed, block, 0)
}

/// The seed of the load in a block: the same for all variants, so that they get the same requests and the difference
/// is theirs alone. A repeat gets another one.
pub(crate) fn load_seed(seed: u64, block: u32, attempt: u32) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(block) << 32 | u64::from(attempt));
    // TOML has signed numbers: a seed should be one that can be written there.
    random.random::<u64>() >> 1
}

/// What the seed decides of a fault in a window, the same for all variants: when it comes, as a share of the time in which it may, and
/// which of so many processes it hits, from 1.
pub(crate) fn draw_fault(seed: u64, block: u32, attempt: u32, index: usize, count: u32) -> (f64, u32) {
    let mut random = ChaCha8Rng::seed_from_u64(load_seed(seed, block, attempt));
    // The first stream is the load's.
    random.set_stream(1 + index as u64);
    (random.random_range(0.0..1.0), random.random_range(1..=count.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{CapacityMethod, PlannedCapacity};

    fn orders(n: usize, blocks: u32, design: Design) -> Vec<Vec<usize>> {
        let first = order(n, 1, design, 7);
        // Named by their place in the first block.
        let name = |i: &usize| first.iter().position(|f| f == i).unwrap();
        (1..=blocks).map(|b| order(n, b, design, 7).iter().map(name).collect()).collect()
    }

    #[test]
    fn fresh_blocks_give_everyone_every_place() {
        let got = orders(3, 6, Design::Fresh);
        assert_eq!(got, [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 2, 1]]);
    }

    #[test]
    fn resident_blocks_alternate() {
        let got = orders(3, 4, Design::Resident);
        assert_eq!(got, [[0, 1, 2], [2, 1, 0], [2, 0, 1], [1, 0, 2]]);
    }

    #[test]
    fn seeds_differ_by_block_and_attempt_and_repeat_by_study_seed() {
        let warm_ups = [warm_up_seed(1, 1), warm_up_seed(1, 2)];
        let seeds = [load_seed(1, 1, 1), load_seed(1, 1, 2), load_seed(1, 2, 1), load_seed(2, 1, 1)];
        let distinct: std::collections::BTreeSet<u64> = seeds.into_iter().chain(warm_ups).collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(load_seed(1, 1, 1), seeds[0]);
    }

    #[test]
    fn faults_are_drawn_for_each_window_and_differ_from_each_other() {
        let all: Vec<(f64, u32)> = (0..40).map(|block| draw_fault(1, block, 1, 0, 4)).collect();
        assert!(all.iter().all(|(share, number)| (0.0..1.0).contains(share) && (1..=4).contains(number)));
        assert!((1..=4).all(|number| all.iter().any(|(_, of)| *of == number)), "{all:?}");
        assert!(all.iter().any(|(s, _)| *s < 0.2) && all.iter().any(|(s, _)| 0.8 < *s), "{all:?}");
        assert_eq!(draw_fault(1, 3, 1, 0, 4), all[3]);
        assert_ne!(draw_fault(1, 3, 1, 1, 4), all[3]);
        assert_eq!(draw_fault(1, 3, 1, 0, 1).1, 1);
    }

    #[test]
    fn limits_of_the_study_count_and_what_it_does_not_limit_is_as_usual() {
        let search = PlannedProcedure::Capacity(PlannedCapacity {
            method: CapacityMethod::Search,
            percentile: 99.0,
            limits_ms: vec![10.0],
            limited_operations: Vec::new(),
            budget_s: 300.0,
            connections: 1,
            in_flight_max: 1,
            count_disturbed: false,
        });
        let windows = PlannedProcedure::Windows;
        assert_eq!(bounds(&LimitsTable::default(), true, &search), Bounds::default());
        let of_windows = Bounds { throttled_share: Some(0.0), ..Bounds::default() };
        assert_eq!(bounds(&LimitsTable::default(), true, &windows), of_windows);
        let own = LimitsTable {
            foreign_cpu_share: Some(0.2),
            steal_share: Some(0.04),
            throttled_share: Some(0.0),
            error_share: Some(0.5),
        };
        let want = Bounds {
            foreign_cpu_share: 0.2,
            steal_share: 0.04,
            own_throttled_share: 0.0,
            error_share: 0.5,
            ..Bounds::default()
        };
        assert_eq!(bounds(&own, true, &search), want);
        let of_machine = |b: Bounds| (b.foreign_cpu_share, b.steal_share, b.own_throttled_share);
        let unwatched = bounds(&own, false, &windows);
        assert_eq!(of_machine(unwatched), (1.0, 1.0, 1.0), "nothing is left out for the machine");
        assert_eq!(unwatched.throttled_share, Some(1.0));
    }

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

    #[test]
    fn no_variant_and_one_variant_have_an_order() {
        assert_eq!(order(0, 5, Design::Fresh, 1), Vec::<usize>::new());
        assert_eq!(order(1, 5, Design::Resident, 1), [0]);
    }
}
