//! Verbose GC logs of J9 and OpenJ9: XML of both schemas.
//!
//! Such a log is not a document: it is appended to while it is open, so that its root has no end; a restart adds a second root; a file of
//! a rotated set may begin with a root and go on with the numbers of the file before; messages of the JVM stand between. So it is read
//! tag by tag ([`tag`]), with the schema as vocabulary and not as a rule: real logs lack attributes that it requires.
//!
//! Since R26 all that stands between `<exclusive-start>` and `<exclusive-end durationms>` is one pause, whatever was done in it
//! ([`pause`]); before, `<af>`, `<sys>` or `<con event="collection">` is ([`old`]). Numbers of elements follow one another: a gap
//! is data lost ([`ids`]).
//!
//! Timestamps are local time without a zone, so that they do not give an instant in UTC: times are counted from the first of a JVM.

mod figures;
mod header;
mod ids;
mod memory;
mod names;
mod old;
mod old_pauses;
mod pause;
mod root;
mod tag;

use crate::contract::{At, Dialect, GcSink, ParseOutcome};
use crate::decimal::{civil_ns, old_civil_ns};
use assay_model::{GcAnomaly, GcInstant, GcRecord, GcRecordKind, GcScope};
use figures::{milliseconds, number, put_duration};
use header::Header;
use ids::{Ids, is_numbered};
use memory::Memory;
use old::OldPause;
use pause::Pause;
pub use root::{J9Mode, read_j9};
use tag::{Attributes, LinePart};

/// Cycles that are open at once: a global one with scavenges in between, and some whose end is lost.
const CYCLES_MAX: usize = 8;
/// Of the timestamps since R26; before, they have whole seconds.
const STAMP_STEP_NS: u64 = 1_000_000;
const OLD_STAMP_STEP_NS: u64 = 1_000_000_000;

/// State of a log of this form.
#[derive(Debug, Default)]
pub(crate) struct J9 {
    is_begun: bool,
    header: Header,
    has_initialized: bool,
    /// A root that may be that of another JVM: its line.
    next_root: Option<(String, At)>,
    ids: Ids,
    totals: Ids,
    /// First timestamp of the JVM, on its local clock.
    base_ns: Option<i64>,
    /// Its last timestamp, and whether the first was reported.
    last: GcInstant,
    is_first_told: bool,
    pause: Option<Pause>,
    old: Option<OldPause>,
    cycles: Vec<Cycle>,
    concurrent: Option<Phase>,
    side: Side,
    /// Pauses that metronome logs as sums only.
    quanta: u64,
    quanta_at: Option<At>,
    /// Pauses so far.
    pauses: u64,
}

/// Which side of a collection the memory that follows is of.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Side {
    #[default]
    None,
    Before,
    After,
}

/// A cycle that is open.
#[derive(Debug)]
struct Cycle {
    id: u64,
    kind: String,
    begun: GcInstant,
    line: u64,
    /// Pauses before it.
    pauses: u64,
}

/// A phase beside the application that is open.
#[derive(Debug)]
struct Phase {
    kind: String,
    begun: GcInstant,
    cycle_id: Option<u64>,
    line: u64,
}

/// Whether a line can be of this form.
pub(super) fn recognises(text: &str) -> bool {
    let mut rest = text.trim_start();
    match tag::next(&mut rest) {
        Some(LinePart::Open { name, .. }) => names::is_known(name),
        Some(LinePart::Close(name)) => names::is_known(name),
        _ => text.contains("<verbosegc"),
    }
}

/// Whether a line begins with an element that no other program's files have.
pub(super) fn is_of_collector(text: &str) -> bool {
    let mut rest = text.trim_start();
    match tag::next(&mut rest) {
        Some(LinePart::Open { name, .. }) => names::is_of_collector(name),
        _ => text.contains("<verbosegc"),
    }
}

