//! The figures of a GC log: one list of identifiers, from which CSV, OpenMetrics, conditions (`--fail-if`) and comparisons of two
//! logs take their names, units and values.

use super::{GcAnomaly, GcReport, GcSpace};
use crate::Estimate;
use crate::Severity;

/// A figure of a [`GcReport`].
#[derive(Debug, Clone, Copy)]
pub struct GcFigure {
    /// Its name wherever it appears, unit last.
    pub id: &'static str,
    /// Its unit, as it stands beside a value.
    pub unit: &'static str,
    /// How it is offered as OpenMetrics.
    pub exposition: Exposition,
    /// Its meaning, in one sentence.
    pub help: &'static str,
    read: fn(&GcReport) -> Option<Estimate>,
}

/// How a figure is offered as OpenMetrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    /// It only grows.
    Counter,
    /// It only grows, and has another name there, because scrapers already use that.
    CounterAs(&'static str),
    /// It goes up and down.
    Gauge,
    /// It is not: a family with labels has it, or whoever scrapes derives it from others.
    Unexposed,
}

impl GcFigure {
    /// The value; `None` when the log does not have it.
    pub fn read(&self, report: &GcReport) -> Option<f64> {
        self.estimate(report).map(|estimate| estimate.estimate)
    }

    /// The value with its interval, where it has one; `None` when the log does not have it.
    pub fn estimate(&self, report: &GcReport) -> Option<Estimate> {
        (self.read)(report).filter(|value| value.estimate.is_finite())
    }

    /// The figure with this identifier.
    pub fn by_id(id: &str) -> Option<&'static GcFigure> {
        GC_FIGURES.iter().find(|figure| figure.id == id)
    }
}

/// How a figure is read: a count, a number, or an estimate with its interval.
trait Value {
    fn into_estimate(self) -> Estimate;
}

impl Value for Estimate {
    fn into_estimate(self) -> Estimate {
        self
    }
}

impl Value for f64 {
    fn into_estimate(self) -> Estimate {
        Estimate { estimate: self, low: None, high: None }
    }
}

impl Value for u64 {
    fn into_estimate(self) -> Estimate {
        (self as f64).into_estimate()
    }
}

/// A number of events that this log would contain: none is zero, but only where collections were read at all.
fn counted(report: &GcReport, count: u64) -> Option<u64> {
    let is_read = report.pauses.count > 0 || !report.cycles_by_phase.is_empty();
    (is_read || count > 0).then_some(count)
}

/// A figure of all pauses: absent where the log has none, which then shows cycles alone (`-Xlog:gc` of Z), or no collection at all.
fn paused<T>(report: &GcReport, figure: T) -> Option<T> {
    (report.pauses.count > 0).then_some(figure)
}

