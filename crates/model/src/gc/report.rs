//! What GC logs say, in short: the stored form of `assay gc --json`.

use super::{GcAnomaly, GcPart, GcScope, GcSpace};
use crate::{Estimate, Finding, HeapRange, ModeRead, Problem, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One or several logs that were read as one story. Memory of the reader does not grow with the log, so that percentiles and series
/// are kept in bounded form; each says how exact it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcReport {
    /// `assay.gc/5`
    pub schema: String,
    /// What was read, in the order of time.
    pub sources: Vec<GcSource>,
    /// The JVMs that wrote it: a log that was begun anew, or a restart within a rotated set, has several.
    pub jvms: Vec<GcJvm>,
    /// From the first dated line to the last, without what lies between two JVMs, seconds; absent without times.
    pub span_s: Option<f64>,
    /// All pauses together.
    pub pauses: GcDurations,
    /// Pauses by what they are called, the largest sum first.
    pub pauses_by_phase: Vec<GcRow>,
    /// Pauses by cause, the largest sum first.
    pub pauses_by_cause: Vec<GcRow>,
    /// Time that parts of pauses took, milliseconds; a part that no line names is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pause_parts_ms: BTreeMap<GcPart, f64>,
    /// Of these, full collections by cause, the largest sum first.
    #[serde(default)]
    pub full_by_cause: Vec<GcRow>,
    /// Concurrent phases.
    pub concurrent_by_phase: Vec<GcRow>,
    /// Whole concurrent cycles.
    pub cycles_by_phase: Vec<GcRow>,
    /// Safepoints by operation.
    pub safepoints_by_operation: Vec<GcRow>,
    /// Waits of single threads.
    pub stalls_by_phase: Vec<GcRow>,
    /// Why cycles began.
    pub triggers: BTreeMap<String, u64>,
    /// Share of the span in which the application was not stopped for the collector, percent; absent where the log shows nothing but
    /// one pause, and where it has collections and not their pauses.
    pub throughput_percent: Option<f64>,
    /// Share of the span in which the application was not stopped at all, neither for the collector nor at another safepoint, percent.
    /// Reaching a safepoint counts as stopped. Absent without lines of safepoints.
    #[serde(default)]
    pub application_percent: Option<f64>,
    /// Time in which at least one thread waited for memory, milliseconds: waits that overlap count once. Absent without such waits.
    #[serde(default)]
    pub stalled_ms: Option<f64>,
    /// Minimum mutator utilisation, by window upwards.
    pub mmu: Vec<GcMmu>,
    /// What the application allocated, bytes a second, over the intervals for which the log gives it.
    pub allocated_bytes_per_s: Option<Estimate>,
    /// Σ of what it allocated there, bytes.
    pub allocated_bytes: Option<u64>,
    /// What went to the old generation, bytes a second, over the intervals for which the log gives it.
    pub promoted_bytes_per_s: Option<Estimate>,
    /// Of what was allocated, the share that went there, over the collections that show both, percent.
    #[serde(default)]
    pub promoted_percent: Option<f64>,
    /// Σ (before - after) of all collections that give both, bytes. Up to version 2 of the form the first one was not in it.
    pub freed_bytes: Option<u64>,
    /// Freed bytes by request, where requests were given, bytes.
    pub garbage_bytes_per_request: Option<Estimate>,
    /// What survives, and whether it grows.
    pub live_set: Option<GcLiveSet>,
    /// Time until all threads stood still.
    pub time_to_safepoint: GcDurations,
    /// Stopped at non-GC safepoints, milliseconds: other operations, and reaching the safepoints of
    /// collections. Absent without lines of safepoints.
    pub other_safepoints_ms: Option<f64>,
    /// CPU time of collections in pauses.
    pub cpu: Option<GcCpuSum>,
    /// Concurrent CPU time of the collector; absent where the log has none, which is most collectors'.
    #[serde(default)]
    pub concurrent_cpu: Option<GcCpuSum>,
    /// Collections with anomalies.
    pub anomalies: BTreeMap<GcAnomaly, u64>,
    /// Where anomalies, full collections, and ends of memory stand, by name in kebab case: the first few of each.
    #[serde(default)]
    pub places: BTreeMap<String, Vec<(usize, u64)>>,
    /// Times that the JVM had no memory left.
    #[serde(default)]
    pub out_of_memory: u64,
    /// Parts of the heap, and metaspace: the last and the largest in the log.
    pub spaces: BTreeMap<GcSpace, GcSpaceUse>,
    /// The heap over time and its pauses, in buckets of equal length.
    pub series: GcSeries,
    /// What the log says of itself (closing statistics, numbers in a row), held against what was read.
    pub reconciliations: Vec<GcReconciliation>,
    /// What follows.
    pub findings: Vec<Finding<RuleId>>,
    /// Lines that no rule accounts for.
    pub not_understood: NotUnderstood,
    /// Values that could not be read, or are missing.
    pub problems: Vec<Problem>,
}

