//! From records to a report, in memory that does not grow with the log.
//!
//! [`Analysis`] takes what [`GcStream`](assay_gclog::GcStream) reports and gives a [`GcReport`] at any time. Sums, counts and extremes are exact;
//! percentiles come from histograms with three digits; confidence intervals and comparisons come from at most 256 blocks of time, since pauses
//! that follow each other resemble each other and are not independent samples.

use crate::block::{Blocks, KINDS_MAX};
use crate::bytes::{self, Bytes};
use crate::findings;
use crate::lengths::{Lengths, Table};
use crate::live_set::LiveSet;
use crate::mmu::Mmu;
use crate::safepoints::Safepoints;
use crate::series::Series;
use crate::spaces::Spaces;
use crate::stalled::Stalled;
use crate::timeline::{Span, Timeline};
use crate::unrecognized::Unrecognized;
use assay_gclog::{At, GcSink};
use assay_model::{
    GcAnomaly, GcCpuSum, GcInstant, GcJvm, GcPart, GcReconciliation, GcRecord, GcRecordKind, GcReport,
    GcScope, GcSource, Problem, schema,
};
use std::collections::BTreeMap;

/// JVMs, problems and reconciliations that are kept.
const JVMS_MAX: usize = 256;
const PROBLEMS_MAX: usize = 200;
const RECONCILIATIONS_MAX: usize = 1_000;
/// Reasons of cycles that are distinguished.
const TRIGGERS_MAX: usize = 64;
/// Places of each kind that are named.
const PLACES_MAX: usize = 5;

/// How many requests the application answered meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Requests {
    /// Over the whole span of the log.
    Total(f64),
    /// In each second.
    PerSecond(f64),
}

/// Input of an analysis besides the log.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnalysisOptions {
    /// Requests, for garbage per request.
    pub requests: Option<Requests>,
    /// Seed of all random draws.
    pub seed: u64,
    /// The records begin somewhere in the log: what the JVM did before is not of the span.
    pub begins_later: bool,
}

/// Takes records as they come, and sums them up at any time.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    options: AnalysisOptions,
    sources: Vec<GcSource>,
    /// The source that is being read: its counts are known when it ends.
    open_source: Option<String>,
    jvms: Vec<GcJvm>,
    /// Whether the last of them is the one that is being read.
    is_jvm_known: bool,
    /// Whether anything was reported of the JVM that is being read.
    is_jvm_used: bool,
    pub(crate) timeline: Timeline,
    /// From the start of JVMs to their first instant, where the log has their head, before the one that is read.
    heads_ns: u64,
    pauses: Lengths,
    pauses_by_phase: Table,
    pauses_by_cause: Table,
    full_by_cause: Table,
    pause_parts_ns: BTreeMap<GcPart, u64>,
    concurrent_by_phase: Table,
    cycles_by_phase: Table,
    safepoints_by_operation: Table,
    stalls_by_phase: Table,
    triggers: BTreeMap<String, u64>,
    cycle_causes: BTreeMap<String, u64>,
    mmu: Mmu,
    bytes: Bytes,
    live_set: LiveSet,
    /// Time to a safepoint as safepoints say it, and as pauses do.
    reached: [Lengths; 2],
    safepoints: Safepoints,
    stalled: Stalled,
    cpu: Option<GcCpuSum>,
    concurrent_cpu: Option<GcCpuSum>,
    anomalies: BTreeMap<GcAnomaly, u64>,
    places: BTreeMap<String, Vec<(usize, u64)>>,
    out_of_memory: u64,
    spaces: Spaces,
    series: Series,
    reconciliations: Vec<GcReconciliation>,
    unrecognized: Unrecognized,
    problems: Vec<Problem>,
    problems_left_out: u64,
    /// Kinds of pauses in the order of their first, as blocks count them.
    pub(crate) kinds: Vec<String>,
    pub(crate) blocks: Blocks,
}

impl Analysis {
    /// An analysis of nothing so far.
    pub fn new(options: AnalysisOptions) -> Self {
        Analysis { options, ..Analysis::default() }
    }

    /// The JVM that wrote last, as far as it is known.
    pub fn last_jvm(&self) -> Option<&GcJvm> {
        self.jvms.last()
    }

