//! What a kernel, a processor, a hypervisor or a right may lack, one row each: the figure is absent and never zero, the answer says why and
//! what would give it, and the other rungs still add up.
//!
//! The kernel is a made-up one (`fake_kernel`): files below a folder, and calls behind the traits of `assay_counters::kernel`.

mod fake_kernel;
mod missing;
mod recorded;

use assay_counters::TimeGauge;
use assay_model::{KernelActivity, TimeReport};
use fake_kernel::{ClockState, CounterState, FakeKernel, account};
use missing::files::{FILES, GROUPS, RECORDS};
use missing::programs::PROGRAMS;
use missing::rungs::{CLOCKS, COUNTERS, SOME_COUNTERS, UNITS};
use std::collections::BTreeSet;

const WAITING: &str = "waiting for a processor";
const BLOCKED: &str = "blocked on block devices";
const GROUP: &str = "control group";
const THROTTLED: &str = "throttled by the CPU limit";
const ENDS: &str = "threads after the last sample of them";
const KERNEL: &str = "what the kernel did";
const CODE: &str = "where in the code";
const CALLS: &str = "system calls, their CPU time and waits";
const COUNTER: &str = "hardware counter instructions";
const LINES: &str = "lines of the caches that threads share";
const NOT_ASKED: &str = "counters of the processor, and lines of the caches that threads share";
const FAULTS: &str = "page faults by place";

