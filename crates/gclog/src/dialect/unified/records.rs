//! From what lines say to records.

use super::heap_lines::{self, HeapLine};
use super::line::Line;
use super::parts;
use super::timed::{self, Timed};
use super::{Unified, safepoint};
use crate::contract::At;
use crate::contract::GcSink;
use crate::dialect::turns::{Fall, INTERLEAVED};
use crate::scan::Scan;
use assay_model::{GcAnomaly, GcCpu, GcInstant, GcRecord, GcRecordKind, GcScope};

/// HotSpot's CPU times have two decimals.
const CPU_STEP_NS: u64 = 10_000_000;
/// Uptime of lines that stand side by side, of several threads, differs by less.
const UPTIME_BACK_NS: u64 = 1_000_000_000;

impl Unified {
    /// When a line that makes a record was written; a clock that went back shows that another JVM writes.
    fn stamp(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> GcInstant {
        let mut instant = self.clock.read(line);
        let is_back = instant.uptime_ns.is_some_and(|ns| ns.saturating_add(UPTIME_BACK_NS) < self.uptime_ns);
        let is_other = line.gc_id.is_some_and(|id| self.collections.is_of_another_jvm(id));
        let mut is_restart = self.has_collected && (is_back || (is_other && instant.uptime_ns.is_none()));
        if let Some(now) = instant.uptime_ns.filter(|_| self.has_collected) {
            if is_back {
                let fall = self.turns.falls(self.uptime_ns, now);
                is_restart = fall == Fall::Restart;
                // The clock of the other JVM goes on from here.
                self.uptime_ns = now;
                if fall == Fall::FirstInTurn {
                    sink.problem(at.problem(INTERLEAVED));
                }
            } else {
                self.turns.rises(self.uptime_ns, now);
            }
        }
        if is_restart {
            self.restart(line, at, sink);
            instant = self.clock.read(line);
        }
        self.uptime_ns = self.uptime_ns.max(instant.uptime_ns.unwrap_or(0));
        instant
    }

    /// A pause, cycle, phase or stall that begins or has ended.
    pub(super) fn read_timed(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let timed = timed::read(line.text)?;
        if timed.has_ended {
            self.take_ended(&timed, line, at, sink);
        } else {
            if timed.kind == GcRecordKind::Pause && line.tags == "gc" {
                return None; // its end, torn
            }
            self.announce(&timed, line, at, sink);
        }
        Some(())
    }

    /// It begins now.
    pub(super) fn announce(&mut self, timed: &Timed<'_>, line: &Line<'_>, at: At, sink: &mut dyn GcSink) {
        let begun = self.stamp(line, at, sink);
        self.has_collected = true;
        if timed.kind == GcRecordKind::Pause {
            self.collections.settle(sink);
        }
        let collection = self.collections.open(line.gc_id, at);
        collection.begin_phase(timed.name, at);
        collection.is_in_pause |= timed.kind == GcRecordKind::Pause;
        if timed.kind == GcRecordKind::Cycle && timed.generation.is_none() {
            collection.begun = Some(begun);
        }
    }

    fn take_ended(&mut self, timed: &Timed<'_>, line: &Line<'_>, at: At, sink: &mut dyn GcSink) {
        let end = self.stamp(line, at, sink);
        self.has_collected = true;
        self.infer_collector(timed);
        let mut record = GcRecord::new(timed.kind, timed.phase(), at.source, at.line);
        record.scope = timed.scope;
        record.cause = timed.cause.map(str::to_owned);
        record.cycle_id = line.gc_id;
        record.end = end;
        if let Some((ns, resolution_ns)) = timed.duration {
            (record.duration_ns, record.duration_resolution_ns) = (Some(ns), Some(resolution_ns));
        }
        record.thread = timed.thread.map(str::to_owned);
        record.anomalies = timed.anomalies();
        self.collections.region_bytes = self.jvm.region_bytes();
        if self.jvm.is_shenandoah() {
            self.closing.count(&record);
        }
        // Collectors that stop for all of their work write sizes, and lines of their CPU time behind; so does CMS for all phases.
        let has_lines_behind = match timed.kind {
            GcRecordKind::Pause => timed.sizes.is_some(),
            GcRecordKind::Concurrent => self.jvm.is_cms(),
            _ => false,
        };
        if has_lines_behind {
            self.collections.open(line.gc_id, at).end_phase(timed.name);
            if let Some(outer) = self.outer_of(&record) {
                self.collections.end_within(outer, record, timed.sizes, at);
                return;
            }
            self.collections.end_waiting(record, timed.sizes, at, sink);
            return;
        }
        if timed.kind == GcRecordKind::Pause {
            self.collections.settle(sink);
        }
        let is_cycle = timed.kind == GcRecordKind::Cycle;
        if is_cycle && timed.generation.is_none() {
            self.take_length_of_cycle(&mut record, at);
        }
        // A part of a minor or major collection has no bytes of its own: the whole one gives them.
        let sizes = timed.sizes.filter(|_| !is_cycle || timed.generation.is_none());
        self.collections.end(record, sizes, at, timed.name, sink);
    }

    /// The collection whose pause holds this one and ends after it: a young collection of CMS whose promotion failed, or a remark.
    fn outer_of(&self, record: &GcRecord) -> Option<u64> {
        let is_within =
            record.scope == Some(GcScope::Full) || record.cause.as_deref() == Some("CMS Final Remark");
        self.collections.around(record.cycle_id?).filter(|_| is_within && self.jvm.is_cms())
    }

    /// Z without generations says when a cycle begins and ends, not how long it took.
    fn take_length_of_cycle(&mut self, record: &mut GcRecord, at: At) {
        let begun = self.collections.open(record.cycle_id, at).begun.take();
        if let (None, Some(begun)) = (record.duration_ns, begun) {
            record.duration_ns = between(&begun, &record.end);
            record.duration_resolution_ns = record.duration_ns.and(record.end.resolution_ns);
        }
    }

    fn infer_collector(&mut self, timed: &Timed<'_>) {
        let (name, is_generational) = match timed.name {
            "Minor Collection" | "Major Collection" => ("Z", Some(true)),
            "Garbage Collection" => ("Z", Some(false)),
            "Pause Degenerated GC" | "Pause Init Mark" | "Pause Init Update Refs" => {
                let is_named = matches!(timed.scope, Some(GcScope::Young | GcScope::Old));
                ("Shenandoah", is_named.then_some(true))
            }
            "Concurrent Mark Cycle" | "Concurrent Cycle" => ("G1", None),
            "Pause Young" if timed.cause.is_some_and(|cause| cause.starts_with("G1 ")) => ("G1", None),
            "Concurrent Abortable Preclean" => ("CMS", None),
            _ => return,
        };
        self.jvm.infer_collector(name, is_generational);
    }

    pub(super) fn read_using(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let is_collector = line.gc_id.is_none() && super::jvm::collector_used(line.text).is_some();
        if !is_collector {
            return None;
        }
        if self.has_collected && self.jvm.has_collector() {
            self.restart(line, at, sink);
        }
        self.jvm.take_using(line.text)
    }

    pub(super) fn read_heap(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let Some(said) = heap_lines::read(line.text) else {
            return self.jvm.take_reserved_region(line.text).or_else(|| {
                let is_start = line.gc_id.is_none() && super::notes::is_init(line.text);
                if is_start { self.read_init(line, at, sink) } else { None }
            });
        };
        if let HeapLine::Before(behind) | HeapLine::After(behind) = said {
            self.collections.take_heap_line(line.gc_id, at, &said);
            return match behind {
                "" => Some(()),
                _ => self.take_heap_line(&heap_lines::read(behind)?, behind, line, at),
            };
        }
        self.take_heap_line(&said, line.text, line, at)
    }

    fn take_heap_line(&mut self, said: &HeapLine<'_>, text: &str, line: &Line<'_>, at: At) -> Option<()> {
        self.jvm.take_heap_line(said, text);
        // Without a number it is the picture at the end.
        if line.gc_id.is_some() {
            self.collections.take_heap_line(line.gc_id, at, said);
        }
        Some(())
    }

    /// `User=0.02s Sys=0.00s Real=0.05s`
    pub(super) fn read_cpu(&mut self, line: &Line<'_>, sink: &mut dyn GcSink) -> Option<()> {
        let mut scan = Scan(line.text);
        let mut part = |name: &str| -> Option<u64> {
            scan.literal(name)?;
            let (ns, _) = scan.duration()?;
            scan.blanks();
            Some(ns)
        };
        let (user_ns, sys_ns, real_ns) = (part("User=")?, part("Sys=")?, part("Real=")?);
        scan.end()?;
        let cpu = GcCpu { user_ns, sys_ns, real_ns: Some(real_ns), resolution_ns: CPU_STEP_NS };
        self.collections.take_cpu(line.gc_id, cpu, sink);
        Some(())
    }

    /// `Using 2 workers of 2 for evacuation`, Shenandoah's `Using 1 of 1 workers for init marking`.
    pub(super) fn read_workers(&mut self, line: &Line<'_>, at: At) -> Option<()> {
        let mut scan = Scan(line.text);
        scan.literal("Using ")?;
        let workers = scan.number()?;
        if scan.literal(" workers of ").is_some() {
            scan.number()?;
        } else {
            scan.literal(" of ")?;
            scan.number()?;
            scan.literal(" workers")?;
        }
        scan.literal(" for ")?;
        self.collections.open(line.gc_id, at).workers = Some(workers);
        Some(())
    }

    /// A line of the start: after a collection it is that of another JVM.
    pub(super) fn read_init(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let is_first = ["Version: ", "Heap region size: ", "Heap address: ", "CardTable entry size: "]
            .iter()
            .any(|start| line.text.starts_with(start));
        if self.has_collected && is_first {
            self.restart(line, at, sink);
        }
        self.jvm.take_init(line.text)
    }

    /// CMS and Serial found no room for what they wanted to promote. Before JDK 17 the line has no number: it is of the pause that
    /// began last.
    pub(super) fn read_promotion(&mut self, line: &Line<'_>, at: At) -> Option<()> {
        if line.text != "Promotion failed" {
            return None;
        }
        let collection = match line.gc_id {
            Some(_) => self.collections.open(line.gc_id, at),
            None => self.collections.begun_last()?,
        };
        collection.add_anomaly(GcAnomaly::PromotionFailed);
        Some(())
    }

    pub(super) fn read_safepoint(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let safepoint = safepoint::read(line.text)?;
        let end = self.stamp(line, at, sink);
        self.collections.settle(sink);
        let mut record = GcRecord::new(GcRecordKind::Safepoint, safepoint.operation, at.source, at.line);
        record.end = end;
        record.duration_ns = Some(safepoint.total_ns);
        record.duration_resolution_ns = Some(safepoint.resolution_ns);
        record.time_to_safepoint_ns = Some(safepoint.reaching_ns);
        self.collections.tell(record, sink);
        Some(())
    }

    /// A turn of the thread that deduplicates strings, beside the application.
    pub(super) fn read_deduplication(
        &mut self,
        line: &Line<'_>,
        at: At,
        sink: &mut dyn GcSink,
    ) -> Option<()> {
        let (ns, step_ns) = parts::deduplication(line.text)?;
        let mut record =
            GcRecord::new(GcRecordKind::Concurrent, "Concurrent String Deduplication", at.source, at.line);
        record.end = self.stamp(line, at, sink);
        (record.duration_ns, record.duration_resolution_ns) = (Some(ns), Some(step_ns));
        self.collections.tell(record, sink);
        Some(())
    }

    /// Triggers, anomalies, the end of memory, lost messages.
    pub(super) fn read_event(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let text = line.text;
        match text.as_bytes()[0] {
            b'T' if text.starts_with("Trigger: ") || text.starts_with("Trigger (") => {
                self.take_trigger(line, at, sink)?;
            }
            b'T' if text == "To-space exhausted" => {
                self.collections.open(line.gc_id, at).add_anomaly(GcAnomaly::EvacuationFailure);
            }
            b'C' if text.eq_ignore_ascii_case("concurrent mode failure") => {
                self.collections.open(line.gc_id, at).add_anomaly(GcAnomaly::ConcurrentModeFailure);
            }
            b'C' if text.eq_ignore_ascii_case("concurrent mode interrupted") => {
                self.collections.open(line.gc_id, at).add_anomaly(GcAnomaly::Aborted);
            }
            b'O' if text.starts_with("Out Of Memory (") => {
                let thread = text.strip_prefix("Out Of Memory (")?.strip_suffix(')')?;
                let mut record = self.bare(GcRecordKind::OutOfMemory, "Out Of Memory", line, at, sink);
                record.thread = Some(thread.to_owned());
                self.collections.tell(record, sink);
            }
            b'T' | b'j'
                if text.starts_with("Terminating due to java.lang.OutOfMemoryError: ")
                    || text.starts_with("java.lang.OutOfMemoryError: ") =>
            {
                let (_, cause) = text.split_once("java.lang.OutOfMemoryError: ")?;
                let mut record = self.bare(GcRecordKind::OutOfMemory, "OutOfMemoryError", line, at, sink);
                record.cause = Some(cause.to_owned());
                self.collections.tell(record, sink);
            }
            b'0'..=b'9' if text.ends_with(" messages dropped due to async logging") => {
                self.dropped = self.dropped.saturating_add(Scan(text).number()?);
            }
            _ => return None,
        }
        Some(())
    }

    fn bare(
        &mut self,
        kind: GcRecordKind,
        phase: &str,
        line: &Line<'_>,
        at: At,
        sink: &mut dyn GcSink,
    ) -> GcRecord {
        let end = self.stamp(line, at, sink);
        let mut record = GcRecord::new(kind, phase, at.source, at.line);
        (record.end, record.cycle_id) = (end, line.gc_id);
        record
    }

    /// `Trigger (Young): Free (1234K) is below minimum threshold (7372K)`
    fn take_trigger(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let (phase, why) = line.text.split_once(": ")?;
        let scope = match phase {
            "Trigger" => Some(GcScope::Whole),
            "Trigger (Young)" => Some(GcScope::Young),
            "Trigger (Old)" => Some(GcScope::Old),
            "Trigger (Global)" => Some(GcScope::Whole),
            _ => return None,
        };
        let mut record = self.bare(GcRecordKind::Trigger, phase, line, at, sink);
        record.scope = scope;
        record.cause = Some(without_numbers(why));
        self.collections.tell(record, sink);
        Some(())
    }
}

/// From one instant to another, on the finest clock that both have.
fn between(from: &GcInstant, to: &GcInstant) -> Option<u64> {
    let monotonic = || to.monotonic_ns?.checked_sub(from.monotonic_ns?);
    let uptime = || to.uptime_ns?.checked_sub(from.uptime_ns?);
    let unix = || to.unix_ns?.checked_sub(from.unix_ns?).and_then(|ns| u64::try_from(ns).ok());
    monotonic().or_else(uptime).or_else(unix)
}

/// A reason's words, so that equal reasons are equal: figures in parentheses, and words with figures, are left out.
fn without_numbers(why: &str) -> String {
    let has_digit = |text: &str| text.bytes().any(|b| b.is_ascii_digit());
    let mut words = String::with_capacity(why.len());
    let mut scan = Scan(why);
    while !scan.0.is_empty() {
        scan.blanks();
        let is_figure_group = scan.0.starts_with('(') && {
            let mut ahead = scan;
            ahead.group().is_some_and(has_digit)
        };
        if is_figure_group {
            scan.group();
            continue;
        }
        let end = scan.0.find(' ').unwrap_or(scan.0.len());
        let (word, rest) = scan.0.split_at(end);
        scan.0 = rest;
        if !word.is_empty() && !has_digit(word) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reasons_are_equal() {
        assert_eq!(
            without_numbers("Free (1234K) is below minimum threshold (7372K)"),
            "Free is below minimum threshold"
        );
        assert_eq!(without_numbers("Explicit GC request (System.gc())"), "Explicit GC request (System.gc())");
        assert_eq!(without_numbers("Learning 1 of 5. Free (1K)"), "Learning of Free");
    }
}