    /// What is known by now. May be asked again and again while reading goes on.
    pub fn report(&self) -> GcReport {
        let span_s = self.span_ns().map(|ns| ns as f64 / 1e9);
        let paused_s = self.pauses.total_ms() / 1e3;
        // Of one pause alone the span is about its own length: it shows no share.
        let shows_share = |s: &f64| *s > 0.0 && (self.pauses.count > 1 || 2.0 * paused_s <= *s);
        let span_above_zero_s = span_s.filter(shows_share).filter(|_| self.shows_all_pauses());
        let share_left = |stopped_s: f64| span_above_zero_s.map(|s| (100.0 * (1.0 - stopped_s / s)).max(0.0));
        let other_safepoints_ms = self.safepoints.other_ms();
        let blocks = self.blocks.items();
        let beside_ns = self.bytes.beside_ns(self.timeline.begin_ns(), self.timeline.end_ns());
        let per_s = |part, rate| {
            let rates = bytes::per_s(blocks, part, beside_ns, rate, self.options.seed);
            rates.filter(|_| !self.has_long_collections_alone())
        };
        let requests_per_s = self.requests_per_s();
        let [at_safepoints, at_pauses] = &self.reached;
        let reached = if at_safepoints.count > 0 { at_safepoints } else { at_pauses };
        let triggers = if self.triggers.is_empty() { &self.cycle_causes } else { &self.triggers };
        let open = self.open_source.iter().map(|name| GcSource { name: name.clone(), ..GcSource::default() });
        let mut report = GcReport {
            schema: schema::GC.to_owned(),
            sources: self.sources.iter().cloned().chain(open).collect(),
            jvms: self.jvms.clone(),
            span_s,
            pauses: self.pauses.durations(),
            pauses_by_phase: self.pauses_by_phase.rows(),
            pauses_by_cause: self.pauses_by_cause.rows(),
            full_by_cause: self.full_by_cause.rows(),
            pause_parts_ms: self.pause_parts_ns.iter().map(|(part, ns)| (*part, *ns as f64 / 1e6)).collect(),
            concurrent_by_phase: self.concurrent_by_phase.rows(),
            cycles_by_phase: self.cycles_by_phase.rows(),
            safepoints_by_operation: self.safepoints_by_operation.rows(),
            stalls_by_phase: self.stalls_by_phase.rows(),
            triggers: triggers.clone(),
            throughput_percent: share_left(paused_s),
            application_percent: other_safepoints_ms.and_then(|ms| share_left(paused_s + ms / 1e3)),
            stalled_ms: self.stalled.total_ms(),
            mmu: if self.shows_all_pauses() { self.mmu.table() } else { Vec::new() },
            allocated_bytes_per_s: per_s(|block| block.allocated, 1.0),
            allocated_bytes: self.bytes.allocated_bytes(),
            promoted_bytes_per_s: per_s(|block| block.promoted, 1.0),
            promoted_percent: self.bytes.promoted_percent(),
            freed_bytes: self.bytes.freed_bytes(),
            garbage_bytes_per_request: requests_per_s.and_then(|rate| per_s(|block| block.freed, rate)),
            live_set: self.live_set.live_set(self.heap_bytes_max(), self.timeline.end_ns()),
            time_to_safepoint: reached.durations(),
            other_safepoints_ms,
            cpu: self.cpu,
            concurrent_cpu: self.concurrent_cpu,
            anomalies: self.anomalies.clone(),
            places: self.places.clone(),
            out_of_memory: self.out_of_memory,
            spaces: self.spaces.table(),
            series: self.series.series(),
            reconciliations: self.reconciliations.clone(),
            findings: Vec::new(),
            not_understood: self.unrecognized.not_understood(),
            problems: self.problems(),
        };
        report.findings = findings::findings(&report);
        report
    }

    /// Whether the log has the pauses of its collections: `-Xlog:gc` of Z has cycles alone, `-Xlog:safepoint` names operations.
    fn shows_pauses(&self) -> bool {
        let collects = [&self.cycles_by_phase, &self.concurrent_by_phase, &self.safepoints_by_operation];
        self.pauses.count > 0 || collects.iter().all(|table| table.is_empty())
    }

    fn shows_all_pauses(&self) -> bool {
        self.shows_pauses() && !self.has_long_collections_alone()
    }

    /// Whether long collections alone are known, as of a server that writes of these into its own log: shares and rates are not.
    fn has_long_collections_alone(&self) -> bool {
        self.sources.iter().any(GcSource::has_long_collections_alone)
    }