/// A log that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcSource {
    /// File name, member of an archive, or `standard input`.
    pub name: String,
    /// The form it is written in: `unified`, `jdk8`, `j9`, `server` (a server's own log); absent when it is none.
    pub dialect: Option<String>,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Of these, lines that no rule accounts for.
    pub lines_not_understood: u64,
    /// Messages that the JVM says it dropped.
    pub messages_dropped: u64,
    /// Whether its last line breaks off.
    pub is_torn: bool,
}

impl GcSource {
    /// Whether it has long collections alone, as a server's own log has: it shows no share of the time and no rate.
    pub fn has_long_collections_alone(&self) -> bool {
        self.dialect.as_deref() == Some("server")
    }
}

/// A JVM as its log describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcJvm {
    /// Version.
    pub version: Option<String>,
    /// `Serial`, `Parallel`, `G1`, `CMS`, `Z`, `Shenandoah`, `Epsilon`; J9's policy, such as `gencon`.
    pub collector: Option<String>,
    /// Whether Z or Shenandoah work by generations.
    pub is_generational: Option<bool>,
    /// Reference mode.
    pub mode: Option<ModeRead>,
    /// Where the heap lies.
    pub heap: Option<HeapRange>,
    /// Smallest, initial and largest heap, bytes.
    pub heap_bytes_min: Option<u64>,
    /// Initial heap, bytes.
    pub heap_bytes_initial: Option<u64>,
    /// Largest heap, bytes.
    pub heap_bytes_max: Option<u64>,
    /// G1's or Shenandoah's region, bytes.
    pub region_bytes: Option<u64>,
    /// Processors that the JVM uses.
    pub processors: Option<u64>,
    /// Memory that the JVM sees, bytes.
    pub memory_bytes: Option<u64>,
    /// Threads that collect in a pause.
    pub parallel_workers: Option<u64>,
    /// Threads that collect concurrently.
    pub concurrent_workers: Option<u64>,
    /// Large pages: requested and got, in the log's words.
    pub large_pages: Option<String>,
    /// Flags in the order of the log; values that may be secrets are left out.
    pub flags: Vec<String>,
    /// Everything else that the log says at the start, by its own words.
    pub settings: BTreeMap<String, String>,
    /// When it wrote its first line, since 1970 in UTC, nanoseconds.
    pub begun_unix_ns: Option<i64>,
    /// Index into the sources, and the line at which it begins there, counted from 1.
    pub source: usize,
    /// That line.
    pub line: u64,
}

