//! Threads and processes that end, and what the files say of them.

use super::super::fake_kernel::{FakeKernel, account, stat};
use assay_counters::TimeGauge;
use assay_model::{Certainty, TimeSource};

/// Whether this is after the step.
fn is_after(kernel: &FakeKernel) -> bool {
    let path = kernel.tree.path().join("proc/7/task/8/schedstat");
    std::fs::read_to_string(path).is_ok_and(|text| text.ends_with(" 11\n"))
}

#[test]
fn a_group_with_a_limit_has_it() {
    let report = account(|kernel| kernel.write("sys/fs/cgroup/shop/cpu.max", "150000 100000\n"));
    assert_eq!(report.cgroup.and_then(|group| group.cpus_max), Some(1.5));
}

#[test]
fn cpu_time_without_a_tick_is_not_split() {
    let report = account(|kernel| kernel.write("proc/7/task/8/stat", &stat(8, 60, (40, 20), 0)));
    let sums = report.roles[0].sums;
    assert_eq!(
        (sums.cpu_ns, sums.user_ns, sums.kernel_ns, sums.kernel_share),
        (1_000_000_000, None, None, None)
    );
}

#[test]
fn a_thread_that_ends_counts_up_to_its_last_look_and_what_is_not_in_threads_is_stated() {
    let report = account(|kernel| {
        if is_after(kernel) {
            kernel.remove("proc/7/task/8");
        }
    });
    assert_eq!((report.threads_ended, report.threads_cpu_ns, report.difference_ns), (1, 0, 1_000_000_000));
}

#[test]
fn a_number_that_a_new_thread_has_taken_over_is_another_thread() {
    let report = account(|kernel| {
        if is_after(kernel) {
            kernel.write("proc/7/task/8/stat", &stat(8, 90, (3, 1), 0));
            kernel.write("proc/7/task/8/schedstat", "40000000 2 1\n");
        }
    });
    assert_eq!((report.threads_ended, report.threads_cpu_ns), (1, 40_000_000));
    assert_eq!(report.roles[0].sums.threads, 3, "the old one, the new one, and the first");
}

#[test]
fn a_process_of_which_only_files_are_known_has_ticks_and_nothing_of_a_live_one() {
    let kernel = FakeKernel::whole();
    let (proc, sys) = kernel.roots();
    let mut gauge = TimeGauge::at(proc.clone(), &sys, 7).expect("a process");
    kernel.advance(1);
    assert!(gauge.read().expect("readable"));
    let report = gauge.report(None);
    let total = &report.figures[0];
    assert_eq!((total.source, total.basis), (TimeSource::Procfs, Certainty::Known));
    assert!(total.from.contains("ticks") && report.process.cpu_resolution_ns == 20_000_000, "{total:?}");
    for figure in ["roles and Java names", "what the kernel did", "where in the code"] {
        let row = report.left_out.iter().find(|row| row.figure == figure).expect("said");
        assert!(row.why.contains("live process") && row.enable.contains("live process"), "{row:?}");
    }
    assert_eq!((report.samples, report.jvm, report.problems), (None, None, vec![]));
    assert!(TimeGauge::at(proc, &sys, 9).expect_err("nobody").is_absent());
}

#[test]
fn a_process_with_the_number_of_the_one_that_ended_is_not_taken_for_it() {
    let kernel = FakeKernel::whole();
    let (proc, sys) = kernel.roots();
    let mut gauge = TimeGauge::at(proc, &sys, 7).expect("a process");
    kernel.write("proc/7/stat", &stat(7, 51, (9, 9), 0));
    assert!(!gauge.read().expect("no error"));
    assert_eq!(gauge.report(None).process.cpu_ns, 0);
}
