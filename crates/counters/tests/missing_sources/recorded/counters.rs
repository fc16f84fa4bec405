//! Sums of counters of the processor.

use super::super::fake_kernel::{CounterState, Counters, FakeKernel, account};
use assay_counters::kernel::Counting;
use assay_counters::{SideGauges, Sides};
use assay_model::{HardwareCounters, HardwareEvent, TimeReport};

fn counters(state: CounterState) -> HardwareCounters {
    account(|kernel| kernel.count(state)).hardware.expect("counters")
}

#[test]
fn counts_are_added_up_over_threads_and_modes_stay_apart() {
    let counters = counters(CounterState::Right);
    assert_eq!(counters.figures.len(), 1, "one group had its turn");
    let cycles = counters.figures[0];
    assert_eq!(
        (cycles.event, cycles.user, cycles.kernel),
        (HardwareEvent::Cycles, 2_000_000_000, 20_000_000)
    );
    assert!(!cycles.is_multiplexed() && cycles.enabled_ns == 2_000_000_000);
    assert_eq!(cycles.user_per_1000_instructions(), Some(1000.0));
}

#[test]
fn counts_of_a_part_of_the_time_are_not_scaled_and_say_so() {
    let cycles = counters(CounterState::Multiplexed).figures[0];
    assert!(cycles.is_multiplexed());
    assert_eq!(
        (cycles.user, cycles.enabled_ns, cycles.running_ns),
        (2_000_000_000, 2_000_000_000, 500_000_000)
    );
}

/// Counters of the process of a kernel, and what an account of it has of them.
fn started(kernel: &FakeKernel) -> (SideGauges, impl Fn(&SideGauges) -> HardwareCounters) {
    let counting: Box<dyn Counting> = Box::new(kernel.counters);
    let asked = Sides { samples: false, counters: true };
    let gauge = SideGauges::start_with(&kernel.units, counting, kernel.roots().0, 7, asked);
    let report: TimeReport = account(|_| {});
    let of = move |gauge: &SideGauges| {
        let mut report = report.clone();
        gauge.add_to(&mut report);
        report.hardware.expect("counters")
    };
    (gauge, of)
}

#[test]
fn an_event_that_the_processor_lacks_is_left_out_and_the_others_are_counted() {
    let mut kernel = FakeKernel::whole();
    kernel.counters = Counters(CounterState::Lacks(HardwareEvent::BackendStalls));
    let (mut gauge, counters) = started(&kernel);
    (0..6).for_each(|_| gauge.read());
    let counters = counters(&gauge);
    assert_eq!((counters.threads, counters.threads_missed, counters.event_groups), (2, 0, 6));
    let events: Vec<HardwareEvent> = counters.figures.iter().map(|figure| figure.event).collect();
    assert!(
        events.contains(&HardwareEvent::FrontendStalls) && !events.contains(&HardwareEvent::BackendStalls)
    );
}

#[test]
fn new_threads_are_taken_in_at_the_next_look_and_a_process_that_is_gone_keeps_its_counts() {
    let kernel = FakeKernel::whole();
    let (mut gauge, counters) = started(&kernel);
    kernel.write("proc/7/task/9/comm", "c\n");
    gauge.read();
    assert_eq!(counters(&gauge).threads, 3);
    kernel.remove("proc/7");
    gauge.read();
    gauge.read();
    let counters = counters(&gauge);
    assert_eq!(counters.threads, 3);
    assert_eq!(counters.figures[0].user, 2_000_000_000, "of the two that were there in its turn");
}