/// How long things took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcDurations {
    /// How many there were.
    pub count: u64,
    /// Of these, those whose length the log does not say.
    #[serde(default)]
    pub without_length: u64,
    /// Sum, milliseconds: exact to the log's digits.
    pub total_ms: f64,
    /// Largest step of the lengths that were summed, milliseconds.
    pub resolution_ms: Option<f64>,
    /// Geometric mean of those above zero: the typical length, which a single long one hardly moves.
    #[serde(default)]
    pub geometric_mean_ms: Option<f64>,
    /// Median; percentiles are those of a histogram with three significant digits.
    pub p50_ms: Option<f64>,
    /// 90th percentile.
    pub p90_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// 99.9th percentile.
    pub p999_ms: Option<f64>,
    /// Longest, exact.
    pub max_ms: Option<f64>,
    /// Where the longest ended: index of the source and line.
    pub max_at: Option<(usize, u64)>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcRow {
    /// Phase, cause or operation, in the JVM's words.
    pub name: String,
    /// What is collected, where all of the row agree.
    pub scope: Option<GcScope>,
    /// Lengths.
    pub durations: GcDurations,
    /// When the last of them ended, seconds from the first instant of the log; absent without times.
    #[serde(default)]
    pub last_s: Option<f64>,
    /// Histogram of the lengths: upper edge in milliseconds, and how many; empty ones are left out.
    pub histogram: Vec<(f64, u64)>,
}

/// Minimum mutator utilisation: the smallest share of any window of this length in which the application was not stopped
/// for the collector. Other safepoints are not in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcMmu {
    /// Length of the window, milliseconds.
    pub window_ms: f64,
    /// Share, percent.
    pub utilisation_percent: f64,
}

/// What survives collections of the whole heap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcLiveSet {
    /// Where the figures are from: `after full collections`, `lowest after mixed collections`, `after marks`, `after cycles`. The trend is
    /// taken over all of these.
    pub basis: String,
    /// How many there are.
    pub count: u64,
    /// The first, bytes.
    #[serde(default)]
    pub first_bytes: Option<u64>,
    /// The last, bytes.
    pub last_bytes: u64,
    /// The largest, bytes.
    pub max_bytes: u64,
    /// The level at the end, bytes: the median of the last five, so that one that finds a program at its end (it threw what it held away)
    /// does not count. Zero in files of before this key.
    #[serde(default)]
    pub level_bytes: u64,
    /// How fast it grows while it grows, bytes a second, by the same slope over the time until the heap was full; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fills_bytes_per_s: Option<f64>,
    /// When it filled the heap, or will at that pace, seconds from the beginning of the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub full_at_s: Option<f64>,
    /// Slope by Theil and Sen, bytes an hour, with its interval; absent when the collections span less than a minute.
    pub slope_bytes_per_h: Option<Estimate>,
    /// What that means.
    pub trend: GcTrend,
}

/// Whether the live set grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcTrend {
    /// The interval of the slope lies above zero, by more than noise and more than the resolution of the sizes.
    Grows,
    /// The interval lies around zero, and is narrow compared with the heap.
    Flat,
    /// The interval lies below zero.
    Shrinks,
    /// Too few collections, or too wide an interval.
    Unknown,
}

/// CPU time of pauses, or of concurrent phases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcCpuSum {
    /// Pauses or phases that give it.
    pub count: u64,
    /// In user mode, seconds.
    pub user_s: f64,
    /// In the kernel, seconds.
    pub sys_s: f64,
    /// Their length by the same lines (or by themselves, where these say nothing), seconds.
    pub real_s: f64,
    /// Smallest step of a single figure, seconds.
    pub resolution_s: f64,
}

/// How much of a space was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcSpaceUse {
    /// After the last collection, bytes.
    pub last_bytes: Option<u64>,
    /// Largest, before or after, bytes.
    pub max_bytes: Option<u64>,
    /// Largest capacity, bytes.
    pub capacity_bytes_max: Option<u64>,
}

/// The heap and the pauses over time, in buckets of equal length; bounded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcSeries {
    /// Length of a bucket, seconds.
    pub bucket_s: f64,
    /// Buckets in which something was.
    pub points: Vec<GcPoint>,
    /// Each pause, wait and collection by itself, in the order of the log, of logs that have no more than 1,000; absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<GcCollection>,
    /// What the wall clock says at the beginning of each JVM, of logs that have one. The time between two JVMs is not on the axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<GcClock>,
}

