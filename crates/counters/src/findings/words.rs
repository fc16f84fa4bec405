//! Words and figures that rules share.

use assay_model::{TimeGroup, TimeReport};

/// Seconds with as many digits as they deserve.
pub(super) fn seconds(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    if s < 0.1 { format!("{:.1} ms", s * 1e3) } else { format!("{s:.2} s") }
}

/// `23 %`
pub(super) fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// A part of a whole that is not zero.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Events in each second of CPU time.
pub(super) fn per_cpu_s(events: u64, cpu_ns: u64) -> f64 {
    if cpu_ns == 0 { 0.0 } else { events as f64 * 1e9 / cpu_ns as f64 }
}

/// Processors that the process may use: those of the machine, or fewer by the limit of its group.
pub(super) fn cpus(report: &TimeReport) -> Option<f64> {
    let machine = f64::from(report.machine.cpus?);
    Some(report.cgroup.as_ref().and_then(|group| group.cpus_max).map_or(machine, |limit| limit.min(machine)))
}

/// A pool as it is named in a sentence: `http-nio-8080-exec-* (application, 200 threads)`.
pub(super) fn pool(group: &TimeGroup) -> String {
    let threads = group.sums.threads;
    let number = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    format!("{} ({}, {number})", group.name, group.role.title())
}
