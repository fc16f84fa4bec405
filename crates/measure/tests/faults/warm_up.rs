//! Warm-up goes on while JIT compilers use much of the CPU time, however still the level stands.

use super::simulated::{CAPACITY_PER_S, Draws, Onlooker, Simulated};
use assay_load::{ArrivalLaw, Load};
use assay_measure::{Context, Observation, WarmUpPhase, WarmUpPlan, Watcher};
use assay_model::{MachineSpeed, Problem, WarmUp, WarmUpEnd};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SLICES_MAX: usize = 60;

/// A server half of whose CPU time is compilation in its first slices, and a sixteenth later.
struct Compiles {
    server: Onlooker,
    slices: usize,
    compiles_for: usize,
}

impl Watcher for Compiles {
    fn seen(&mut self, from_ns: u64, to_ns: u64) -> Observation {
        let seen = self.server.seen(from_ns, to_ns);
        self.slices += 1;
        let part = if self.slices <= self.compiles_for { 2 } else { 16 };
        Observation { compilers_cpu_ns: seen.server_cpu_ns.map(|ns| ns / part), ..seen }
    }

    fn machine_speed(&mut self) -> Option<MachineSpeed> {
        self.server.machine_speed()
    }

    fn problems(&self) -> Vec<Problem> {
        self.server.problems()
    }

    fn knows_server(&self) -> bool {
        self.server.knows_server()
    }
}

fn warm_up(compiles_for: usize) -> WarmUp {
    let mut source = Simulated::new(7, None);
    let server = Onlooker { fault: None, draws: Draws::new(7), pauses: Vec::new(), windows: 0 };
    let mut watcher = Compiles { server, slices: 0, compiles_for };
    let slice = Duration::from_secs(20);
    let plan = WarmUpPlan {
        load: Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 0.5 * CAPACITY_PER_S },
        slice,
        min: Duration::ZERO,
        cap: slice * SLICES_MAX as u32,
    };
    let (stop, mut on_event) = (AtomicBool::new(false), |_| ());
    let mut with = Context {
        source: &mut source,
        watcher: &mut watcher,
        data: None,
        stop: &stop,
        on_event: &mut on_event,
    };
    WarmUpPhase::from(Some(plan)).run(&mut with).expect("there is load").expect("it is planned")
}

fn slices(warm_up: &WarmUp) -> usize {
    warm_up.cpu_ms_per_request.len()
}

#[test]
fn a_level_that_stands_still_is_not_steady_while_compilers_use_much_of_it() {
    let (warm, compiling, for_ever) = (warm_up(0), warm_up(30), warm_up(SLICES_MAX));
    let spread = |warm_up: &WarmUp| {
        let sorted = |of: fn(f64, f64) -> f64| warm_up.cpu_ms_per_request.iter().copied().reduce(of);
        sorted(f64::max).zip(sorted(f64::min)).map_or(f64::NAN, |(max, min)| max / min)
    };
    assert!(spread(&for_ever) < 1.1, "the level stands still: {:?}", for_ever.cpu_ms_per_request);
    assert_eq!((warm.ended_by, slices(&warm)), (WarmUpEnd::Steady, 13), "{warm:?}");
    // Of the last 12 slices 4 with 50 % and 8 with 6.25 % make 21 %; with 3 it is 17 %.
    assert_eq!((compiling.ended_by, slices(&compiling)), (WarmUpEnd::Steady, 39), "{compiling:?}");
    assert_eq!((for_ever.ended_by, slices(&for_ever)), (WarmUpEnd::Cap, SLICES_MAX), "{for_ever:?}");
    assert!(for_ever.rule.contains("JIT compilers below 20 % of the CPU time of the last 12 slices: 50 %"));
    assert!(compiling.rule.contains("last 12 slices: 17 %"), "{}", compiling.rule);
}