    /// The largest heap that the last JVM may have.
    fn heap_bytes_max(&self) -> Option<u64> {
        self.jvms.last()?.heap_bytes_max.filter(|bytes| *bytes > 0)
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        if self.problems_left_out > 0 {
            let what = format!("{} further problems are not listed", self.problems_left_out);
            problems.push(Problem::new("gc log", what));
        }
        problems
    }

    /// From the first instant to the last; `None` without times.
    fn span_ns(&self) -> Option<u64> {
        let is_timed = self.timeline.has_time() || self.timeline.end_ns() > 0;
        let heads_ns = self.heads_ns.saturating_add(self.head_ns());
        is_timed.then(|| self.timeline.end_ns().saturating_add(heads_ns))
    }

    /// From the start of the JVM that is being read to the first instant, where its log begins with its start: it ran then, too.
    fn head_ns(&self) -> u64 {
        let jvm = self.jvms.last().filter(|_| self.is_jvm_known);
        let has_head = jvm.is_some_and(|jvm| jvm.version.is_some() && jvm.heap_bytes_max.is_some());
        self.timeline.head_ns().filter(|_| has_head && !self.options.begins_later).unwrap_or(0)
    }

    fn requests_per_s(&self) -> Option<f64> {
        let rate = match self.options.requests? {
            Requests::PerSecond(rate) => rate,
            Requests::Total(count) => count / (self.span_ns()? as f64 / 1e9),
        };
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }

    fn pause(&mut self, record: &GcRecord, at: Option<Span>) {
        self.pauses.add(record);
        self.pauses_by_phase.add(&record.phase, record, at);
        if let Some(cause) = &record.cause {
            self.pauses_by_cause.add(cause, record, at);
        }
        if record.scope == Some(GcScope::Full) {
            self.full_by_cause.add(record.cause.as_deref().unwrap_or("not said"), record, at);
            self.place("full", record);
        }
        for (part, ns) in &record.parts {
            let sum_ns = self.pause_parts_ns.entry(*part).or_default();
            *sum_ns = sum_ns.saturating_add(*ns);
        }
        add_cpu(&mut self.cpu, record);
        if let Some(ns) = record.duration_ns {
            self.safepoints.pause(ns, at);
            if let Some(at) = at {
                self.mmu.add(at.start_ns, at.end_ns);
                let kind = self.kind(&record.phase);
                let block = self.blocks.at(at.end_ns);
                block.add_pause(kind, ns);
                block.full += u32::from(record.scope == Some(GcScope::Full));
            }
        }
    }

    fn kind(&mut self, phase: &str) -> usize {
        let known = self.kinds.iter().position(|kind| kind == phase);
        known.unwrap_or_else(|| {
            if self.kinds.len() < KINDS_MAX - 1 {
                self.kinds.push(phase.to_owned());
                self.kinds.len() - 1
            } else {
                KINDS_MAX - 1
            }
        })
    }

    fn safepoint(&mut self, record: &GcRecord, at: Option<Span>) {
        self.safepoints_by_operation.add(&record.phase, record, at);
        if let Some(ns) = record.duration_ns {
            self.safepoints.safepoint(ns, at);
        }
    }

    fn stall(&mut self, record: &GcRecord, at: Option<Span>) {
        self.stalls_by_phase.add(&record.phase, record, at);
        self.place("stall", record);
        if let Some(at) = at {
            self.stalled.add(at);
            let block = self.blocks.at(at.end_ns);
            block.stalls += 1.0;
            block.stalled_ns += record.duration_ns.unwrap_or(0) as f64;
        }
    }

    fn anomaly(&mut self, record: &GcRecord, at: Option<Span>) {
        for anomaly in &record.anomalies {
            *self.anomalies.entry(*anomaly).or_default() += 1;
            self.place(anomaly.word(), record);
            if let Some(at) = at {
                let count = &mut self.blocks.at(at.end_ns).anomalies[*anomaly as usize];
                *count = count.saturating_add(1);
            }
        }
    }

    fn place(&mut self, what: &str, record: &GcRecord) {
        if let Some(places) = self.places.get_mut(what) {
            if places.len() < PLACES_MAX {
                places.push((record.source, record.line));
            }
        } else {
            self.places.insert(what.to_owned(), vec![(record.source, record.line)]);
        }
    }