/// A figure that is missing: its name, a part of the reason, and a part of what would give it.
type Missing = (&'static str, &'static str, &'static str);

/// What is missing or broken, what follows for the answer, and what else is so.
struct Case {
    name: &'static str,
    kernel: fn(&mut FakeKernel),
    missing: &'static [Missing],
    then: fn(&TimeReport) -> bool,
}

const fn case(
    name: &'static str,
    kernel: fn(&mut FakeKernel),
    missing: &'static [Missing],
    then: fn(&TimeReport) -> bool,
) -> Case {
    Case { name, kernel, missing, then }
}

/// Figures of the whole kernel that a made-up one cannot have: records come through a socket, roles from the memory of a JVM, and programs
/// need a kernel that runs them.
fn never_there() -> BTreeSet<String> {
    [ENDS, "roles and Java names", CALLS, NOT_ASKED].map(str::to_owned).into()
}

/// Every sum of the answer, whatever is missing.
fn adds_up(report: &TimeReport, name: &str) {
    let of_threads = report.threads_cpu_ns.cast_signed();
    assert_eq!(report.process.cpu_ns, 1_000_000_000, "{name}: the kernel's total");
    assert_eq!(of_threads + report.difference_ns, 1_000_000_000, "{name}: threads and the difference");
    assert_eq!(report.difference_ns, 0, "{name}");
    let roles: u64 = report.roles.iter().map(|role| role.sums.cpu_ns).sum();
    let groups: u64 = report.groups.iter().map(|group| group.sums.cpu_ns).sum();
    assert_eq!((roles, groups), (report.threads_cpu_ns, report.threads_cpu_ns), "{name}: roles and groups");
    for sums in report.roles.iter().map(|role| role.sums) {
        let both = sums.user_ns.zip(sums.kernel_ns).map(|(user, kernel)| user + kernel);
        assert!(both.is_none_or(|both| both == sums.cpu_ns), "{name}: user and kernel of {sums:?}");
    }
    if let Some(samples) = &report.samples {
        let of_roles: u64 = samples.roles.iter().map(|role| role.samples).sum();
        assert_eq!(of_roles, samples.samples, "{name}: samples");
    }
    for row in &report.left_out {
        assert!(!row.why.is_empty() && !row.enable.is_empty(), "{name}: {row:?}");
        let named = report.figures.iter().any(|figure| figure.figure == row.figure);
        assert!(!named, "{name}: both there and left out: {}", row.figure);
    }
}

fn holds(case: &Case) {
    let Case { name, kernel, missing, then } = case;
    let report = account(kernel);
    adds_up(&report, name);
    for (figure, why, enable) in *missing {
        let row = report.left_out.iter().find(|row| row.figure == *figure);
        let row = row.unwrap_or_else(|| panic!("{name}: nothing said of {figure}: {:?}", report.left_out));
        assert!(row.why.contains(why) && row.enable.contains(enable), "{name}: {row:?}");
    }
    // Whatever is missing takes nothing else with it.
    let said: BTreeSet<String> = report.left_out.iter().map(|row| row.figure.clone()).collect();
    let expected: BTreeSet<String> = missing.iter().map(|(figure, ..)| (*figure).to_owned()).collect();
    let others = never_there();
    assert_eq!(
        said.difference(&others).collect::<Vec<_>>(),
        expected.difference(&others).collect::<Vec<_>>(),
        "{name}: {:?}",
        report.left_out
    );
    assert!(then(&report), "{name}: {report:?}");
}

/// Of the only role.
fn sums(report: &TimeReport) -> assay_model::TimeSums {
    report.roles[0].sums
}

#[test]
fn a_kernel_that_has_everything_gives_every_figure() {
    let report = account(|kernel| kernel.count(CounterState::Right));
    adds_up(&report, "whole");
    let said: BTreeSet<String> = report.left_out.iter().map(|row| row.figure.clone()).collect();
    let others: BTreeSet<String> = never_there().into_iter().filter(|figure| figure != NOT_ASKED).collect();
    assert_eq!(said, others);
    assert_eq!((report.process.user_ns, report.process.kernel_ns), (750_000_000, 250_000_000));
    let of = sums(&report);
    assert_eq!((of.user_ns, of.kernel_ns), (Some(750_000_000), Some(250_000_000)));
    assert_eq!((of.run_delay_ns, of.block_io_ns), (Some(500_000_000), Some(300_000_000)));
    // Thread 7 has not run, so that only its `schedstat` was read.
    assert_eq!((of.voluntary_switches, of.involuntary_switches), (Some(5), Some(1)));
    let group = report.cgroup.clone().expect("a group");
    assert_eq!((&*group.path, group.cpu_ns, group.others_cpu_ns), ("/shop", 1_200_000_000, 200_000_000));
    assert_eq!((group.throttled_periods, group.throttled_ns, group.cpus_max), (Some(1), Some(7_000), None));
    assert_eq!((report.machine.cpus, report.machine.steal_ns), (Some(1), Some(10_000_000)));
    // In less time than a tick nothing is idle.
    assert!(report.machine.busy_ns.is_some_and(|busy_ns| busy_ns <= report.duration_ns));
    let samples = report.samples.expect("samples");
    assert_eq!((samples.samples, samples.kernel[0].activity), (4, Some(KernelActivity::Futex)));
    assert_eq!(report.groups[0].name, "a b) c");
    assert_eq!(report.hardware.expect("counters").threads, 2);
    assert_eq!(report.data_accesses.expect("a unit").source, "ibs_op");
}

#[test]
fn files_that_say_less() {
    FILES.iter().for_each(holds);
}

#[test]
fn control_groups() {
    GROUPS.iter().for_each(holds);
}

#[test]
fn records_of_threads_that_end() {
    RECORDS.iter().for_each(holds);
}

#[test]
fn samples_of_the_processors() {
    for (name, state, paranoid, why, enable) in CLOCKS {
        let report = account(|kernel| {
            kernel.clock.state = state;
            kernel.write("proc/sys/kernel/perf_event_paranoid", paranoid);
        });
        adds_up(&report, name);
        assert_eq!(report.samples, None, "{name}");
        assert_said(&report, name, &[KERNEL, CODE], why, enable);
    }
}

/// A hypervisor had stopped the processor during the first loops.
#[test]
fn an_event_that_was_silent_once_is_tried_again() {
    let report = account(|kernel| kernel.clock.state = ClockState::SilentAtFirst);
    assert_eq!(report.samples.expect("samples").samples, 4);
}

#[test]
fn counters_of_the_processor() {
    for (name, state, why, enable) in COUNTERS {
        let report = account(|kernel| kernel.count(state));
        adds_up(&report, name);
        assert_eq!(report.hardware, None, "{name}: no figure");
        assert_said(&report, name, &[COUNTER], why, enable);
    }
}

#[test]
fn counters_that_are_there_in_part() {
    SOME_COUNTERS.iter().for_each(holds);
}

#[test]
fn units_that_sample_addresses() {
    UNITS.iter().for_each(holds);
}

#[test]
fn programs_in_the_kernel() {
    PROGRAMS.iter().for_each(holds);
    let reasons: BTreeSet<_> = PROGRAMS.iter().map(|case| case.missing[0]).collect();
    assert_eq!(reasons.len(), PROGRAMS.len(), "each has its own");
}

/// These figures, and no others, are said to be missing for this reason.
fn assert_said(report: &TimeReport, name: &str, figures: &[&str], why: &str, enable: &str) {
    let others = never_there();
    let rows = report.left_out.iter().filter(|row| !others.contains(&row.figure));
    let said: Vec<&str> = rows.clone().map(|row| &*row.figure).collect();
    assert_eq!(said, figures, "{name}");
    for row in rows {
        assert!(row.why.contains(why) && row.enable.contains(enable), "{name}: {row:?}");
    }
}

/// Without the list of threads there is no report; the error names the missing file.
#[test]
fn a_process_whose_threads_cannot_be_listed() {
    let kernel = FakeKernel::whole();
    let (proc, sys) = kernel.roots();
    let mut gauge = TimeGauge::at(proc.clone(), &sys, 7).expect("a process");
    kernel.remove("proc/7/task");
    assert!(TimeGauge::at(proc.clone(), &sys, 7).expect_err("task gone").is_absent());
    assert!(!gauge.read().expect("as of a process that has ended"));
    assert_eq!(gauge.report(None).readings, 1, "the report covers the readings that were taken");
    kernel.write("proc/7/task", "not a folder");
    let error = TimeGauge::at(proc, &sys, 7).expect_err("task unreadable");
    assert!(!error.is_absent() && error.to_string().contains("proc/7/task"), "{error}");
    assert!(gauge.read().is_err());
}

#[test]
fn files_that_are_not_the_kernel_s() {
    let kernel = FakeKernel::whole();
    let (proc, sys) = kernel.roots();
    kernel.write("proc/7/task/8/schedstat", "many 1 2\n");
    let error = TimeGauge::at(proc.clone(), &sys, 7).expect_err("not a number").to_string();
    assert!(error.contains("task/8/schedstat") && error.contains("run time"), "{error}");
    kernel.advance(0);
    kernel.write("proc/7/task/8/stat", "8 (x S 1 7 7\n");
    let error = TimeGauge::at(proc, &sys, 7).expect_err("no end of the name").to_string();
    assert!(error.contains("task/8/stat"), "{error}");
}