/// The wall clock at a position of the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcClock {
    /// From the beginning of the series, nanoseconds.
    pub at_ns: u64,
    /// Since 1970 in UTC, nanoseconds.
    pub unix_ns: i64,
}

/// A pause, a wait of threads, or a collection whose heap is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcCollection {
    /// Its end, from the beginning of the series, seconds.
    pub at_s: f64,
    /// Heap in use before it, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_bytes: Option<u64>,
    /// Heap in use after it, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<u64>,
    /// Capacity after it, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Scope and length of a pause, milliseconds; absent for what stops nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<(String, f64)>,
    /// Wait of threads, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_ms: Option<f64>,
    /// The first of a JVM that is not the first of the log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_start: bool,
    /// Where it ended: index of the source and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(usize, u64)>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A bucket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcPoint {
    /// Its beginning, from the beginning of the series, seconds.
    pub at_s: f64,
    /// Largest heap in use before a collection, bytes.
    pub before_bytes_max: Option<u64>,
    /// Smallest heap in use after a collection, bytes.
    pub after_bytes_min: Option<u64>,
    /// Last capacity, bytes.
    pub capacity_bytes: Option<u64>,
    /// Pauses by scope: how many, their sum and the longest, milliseconds.
    pub pauses: BTreeMap<String, (u64, f64, f64)>,
    /// Where the longest of each scope ended: index of the source and line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub longest_at: BTreeMap<String, (usize, u64)>,
    /// Waits of threads, milliseconds.
    pub stalled_ms: f64,
    /// A JVM begins here.
    #[serde(default)]
    pub is_start: bool,
}

/// What the log says of itself, and what was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcReconciliation {
    /// What is counted: `Completed GCs`.
    pub what: String,
    /// As the log says.
    pub logged: f64,
    /// As it was read.
    pub read: f64,
    /// Largest difference that rounding of the log's figures allows.
    pub rounding: f64,
    /// Index of the source, and line.
    pub at: (usize, u64),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Lines that no rule accounts for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotUnderstood {
    /// How many.
    pub lines: u64,
    /// Of these, lines that look like those of a pause.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_of_pauses: u64,
    /// By shape (digits made one), the most frequent first: how many, the first of them, with source and line. Bounded.
    pub shapes: Vec<UnrecognizedLines>,
}

/// Lines of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnrecognizedLines {
    /// How many lines.
    pub lines: u64,
    /// The first of them, shortened, without control characters.
    pub quote: String,
    /// Index of the source, and line.
    pub at: (usize, u64),
}

/// Two logs against each other: the stored form of `assay gc diff --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcComparison {
    /// `assay.gc-comparison/2`
    pub schema: String,
    /// Name of the first log.
    pub before: String,
    /// Name of the second.
    pub after: String,
    /// The JVM that wrote the first log; the last, where several did.
    #[serde(default)]
    pub before_jvm: Option<GcJvm>,
    /// The JVM that wrote the second.
    #[serde(default)]
    pub after_jvm: Option<GcJvm>,
    /// Every figure.
    pub differences: Vec<GcDifference>,
}

/// How a log differs from another, for one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcDifference {
    /// Name of the figure, unit last: `pause_p99_ms`.
    pub metric: String,
    /// In the first log.
    pub before: Option<f64>,
    /// In the second.
    pub after: Option<f64>,
    /// Second by first, with its interval.
    pub ratio: Option<Estimate>,
    /// Whether that is more than noise.
    pub verdict: GcVerdict,
}

/// What a comparison of two logs shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcVerdict {
    /// More than noise explains, upwards.
    Higher,
    /// More than noise explains, downwards.
    Lower,
    /// No difference shown.
    NoDifferenceShown,
    /// Too little in one of the logs.
    InsufficientData,
}

impl GcVerdict {
    /// The word in stored files.
    pub const fn word(self) -> &'static str {
        match self {
            GcVerdict::Higher => "higher",
            GcVerdict::Lower => "lower",
            GcVerdict::NoDifferenceShown => "no-difference-shown",
            GcVerdict::InsufficientData => "insufficient-data",
        }
    }
}