impl Dialect for J9 {
    fn name(&self) -> &'static str {
        "j9"
    }

    fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> ParseOutcome {
        if !self.is_begun {
            self.is_begun = true;
            self.header = Header::at(at);
            sink.begin_jvm();
        }
        let mut is_understood = true;
        let mut rest = text;
        while let Some(piece) = tag::next(&mut rest) {
            is_understood &= match piece {
                LinePart::Open { name, attributes, is_empty } => {
                    self.open(name, &attributes, is_empty, text, at, sink);
                    names::is_known(name)
                }
                LinePart::Close(name) => {
                    self.close(name, at, sink);
                    names::is_known(name)
                }
                LinePart::Aside => true,
                LinePart::Text(text) => tag::is_blank(text),
            };
        }
        if self.base_ns.is_some() && !std::mem::replace(&mut self.is_first_told, self.base_ns.is_some()) {
            sink.dated(&self.last);
        }
        if is_understood { ParseOutcome::Understood } else { ParseOutcome::Unrecognized }
    }

    fn flush(&mut self, sink: &mut dyn GcSink) {
        self.tell_jvm(sink);
    }

    fn tell_jvm(&self, sink: &mut dyn GcSink) {
        if self.is_begun {
            sink.dated(&self.last);
            sink.jvm(&self.header.jvm());
        }
    }

    fn finish(&mut self, sink: &mut dyn GcSink) {
        self.end_jvm("the log ends within a pause", sink);
    }
}

impl J9 {
    fn open(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        is_empty: bool,
        text: &str,
        at: At,
        sink: &mut dyn GcSink,
    ) {
        let is_old = matches!(name, "af" | "sys" | "con" | "gc");
        // The next number is one, whatever an element of a later release is called.
        let is_number =
            |id: &u64| is_numbered(name) || (!is_old && name != "verbosegc" && self.ids.is_next(*id));
        match number(attributes, "id").filter(is_number) {
            Some(id) => {
                self.settle_root(
                    name == "initialized" && self.has_initialized || self.ids.is_of_another(id),
                    at,
                    sink,
                );
                self.ids.take(id, at, sink);
            }
            None if name == "initialized" => self.settle_root(self.has_initialized, at, sink),
            // Before R26 the first of a JVM has no interval.
            None if is_old && self.old.is_none() && self.next_root.is_some() => {
                self.settle_root(attributes.get("intervalms") == Some("0.000"), at, sink);
            }
            None => {}
        }
        if self.open_frame(name, attributes, text, at, sink) || self.open_pause(name, attributes, at, sink) {
            return;
        }
        self.open_old(name, attributes, is_empty, at, sink);
    }

    /// Roots, what the JVM says of itself, cycles and phases beside the application.
    fn open_frame(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        text: &str,
        at: At,
        sink: &mut dyn GcSink,
    ) -> bool {
        match name {
            "verbosegc" if self.has_root() => self.next_root = Some((text.to_owned(), at)),
            "verbosegc" => self.header.take_root(attributes, text),
            "initialized" => {
                self.has_initialized = true;
                self.instant(attributes);
            }
            "attribute" => self.header.take_attribute(attributes, text),
            "vmarg" => self.header.take_argument(attributes),
            "cycle-start" => self.begin_cycle(attributes, at),
            "cycle-continue" => {
                let id = number(attributes, "contextid");
                let kind = attributes.get("newtype");
                if let (Some(cycle), Some(kind)) =
                    (self.cycles.iter_mut().find(|cycle| Some(cycle.id) == id), kind)
                {
                    kind.clone_into(&mut cycle.kind);
                }
            }
            "cycle-end" => self.end_cycle(attributes, at, sink),
            "concurrent-start" => {
                let begun = self.instant(attributes);
                let kind = attributes.get("type").unwrap_or("concurrent").to_owned();
                self.concurrent =
                    Some(Phase { kind, begun, cycle_id: number(attributes, "contextid"), line: at.line });
            }
            "concurrent-end" => self.end_phase(attributes, at, sink),
            "concurrent-aborted" => self.put_aborted(),
            "kickoff" => {
                let mut record =
                    GcRecord::new(GcRecordKind::Trigger, "concurrent-kickoff", at.source, at.line);
                record.cause = attributes.get("reason").map(tag::unescaped);
                record.scope = Some(GcScope::Whole);
                sink.record(record);
            }
            "out-of-memory" => {
                let mut record =
                    GcRecord::new(GcRecordKind::OutOfMemory, "out-of-memory", at.source, at.line);
                record.end = self.instant(attributes);
                sink.record(record);
            }
            "quanta" => {
                self.quanta = self.quanta.saturating_add(number(attributes, "quantumCount").unwrap_or(0));
                self.quanta_at = Some(at);
            }
            _ => return false,
        }
        true
    }