    fn reach(&mut self, record: &GcRecord, at: Option<Span>) {
        let Some(ns) = record.time_to_safepoint_ns else { return };
        let by = usize::from(record.kind != GcRecordKind::Safepoint);
        self.reached[by].add_length(Some(ns), Some(1), (record.source, record.line));
        if let Some(at) = at {
            self.blocks.at(at.end_ns).time_to_safepoint.add_log(ns);
        }
    }
}

/// Adds CPU time of a record that has it, and how long that took.
fn add_cpu(sum: &mut Option<GcCpuSum>, record: &GcRecord) {
    let Some(cpu) = &record.cpu else { return };
    let Some(real_ns) = cpu.real_ns.or(record.duration_ns) else { return };
    let sum = sum.get_or_insert_default();
    sum.count += 1;
    sum.user_s += cpu.user_ns as f64 / 1e9;
    sum.sys_s += cpu.sys_ns as f64 / 1e9;
    sum.real_s += real_ns as f64 / 1e9;
    sum.resolution_s = sum.resolution_s.max(cpu.resolution_ns as f64 / 1e9);
}

fn count_reason(reasons: &mut BTreeMap<String, u64>, reason: &str) {
    if let Some(count) = reasons.get_mut(reason) {
        *count += 1;
    } else {
        let name = if reasons.len() < TRIGGERS_MAX { reason } else { "others" };
        *reasons.entry(name.to_owned()).or_default() += 1;
    }
}

impl GcSink for Analysis {
    fn begin_source(&mut self, name: &str) {
        self.open_source = Some(name.to_owned());
    }

    fn end_source(&mut self, source: &GcSource) {
        self.open_source = None;
        self.sources.push(source.clone());
    }

    fn begin_jvm(&mut self) {
        if !self.is_jvm_used {
            return;
        }
        self.heads_ns = self.heads_ns.saturating_add(self.head_ns());
        self.bytes.begin_jvm(self.timeline.begin_ns(), self.timeline.end_ns());
        self.timeline.begin_jvm();
        self.mmu.begin_jvm();
        self.live_set.begin_jvm();
        self.safepoints.begin_jvm();
        self.series.begin_jvm(self.timeline.end_ns());
        (self.is_jvm_known, self.is_jvm_used) = (false, false);
    }

    fn jvm(&mut self, jvm: &GcJvm) {
        self.is_jvm_used = true;
        if self.is_jvm_known {
            if let Some(last) = self.jvms.last_mut() {
                last.clone_from(jvm);
            }
        } else if self.jvms.len() < JVMS_MAX {
            self.jvms.push(jvm.clone());
            self.is_jvm_known = true;
        }
    }

    fn dated(&mut self, at: &GcInstant) {
        self.is_jvm_used = true;
        if let Some(at) = self.timeline.see(at) {
            self.mmu.see(at.start_ns, at.end_ns);
            // Intervals in which nothing was count when two logs are compared.
            self.blocks.at(at.end_ns);
        }
    }

    fn record(&mut self, record: GcRecord) {
        self.is_jvm_used = true;
        let record = &record;
        let at = self.timeline.place(record);
        if let Some(at) = at {
            self.mmu.see(at.start_ns, at.end_ns);
            self.series.add(record, at);
        }
        match record.kind {
            GcRecordKind::Pause => self.pause(record, at),
            GcRecordKind::Cycle => {
                self.cycles_by_phase.add(&record.phase, record, at);
                if let Some(cause) = &record.cause {
                    count_reason(&mut self.cycle_causes, cause);
                }
            }
            GcRecordKind::Concurrent => {
                self.concurrent_by_phase.add(&record.phase, record, at);
                add_cpu(&mut self.concurrent_cpu, record);
            }
            GcRecordKind::Stall => self.stall(record, at),
            GcRecordKind::Safepoint => self.safepoint(record, at),
            GcRecordKind::Trigger => {
                count_reason(&mut self.triggers, record.cause.as_deref().unwrap_or(&record.phase));
            }
            GcRecordKind::OutOfMemory => {
                self.out_of_memory += 1;
                self.place("out-of-memory", record);
            }
        }
        self.reach(record, at);
        self.anomaly(record, at);
        self.spaces.add(record);
        self.live_set.add(record, at);
        self.bytes.add(record, at, &mut self.blocks);
    }

    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        if self.reconciliations.len() < RECONCILIATIONS_MAX {
            self.reconciliations.push(reconciliation);
        }
    }

    fn unrecognized(&mut self, at: At, text: &str) {
        self.unrecognized.add(at, text);
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else {
            self.problems_left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests;
