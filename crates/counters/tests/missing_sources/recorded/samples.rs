//! Samples that are lost, of others, or none.

use super::super::fake_kernel::{FUTEX, account, sample};
use assay_counters::kernel::Record;
use assay_model::KernelActivity;
use std::sync::Mutex;

#[test]
fn lost_samples_and_pauses_are_counted_and_other_processes_left_out() {
    let report = account(|kernel| {
        kernel.clock.records = Mutex::new(vec![
            sample(7, 8, &[FUTEX]),
            sample(9, 9, &[FUTEX]),
            Record::Lost(5),
            sample(7, 8, &[]),
            Record::Throttled,
            Record::Nothing,
            Record::Lost(2),
            sample(7, 99, &[]),
        ]);
    });
    let samples = report.samples.expect("samples");
    assert_eq!((samples.samples, samples.lost, samples.throttled, samples.cpus), (3, 7, 1, 1));
    assert_eq!(samples.kernel.len(), 1);
    assert_eq!((samples.kernel[0].activity, samples.kernel[0].samples), (Some(KernelActivity::Futex), 1));
    let coverage = samples.coverage.expect("CPU time");
    assert!((coverage - 3.0 / 199.0).abs() < 1e-9, "three samples of 199: {coverage}");
    let unseen = samples.roles.iter().find(|role| role.role.is_none()).expect("thread 99");
    assert_eq!((unseen.samples, unseen.cpu_ns), (1, 0), "the clocks know of no time of it");
}

#[test]
fn a_process_of_whom_nothing_was_sampled_has_no_shares() {
    let report = account(|kernel| kernel.clock.records = Mutex::default());
    let samples = report.samples.expect("sampling worked");
    assert_eq!((samples.samples, samples.kernel_share), (0, None));
    assert!(samples.roles.iter().all(|role| role.parts.is_empty()) && samples.kernel.is_empty());
}