    /// What stands in a pause.
    fn open_pause(&mut self, name: &str, attributes: &Attributes<'_>, at: At, sink: &mut dyn GcSink) -> bool {
        match name {
            "exclusive-start" => {
                self.instant(attributes);
                self.lose_pause("the end of a pause is missing", sink);
                self.pause = Some(Pause::new(at));
            }
            "exclusive-end" => {
                let end = self.instant(attributes);
                if let Some(pause) = self.pause.take() {
                    self.pauses += 1;
                    sink.record(pause.end(end, milliseconds(attributes, "durationms"), at));
                }
                self.side = Side::None;
            }
            "gc-start" | "gc-end" => {
                self.side = if name == "gc-start" { Side::Before } else { Side::After };
                let memory = Memory::default();
                let pause = self.pause.get_or_insert_with(|| Pause::new(at));
                if name == "gc-start" {
                    pause.begin_collection(attributes, memory);
                } else {
                    pause.end_collection(attributes, memory);
                }
            }
            "mem-info" | "mem" if self.side != Side::None => {
                let is_before = self.side == Side::Before;
                if let Some(memory) = self.pause.as_mut().and_then(|pause| pause.memory(is_before)) {
                    if name == "mem" { memory.take_part(attributes) } else { memory.take_heap(attributes) }
                }
            }
            "gc-op" if attributes.get("type") == Some("syncgc") => {
                let mut record = GcRecord::new(GcRecordKind::Pause, "syncgc", at.source, at.line);
                record.scope = Some(GcScope::Full);
                record.end = self.instant(attributes);
                put_duration(&mut record, milliseconds(attributes, "timems"));
                sink.record(record);
            }
            _ => return self.pause.as_mut().is_some_and(|pause| pause.take(name, attributes)),
        }
        true
    }

    fn close(&mut self, name: &str, at: At, sink: &mut dyn GcSink) {
        match name {
            "gc-start" | "gc-end" => self.side = Side::None,
            "af" | "sys" | "con" | "gc" => self.close_old(name, at, sink),
            _ => {}
        }
    }

    fn has_root(&self) -> bool {
        self.ids.has_begun() || self.totals.has_begun() || self.has_initialized
    }

    /// A root is that of another JVM, or one more of the same in a rotated set: its first number decides.
    fn settle_root(&mut self, is_another: bool, at: At, sink: &mut dyn GcSink) {
        let root = self.next_root.take();
        if !is_another {
            return;
        }
        self.end_jvm("the JVM ends within a pause", sink);
        let begun = root.as_ref().map_or(at, |(_, at)| *at);
        *self = J9 { is_begun: true, header: Header::at(begun), ..J9::default() };
        sink.begin_jvm();
        if let Some((text, _)) = root {
            let mut rest = &text[text.find("<verbosegc").unwrap_or(0)..];
            if let Some(LinePart::Open { attributes, .. }) = tag::next(&mut rest) {
                self.header.take_root(&attributes, &text);
            }
        }
    }

