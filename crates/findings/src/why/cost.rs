//! What a finding costs, as a share of what the user has.

use assay_model::{CostOf, Finding, GcReport, MemoryReport, RuleId, Severity, TimeReport, WhyCost};

/// Findings that say what ended the process, or will. A milder grade of them (in so short a log a start looks the same) is none.
const ENDS: [&str; 4] = ["memory-grows", "live-set-grows", "killed-at-limit", "out-of-memory"];

/// Findings that say who has the memory, and not that anything is wrong with it.
const OWNERS_ALONE: [&str; 3] = ["large-share", "unknown-large", "mapped-files"];

/// Findings on a log and not on its application.
const OF_LOGS: [&str; 6] = [
    "messages-dropped",
    "lines-not-understood",
    "log-breaks-off",
    "log-contradicts-itself",
    "jvm-restarted",
    "log-lacks-figures",
];

/// Below this many processors a process has no CPU time to save.
const PROCESSORS_MIN: f64 = 0.05;

/// The share from which on a cost matters.
pub(super) fn matters(of: CostOf) -> f64 {
    match of {
        CostOf::Process | CostOf::Other => 1.0,
        CostOf::MemoryLimit | CostOf::Cpu => 0.10,
        // Without a limit memory costs money, and ends nothing.
        CostOf::Rss => 0.20,
        CostOf::Stopped => 0.03,
    }
}

pub(super) fn of_ends(finding: &Finding<RuleId>) -> Option<WhyCost> {
    let ends = finding.severity == Severity::Error && ENDS.iter().any(|id| finding.rule == *id);
    ends.then_some(WhyCost { of: CostOf::Process, share: 1.0 })
}

/// Bytes that the change would bring, else those that it speaks of, as a share of the limit, else of the RSS.
pub(super) fn of_memory(report: &MemoryReport, finding: &Finding<RuleId>) -> Option<WhyCost> {
    let group = report.cgroup.as_ref();
    let limit = group.and_then(|group| group.limit_bytes).filter(|limit| 0 < *limit);
    if finding.rule == "near-limit" {
        let charged = group.and_then(|group| group.current_bytes).unwrap_or(0);
        return Some(share(CostOf::MemoryLimit, charged as f64, limit? as f64));
    }
    if OWNERS_ALONE.iter().any(|id| finding.rule == *id) {
        return None;
    }
    let bytes = finding.gain_bytes.or(finding.resident_bytes)? as f64;
    Some(match limit {
        Some(limit) => share(CostOf::MemoryLimit, bytes, limit as f64),
        None => share(CostOf::Rss, bytes, report.bytes_of_memory() as f64),
    })
}

/// CPU time that it speaks of, as a share of all of the process; what a CPU limit stopped, as a share of the time that it allows.
pub(super) fn of_time(report: &TimeReport, finding: &Finding<RuleId>) -> Option<WhyCost> {
    let duration_ns = report.duration_ns as f64;
    if finding.rule == "gc-threads-throttled" {
        let group = report.cgroup.as_ref()?;
        let all_ns = duration_ns * group.cpus_max?;
        return Some(share(CostOf::Stopped, group.throttled_ns? as f64, all_ns));
    }
    let cpu_ns = report.process.cpu_ns as f64;
    let is_idle = cpu_ns < PROCESSORS_MIN * duration_ns;
    finding.cpu_ns.filter(|_| !is_idle).map(|of| share(CostOf::Cpu, of as f64, cpu_ns))
}

/// Time in which the application was stopped by what it speaks of; of a finding on no kind of stop in particular, all of it.
pub(super) fn of_gc(report: &GcReport, finding: &Finding<RuleId>) -> Option<WhyCost> {
    if finding.severity == Severity::Note || OF_LOGS.iter().any(|id| finding.rule == *id) {
        return None;
    }
    let span_ms = report.span_s.filter(|span_s| 0.0 < *span_s)? * 1e3;
    let stopped_ms = match finding.rule.as_str() {
        "full-gc" | "explicit-gc" | "full-gc-by-tools" | "metaspace-full" | "metaspace-threshold" => {
            report.full_by_cause.iter().map(|row| row.durations.total_ms).sum()
        }
        "time-to-safepoint-long" => report.time_to_safepoint.total_ms,
        "safepoints-other" => report.other_safepoints_ms?,
        "allocation-stalls" => report.stalled_ms?,
        _ => report.throughput_percent.map(|ran| span_ms * (100.0 - ran) / 100.0)?,
    };
    Some(share(CostOf::Stopped, stopped_ms, span_ms))
}

fn share(of: CostOf, part: f64, whole: f64) -> WhyCost {
    let share = if 0.0 < whole { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    WhyCost { of, share }
}