fn anomaly(report: &GcReport, anomaly: GcAnomaly) -> Option<u64> {
    counted(report, report.anomalies.get(&anomaly).copied().unwrap_or(0))
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

macro_rules! figures {
    ($($name:ident = $id:literal, $unit:literal, $kind:ident$(($as:literal))?, $help:literal, |$r:ident| $read:expr;)*) => {
        /// All figures, in the order in which they are listed.
        pub static GC_FIGURES: &[GcFigure] = &[$(GcFigure {
            id: $id,
            unit: $unit,
            exposition: Exposition::$kind$(($as))?,
            help: $help,
            read: |$r: &GcReport| $read.map(Value::into_estimate),
        }),*];

        /// The identifiers of [`GC_FIGURES`].
        pub mod gc_figure {
            $(#[doc = $help] pub const $name: &str = $id;)*
        }
    };
}

figures! {
    PAUSES = "pauses", "events", Unexposed, "Stops of the application for the collector.", |r| paused(r, r.pauses.count);
    PAUSE_TOTAL_MS = "pause_total_ms", "ms", Unexposed, "Sum of all pauses.", |r| paused(r, r.pauses.total_ms);
    PAUSE_GEOMETRIC_MEAN_MS = "pause_geometric_mean_ms", "ms", Gauge, "Geometric mean of the pauses: the typical one.", |r| r.pauses.geometric_mean_ms;
    PAUSE_P50_MS = "pause_p50_ms", "ms", Gauge, "Median of the pauses.", |r| r.pauses.p50_ms;
    PAUSE_P90_MS = "pause_p90_ms", "ms", Gauge, "90th percentile of the pauses.", |r| r.pauses.p90_ms;
    PAUSE_P95_MS = "pause_p95_ms", "ms", Gauge, "95th percentile of the pauses.", |r| r.pauses.p95_ms;
    PAUSE_P99_MS = "pause_p99_ms", "ms", Gauge, "99th percentile of the pauses.", |r| r.pauses.p99_ms;
    PAUSE_P999_MS = "pause_p999_ms", "ms", Gauge, "99.9th percentile of the pauses.", |r| r.pauses.p999_ms;
    PAUSE_MAX_MS = "pause_max_ms", "ms", Unexposed, "Longest pause.", |r| r.pauses.max_ms;
    PAUSES_PER_S = "pauses_per_s", "events/s", Unexposed, "Pauses a second of the log's span.", |r| paused(r, r.pauses.count as f64 / r.span_s.filter(|s| *s > 0.0)?);
    PAUSE_MS_PER_S = "pause_ms_per_s", "ms/s", Unexposed, "Milliseconds paused in each second.", |r| paused(r, r.pauses.total_ms / r.span_s.filter(|s| *s > 0.0)?);
    THROUGHPUT_PERCENT = "throughput_percent", "percent", Gauge, "Share of the span in which the application was not stopped for the collector.", |r| r.throughput_percent;
    APPLICATION_PERCENT = "application_percent", "percent", Gauge, "Share of the span in which the application was not stopped at any safepoint, reaching it included.", |r| r.application_percent;
    MMU_100MS_PERCENT = "mmu_100ms_percent", "percent", Gauge, "Smallest share of any 100 ms in which the application was not stopped for the collector.", |r| mmu(r, 100.0);
    MMU_1S_PERCENT = "mmu_1s_percent", "percent", Gauge, "Smallest share of any second in which the application was not stopped for the collector.", |r| mmu(r, 1_000.0);
    SPAN_S = "span_s", "s", Unexposed, "From the first dated line of the log to the last.", |r| r.span_s;
    ALLOCATED_BYTES_PER_S = "allocated_bytes_per_s", "bytes/s", Unexposed, "Allocation of the application, \
        over the intervals for which the log has it.", |r| r.allocated_bytes_per_s;
    ALLOCATED_BYTES = "allocated_bytes", "bytes", Counter, "Total allocation of the application, if the log \
        has it.", |r| r.allocated_bytes;
    FREED_BYTES = "freed_bytes", "bytes", Counter, "Total bytes freed by collections.", |r| r.freed_bytes;
    PROMOTED_BYTES_PER_S = "promoted_bytes_per_s", "bytes/s", Unexposed, "Bytes promoted to the old generation.", |r| r.promoted_bytes_per_s;
    PROMOTED_PERCENT = "promoted_percent", "percent", Gauge, "Promoted share of the allocation, over the \
        collections that show both.", |r| r.promoted_percent;
    GARBAGE_BYTES_PER_REQUEST = "garbage_bytes_per_request", "bytes", Gauge, "Bytes freed by collections per \
        request.", |r| r.garbage_bytes_per_request;
    LIVE_SET_BYTES = "live_set_bytes", "bytes", Gauge, "Live bytes after the last collection of the whole heap.", |r| Some(r.live_set.as_ref()?.last_bytes);
    LIVE_SET_MAX_BYTES = "live_set_max_bytes", "bytes", Gauge, "The most that a collection of all of the heap left.", |r| Some(r.live_set.as_ref()?.max_bytes);
    LIVE_SET_SLOPE_BYTES_PER_H = "live_set_slope_bytes_per_h", "bytes/h", Unexposed, "Growth of the live set, by Theil and Sen.", |r| r.live_set.as_ref()?.slope_bytes_per_h;
    FULL_COLLECTIONS = "full_collections", "events", Counter, "Collections of all of the heap in a pause.", |r| counted(r, r.full_by_cause.iter().map(|row| row.durations.count).sum());
    FULL_COLLECTION_TOTAL_MS = "full_collection_total_ms", "ms", Counter, "Sum of the pauses of full collections.", |r| counted(r, 0).map(|_| r.full_by_cause.iter().map(|row| row.durations.total_ms).sum::<f64>());
    EVACUATION_FAILURES = "evacuation_failures", "events", Unexposed, "Collections that found no room for survivors.", |r| anomaly(r, GcAnomaly::EvacuationFailure);
    PROMOTION_FAILURES = "promotion_failures", "events", Unexposed, "Collections that found no room in the old generation.", |r| anomaly(r, GcAnomaly::PromotionFailed);
    CONCURRENT_MODE_FAILURES = "concurrent_mode_failures", "events", Unexposed, "Concurrent collections that came too late.", |r| anomaly(r, GcAnomaly::ConcurrentModeFailure);
    DEGENERATED_COLLECTIONS = "degenerated_collections", "events", Unexposed, "Concurrent cycles that ended in a pause.", |r| anomaly(r, GcAnomaly::Degenerated);
    ABORTED_CYCLES = "aborted_cycles", "events", Unexposed, "Concurrent cycles that were given up.", |r| anomaly(r, GcAnomaly::Aborted);
    OUT_OF_MEMORY_ERRORS = "out_of_memory_errors", "events", Counter, "Times that the JVM had no memory left.", |r| counted(r, r.out_of_memory);
    STALLS = "stalls", "events", Unexposed, "Waits of single threads for memory.", |r| stalled_ms(r).map(|_| r.stalls_by_phase.iter().map(|row| row.durations.count).sum::<u64>());
    STALL_TOTAL_MS = "stall_total_ms", "ms", Unexposed, "Sum of the waits of single threads for memory.", |r| stalled_ms(r);
    STALL_MAX_MS = "stall_max_ms", "ms", Gauge, "Longest wait of a single thread for memory.", |r| r.stalls_by_phase.iter().filter_map(|row| row.durations.max_ms).reduce(f64::max);
    STALLED_MS = "stalled_ms", "ms", Counter, "Time in which at least one thread waited for memory.", |r| r.stalled_ms;
    CONCURRENT_TOTAL_MS = "concurrent_total_ms", "ms", Unexposed, "Sum of the concurrent phases, as time that passed.", |r| (!r.concurrent_by_phase.is_empty()).then(|| r.concurrent_by_phase.iter().map(|row| row.durations.total_ms).sum::<f64>());
    TIME_TO_SAFEPOINT_GEOMETRIC_MEAN_MS = "time_to_safepoint_geometric_mean_ms", "ms", Gauge, "Geometric mean of the time to safepoint, until all threads are stopped.", |r| r.time_to_safepoint.geometric_mean_ms;
    TIME_TO_SAFEPOINT_P99_MS = "time_to_safepoint_p99_ms", "ms", Gauge, "99th percentile of the time to safepoint.", |r| r.time_to_safepoint.p99_ms;
    TIME_TO_SAFEPOINT_MAX_MS = "time_to_safepoint_max_ms", "ms", Gauge, "Longest time to safepoint.", |r| r.time_to_safepoint.max_ms;
    TIME_TO_SAFEPOINT_TOTAL_MS = "time_to_safepoint_total_ms", "ms", Counter, "Sum of the times to safepoint.", |r| (r.time_to_safepoint.count > 0).then_some(r.time_to_safepoint.total_ms);
    OTHER_SAFEPOINTS_MS = "other_safepoints_ms", "ms", Counter, "Stopped at non-GC safepoints, including the \
        time to reach those of collections.", |r| r.other_safepoints_ms;
    GC_CPU_USER_S = "gc_cpu_user_s", "s", Unexposed, "CPU time of pauses in user mode.", |r| Some(r.cpu?.user_s);
    GC_CPU_SYS_S = "gc_cpu_sys_s", "s", Unexposed, "CPU time of pauses in the kernel.", |r| Some(r.cpu?.sys_s);
    GC_CPU_REAL_S = "gc_cpu_real_s", "s", Unexposed, "Length of the pauses whose CPU time the log gives.", |r| Some(r.cpu?.real_s);
    GC_CONCURRENT_CPU_USER_S = "gc_concurrent_cpu_user_s", "s", Unexposed, "CPU time of concurrent phases in user mode.", |r| Some(r.concurrent_cpu?.user_s);
    GC_CONCURRENT_CPU_SYS_S = "gc_concurrent_cpu_sys_s", "s", Unexposed, "CPU time of concurrent phases in the kernel.", |r| Some(r.concurrent_cpu?.sys_s);
    GC_CONCURRENT_CPU_REAL_S = "gc_concurrent_cpu_real_s", "s", Unexposed, "Length of the concurrent phases whose CPU time the log gives.", |r| Some(r.concurrent_cpu?.real_s);
    METASPACE_BYTES = "metaspace_bytes", "bytes", Unexposed, "Metaspace after the last collection.", |r| r.spaces.get(&GcSpace::Metaspace)?.last_bytes;
    HEAP_AFTER_BYTES = "heap_after_bytes", "bytes", Gauge, "Heap in use after the last collections.", |r| r.series.points.iter().rev().find_map(|p| p.after_bytes_min);
    HEAP_CAPACITY_BYTES = "heap_capacity_bytes", "bytes", Gauge, "Capacity of the heap at the end.", |r| r.series.points.iter().rev().find_map(|p| p.capacity_bytes);
    LINES = "lines", "lines", CounterAs("log_lines"), "Lines read.", |r| Some(r.sources.iter().map(|s| s.lines).sum::<u64>());
    LINES_NOT_UNDERSTOOD = "lines_not_understood", "lines", CounterAs("log_lines_not_understood"), "Lines that no rule accounts for.", |r| Some(r.not_understood.lines);
    MESSAGES_DROPPED = "messages_dropped", "messages", CounterAs("log_messages_dropped"), "Messages that the \
        JVM reports as dropped.", |r| Some(r.sources.iter().map(|s| s.messages_dropped).sum::<u64>());
    JVMS = "jvms", "JVMs", Gauge, "JVMs that wrote the log.", |r| Some(r.jvms.len() as u64);
    FINDINGS_OF_ERROR = "findings_of_error", "events", Unexposed, "Findings that hurt users, or will.", |r| Some(r.findings.iter().filter(|f| f.severity == Severity::Error).count() as u64);
}