    fn end_jvm(&mut self, lost: &str, sink: &mut dyn GcSink) {
        self.lose_pause(lost, sink);
        if let Some(old) = self.old.take() {
            sink.problem(old.begun_at().problem(lost));
        }
        if let Some(at) = self.quanta_at.filter(|_| self.quanta > 0) {
            let what = format!(
                "{} pauses of metronome are reported as sums only, and are not in the table",
                self.quanta
            );
            sink.problem(at.problem(what));
        }
        self.ids.finish("elements in a row, by their ids", sink);
        self.totals.finish("collections in a row, by their total ids", sink);
        self.flush(sink);
    }

    fn lose_pause(&mut self, what: &str, sink: &mut dyn GcSink) {
        if let Some(pause) = self.pause.take() {
            sink.problem(pause.begun_at().problem(what));
        }
        self.side = Side::None;
    }

    /// When an element was written, counted from the first timestamp of the JVM.
    fn instant(&mut self, attributes: &Attributes<'_>) -> GcInstant {
        let Some(text) = attributes.get("timestamp") else { return GcInstant::default() };
        let (now_ns, step_ns) = match civil_ns(text) {
            Some(ns) => (ns, STAMP_STEP_NS),
            None => match old_civil_ns(text) {
                Some(ns) => (ns, OLD_STAMP_STEP_NS),
                None => return GcInstant::default(),
            },
        };
        if self.base_ns.is_none() {
            self.header.begun(text);
        }
        let base_ns = *self.base_ns.get_or_insert(now_ns);
        let uptime_ns = now_ns.checked_sub(base_ns).and_then(|ns| u64::try_from(ns).ok());
        self.last =
            GcInstant { uptime_ns, resolution_ns: uptime_ns.map(|_| step_ns), ..GcInstant::default() };
        self.last
    }

    fn begin_cycle(&mut self, attributes: &Attributes<'_>, at: At) {
        let begun = self.instant(attributes);
        let Some(id) = number(attributes, "id") else { return };
        let kind = attributes.get("type").unwrap_or("cycle").to_owned();
        if let Some(pause) = &mut self.pause {
            pause.begin_cycle(id);
        }
        if self.cycles.len() == CYCLES_MAX {
            self.cycles.remove(0);
        }
        self.cycles.push(Cycle { id, kind, begun, line: at.line, pauses: self.pauses });
    }

    /// A cycle that began and ended in one pause is that pause, and needs no record of its own.
    fn end_cycle(&mut self, attributes: &Attributes<'_>, at: At, sink: &mut dyn GcSink) {
        let end = self.instant(attributes);
        let id = number(attributes, "contextid");
        let Some(index) = self.cycles.iter().position(|cycle| Some(cycle.id) == id) else { return };
        let cycle = self.cycles.remove(index);
        if cycle.pauses == self.pauses {
            return;
        }
        let mut record = GcRecord::new(GcRecordKind::Cycle, cycle.kind, at.source, at.line);
        record.first_line = cycle.line.min(at.line);
        record.scope = Some(GcScope::Whole);
        record.cycle_id = id;
        put_end(&mut record, cycle.begun, end);
        sink.record(record);
    }

    fn end_phase(&mut self, attributes: &Attributes<'_>, at: At, sink: &mut dyn GcSink) {
        let end = self.instant(attributes);
        let Some(phase) = self.concurrent.take() else { return };
        let mut record = GcRecord::new(GcRecordKind::Concurrent, phase.kind, at.source, at.line);
        record.first_line = phase.line.min(at.line);
        record.scope = Some(GcScope::Whole);
        record.cycle_id = phase.cycle_id;
        put_end(&mut record, phase.begun, end);
        sink.record(record);
    }

    fn put_aborted(&mut self) {
        if let Some(pause) = &mut self.pause {
            pause.anomaly(GcAnomaly::Aborted);
        }
    }
}

/// The end of something, and how long it took by the timestamps.
fn put_end(record: &mut GcRecord, begun: GcInstant, end: GcInstant) {
    record.end = end;
    record.duration_ns = end.uptime_ns.zip(begun.uptime_ns).and_then(|(end, begun)| end.checked_sub(begun));
    record.duration_resolution_ns = record.duration_ns.and(end.resolution_ns);
}
