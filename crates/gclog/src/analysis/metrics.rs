//! The flat figures of a report: for CSV, OpenMetrics, conditions and comparisons.

use assay_model::{GcReport, GcTrouble};

/// A figure of a report.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name, unit last.
    pub name: &'static str,
    /// What it is, one sentence.
    pub help: &'static str,
    read: fn(&GcReport) -> Option<f64>,
}

impl Metric {
    /// The figure; `None` when the log does not tell.
    pub fn read(&self, report: &GcReport) -> Option<f64> {
        (self.read)(report).filter(|value| value.is_finite())
    }

    /// The metric of this name.
    pub fn named(name: &str) -> Option<&'static Metric> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

/// All figures of a report, in the order of [`METRICS`].
pub fn metrics(report: &GcReport) -> Vec<(&'static str, Option<f64>)> {
    METRICS.iter().map(|metric| (metric.name, metric.read(report))).collect()
}

/// A number of something that this log would tell of: none is zero, but only where collections were read at all.
fn counted(report: &GcReport, count: u64) -> Option<f64> {
    let is_read = report.pauses.count > 0 || !report.cycles_by_phase.is_empty();
    (is_read || count > 0).then_some(count as f64)
}

fn trouble(report: &GcReport, trouble: GcTrouble) -> Option<f64> {
    counted(report, report.troubles.get(&trouble).copied().unwrap_or(0))
}

/// Sum of a table; absent when it has no rows and the collector is none that would log such.
fn stalled_ms(report: &GcReport) -> Option<f64> {
    let logs_stalls = report.jvms.iter().any(|jvm| jvm.collector.as_deref() == Some("Z"));
    let is_told = logs_stalls || !report.stalls_by_phase.is_empty();
    is_told.then(|| report.stalls_by_phase.iter().map(|row| row.durations.total_ms).sum())
}

fn mmu(report: &GcReport, window_ms: f64) -> Option<f64> {
    report.mmu.iter().find(|row| row.window_ms == window_ms).map(|row| row.utilisation_percent)
}

macro_rules! metrics {
    ($($name:literal, $help:literal, $read:expr;)*) => {
        /// All figures that there are.
        pub static METRICS: &[Metric] = &[$(Metric { name: $name, help: $help, read: $read }),*];
    };
}

metrics! {
    "pauses", "Stops of the application for the collector.", |r| counted(r, r.pauses.count);
    "pause_total_ms", "Sum of all pauses.", |r| counted(r, r.pauses.count).map(|_| r.pauses.total_ms);
    "pause_geometric_mean_ms", "Geometric mean of the pauses: the typical one.", |r| r.pauses.geometric_mean_ms;
    "pause_p50_ms", "Median of the pauses.", |r| r.pauses.p50_ms;
    "pause_p90_ms", "90th percentile of the pauses.", |r| r.pauses.p90_ms;
    "pause_p95_ms", "95th percentile of the pauses.", |r| r.pauses.p95_ms;
    "pause_p99_ms", "99th percentile of the pauses.", |r| r.pauses.p99_ms;
    "pause_p999_ms", "99.9th percentile of the pauses.", |r| r.pauses.p999_ms;
    "pause_max_ms", "Longest pause.", |r| r.pauses.max_ms;
    "pauses_per_s", "Pauses a second of the log's span.", |r| Some(r.pauses.count as f64 / r.span_s.filter(|s| *s > 0.0)?);
    "pause_ms_per_s", "Milliseconds paused in each second.", |r| Some(r.pauses.total_ms / r.span_s.filter(|s| *s > 0.0)?);
    "throughput_percent", "Share of the span in which the application was not stopped for the collector.", |r| r.throughput_percent;
    "mmu_100ms_percent", "Smallest share of any 100 ms in which the application was not stopped for the collector.", |r| mmu(r, 100.0);
    "mmu_1s_percent", "Smallest share of any second in which the application was not stopped for the collector.", |r| mmu(r, 1_000.0);
    "span_s", "From the first instant of the log to the last.", |r| r.span_s;
    "allocated_bytes_per_s", "What the application allocated, over the stretches where the log tells.", |r| Some(r.allocated_bytes_per_s?.estimate);
    "allocated_bytes", "Sum of what the application allocated, where the log tells.", |r| r.allocated_bytes.map(|b| b as f64);
    "freed_bytes", "Sum of what collections freed.", |r| r.freed_bytes.map(|b| b as f64);
    "promoted_bytes_per_s", "What went to the old generation.", |r| Some(r.promoted_bytes_per_s?.estimate);
    "promoted_percent", "Share of what was allocated that went there, over the collections that show both.", |r| r.promoted_percent;
    "garbage_bytes_per_request", "What collections freed, by request.", |r| Some(r.garbage_bytes_per_request?.estimate);
    "live_set_bytes", "What the last collection of all of the heap left.", |r| Some(r.live_set.as_ref()?.last_bytes as f64);
    "live_set_slope_bytes_per_h", "Growth of that, by Theil and Sen.", |r| Some(r.live_set.as_ref()?.slope_bytes_per_h?.estimate);
    "full_collections", "Collections of all of the heap in a pause.", |r| counted(r, r.full_by_cause.iter().map(|row| row.durations.count).sum());
    "full_collection_total_ms", "Sum of their pauses.", |r| counted(r, 0).map(|_| r.full_by_cause.iter().map(|row| row.durations.total_ms).sum());
    "evacuation_failures", "Collections that found no room for survivors.", |r| trouble(r, GcTrouble::EvacuationFailure);
    "promotion_failures", "Collections that found no room in the old generation.", |r| trouble(r, GcTrouble::PromotionFailed);
    "concurrent_mode_failures", "Concurrent collections that came too late.", |r| trouble(r, GcTrouble::ConcurrentModeFailure);
    "degenerated_collections", "Concurrent cycles that ended in a pause.", |r| trouble(r, GcTrouble::Degenerated);
    "aborted_cycles", "Concurrent cycles that were given up.", |r| trouble(r, GcTrouble::Aborted);
    "out_of_memory_errors", "Times that the JVM had no memory left.", |r| counted(r, r.out_of_memory);
    "stalls", "Waits of single threads for memory.", |r| stalled_ms(r).map(|_| r.stalls_by_phase.iter().map(|row| row.durations.count).sum::<u64>() as f64);
    "stall_total_ms", "Sum of these.", stalled_ms;
    "stall_max_ms", "Longest of these.", |r| r.stalls_by_phase.iter().filter_map(|row| row.durations.max_ms).reduce(f64::max);
    "concurrent_total_ms", "Sum of the phases beside the application, as time that passed.", |r| (!r.concurrent_by_phase.is_empty()).then(|| r.concurrent_by_phase.iter().map(|row| row.durations.total_ms).sum());
    "time_to_safepoint_geometric_mean_ms", "Geometric mean of the time until all threads stood still.", |r| r.time_to_safepoint.geometric_mean_ms;
    "time_to_safepoint_p99_ms", "99th percentile of the time until all threads stood still.", |r| r.time_to_safepoint.p99_ms;
    "time_to_safepoint_max_ms", "Longest time until all threads stood still.", |r| r.time_to_safepoint.max_ms;
    "time_to_safepoint_total_ms", "Sum of these.", |r| (r.time_to_safepoint.count > 0).then_some(r.time_to_safepoint.total_ms);
    "other_safepoints_ms", "Stopped at safepoints beside the pauses of the collector, reaching those of collections included.", |r| r.other_safepoints_ms;
    "gc_cpu_user_s", "CPU time of pauses in user mode.", |r| Some(r.cpu?.user_s);
    "gc_cpu_sys_s", "CPU time of pauses in the kernel.", |r| Some(r.cpu?.sys_s);
    "gc_concurrent_cpu_user_s", "CPU time of phases beside the application in user mode.", |r| Some(r.concurrent_cpu?.user_s);
    "gc_concurrent_cpu_sys_s", "CPU time of phases beside the application in the kernel.", |r| Some(r.concurrent_cpu?.sys_s);
    "metaspace_bytes", "Metaspace after the last collection.", |r| r.spaces.get(&assay_model::GcSpace::Metaspace)?.last_bytes.map(|b| b as f64);
    "heap_capacity_bytes", "Capacity of the heap at the end.", |r| r.series.points.iter().rev().find_map(|p| p.capacity_bytes).map(|b| b as f64);
    "lines", "Lines read.", |r| Some(r.sources.iter().map(|s| s.lines).sum::<u64>() as f64);
    "lines_not_understood", "Lines that no rule accounts for.", |r| Some(r.not_understood.lines as f64);
    "messages_dropped", "Messages that the JVM says it dropped.", |r| Some(r.sources.iter().map(|s| s.messages_dropped).sum::<u64>() as f64);
    "findings_of_error", "Findings that hurt users, or will.", |r| Some(r.findings.iter().filter(|f| f.severity == assay_model::GcSeverity::Error).count() as f64);
}
