//! What is checked before anything runs: the option, the control groups, a heap that is given.

use super::option::FitOption;
use super::server::{Container, SIZE};
use crate::error::StudyError;
use assay_jdk::options::max_heap_bytes;
use assay_launch::GroupLimits;
use assay_model::Metric;

/// The metric by which values of an option are compared.
pub(super) fn check_option(option: &FitOption) -> Result<Metric, StudyError> {
    if option.between.is_empty() {
        return Err(StudyError::Use("--between A..B: A must be at most B".to_owned()));
    }
    if option.option != SIZE && !(option.option.starts_with('-') && option.option.contains("{}")) {
        return Err(StudyError::Use(format!(
            "--size {:?} has no place for the value: write a JVM option with {{}}, as in '-XX:ParallelGCThreads={{}}', or {SIZE} here and in the command",
            option.option
        )));
    }
    Metric::by_id(&option.metric).ok_or_else(|| {
        StudyError::Use(format!("there is no metric {}: docs/reference/metrics.md lists them", option.metric))
    })
}

/// Limits need a control group that this process may make.
pub(super) fn check_groups(container: &Container) -> Result<(), StudyError> {
    let limits = GroupLimits {
        memory_bytes: container.memory_bytes,
        cpus: Some(1.0),
        swap_bytes: container.is_without_swap.then_some(0),
        ..GroupLimits::default()
    };
    limits.check_writable().map_err(|why| {
        StudyError::Environment(format!(
            "limits cannot be tried here: {why}\n  as root on the host: sudo assay fit ...\n  in a container: docker run --privileged --cgroupns=host ...\n  \
             as a user with systemd: systemd-run --user --scope -p Delegate=yes assay fit ...\n  without a trial, the arithmetic alone: assay memory advise PID"
        ))
    })
}

/// Said of a heap that the machine does not have.
pub(super) fn no_heap_fits(heap_bytes: u64, machine_bytes: u64) -> StudyError {
    let size = assay_text::size::rounded;
    StudyError::Use(format!(
        "no limit can hold: the heap of {} exceeds the machine's memory of {}: set a smaller -Xmx, or use a \
            larger machine",
        size(heap_bytes),
        size(machine_bytes)
    ))
}

/// A heap that the command gives must fit into the machine.
pub(super) fn check_given(given: Option<&str>, machine_bytes: u64) -> Result<(), StudyError> {
    match max_heap_bytes(given).filter(|heap| machine_bytes <= *heap) {
        Some(heap) => Err(no_heap_fits(heap, machine_bytes)),
        None => Ok(()),
    }
}
