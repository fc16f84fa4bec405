//! A pause before R26: `<af>`, `<sys>` or `<con event="collection">`, with `<gc>` in it.

use super::memory::{Memory, sizes};
use super::tag::Attributes;
use super::{J9, milliseconds, number, put_duration};
use crate::dialect::At;
use crate::stream::GcSink;
use assay_model::{GcInstant, GcRecord, GcRecordKind, GcScope, GcTrouble};

/// A pause of which not everything is read yet.
#[derive(Debug)]
pub(super) struct OldPause {
    begun: At,
    element: &'static str,
    stamp: GcInstant,
    cause: String,
    /// `<con>` elements within.
    inner: u32,
    is_in_gc: bool,
    has_gc: bool,
    kinds: Vec<String>,
    cycle_id: Option<u64>,
    time_to_safepoint_ns: Option<u64>,
    duration: Option<(u64, u64)>,
    before: Memory,
    after: Option<Memory>,
    promoted_bytes: Option<u64>,
    troubles: Vec<GcTrouble>,
}

impl OldPause {
    pub fn begun_at(&self) -> At {
        self.begun
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        match (self.is_in_gc, self.has_gc) {
            (true, _) => Some(self.after.get_or_insert_default()),
            (false, false) => Some(&mut self.before),
            // After the collection memory is told once more, when the request that caused it is satisfied.
            (false, true) => None,
        }
    }

    fn take(&mut self, name: &str, attributes: &Attributes<'_>) {
        match name {
            "time" if self.is_in_gc => {}
            "time" => {
                if let Some((ns, _)) = milliseconds(attributes, "exclusiveaccessms") {
                    self.time_to_safepoint_ns = Some(ns);
                }
                self.duration = milliseconds(attributes, "totalms").or(self.duration);
            }
            // Within a scavenge it is what was promoted.
            "tenured" if attributes.get("objectcount").is_some() => {
                self.promoted_bytes = number(attributes, "bytes");
            }
            "failed" if attributes.get("type") == Some("tenured") => {
                self.troubles = vec![GcTrouble::PromotionFailed];
            }
            "nursery" | "tenured" | "loa" => {
                if let Some(memory) = self.memory() {
                    memory.take_old_part(name, attributes);
                }
            }
            _ => {}
        }
    }

    fn end(self, at: At) -> GcRecord {
        let phase = if self.kinds.is_empty() { self.element.to_owned() } else { self.kinds.join(", ") };
        let mut record = GcRecord::new(GcRecordKind::Pause, phase, at.source, at.line);
        record.first_line = if self.begun.source == at.source { self.begun.line } else { 1 };
        let is = |kind: &str| self.kinds.iter().any(|known| known == kind);
        record.scope = match (is("global"), is("scavenger")) {
            (true, _) if self.element == "con" => Some(GcScope::Whole),
            (true, _) => Some(GcScope::Full),
            (false, true) => Some(GcScope::Young),
            (false, false) => None,
        };
        record.cause = Some(self.cause);
        record.cycle_id = self.cycle_id;
        // The timestamp is that of the beginning.
        record.end = GcInstant {
            uptime_ns: self
                .stamp
                .uptime_ns
                .and_then(|ns| ns.checked_add(self.duration.map_or(0, |(ns, _)| ns))),
            ..self.stamp
        };
        put_duration(&mut record, self.duration);
        record.time_to_safepoint_ns = self.time_to_safepoint_ns;
        let (heap, spaces) = sizes(&self.before, &self.after.unwrap_or_default());
        record.heap = heap;
        record.spaces = spaces;
        record.promoted_bytes = self.promoted_bytes;
        record.troubles = self.troubles;
        record
    }
}

impl J9 {
    pub(super) fn open_old(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        is_empty: bool,
        at: At,
        sink: &mut dyn GcSink,
    ) {
        match (name, &mut self.old) {
            ("con", Some(pause)) => pause.inner += u32::from(!is_empty),
            ("af", _) if !is_empty => self.begin_old("af", attributes, at, sink),
            ("sys", _) if !is_empty => self.begin_old("sys", attributes, at, sink),
            ("con", None) if !is_empty && attributes.get("event") == Some("collection") => {
                self.begin_old("con", attributes, at, sink);
            }
            ("gc", _) if !is_empty => self.begin_old_collection(attributes, at, sink),
            (_, Some(pause)) => pause.take(name, attributes),
            _ => {}
        }
    }

    fn begin_old(
        &mut self,
        element: &'static str,
        attributes: &Attributes<'_>,
        at: At,
        sink: &mut dyn GcSink,
    ) {
        if let Some(lost) = self.old.take() {
            sink.problem(lost.begun_at().problem("the end of a pause is missing"));
        }
        let cause = match element {
            "af" => attributes
                .get("type")
                .map_or("allocation failure".to_owned(), |of| format!("allocation failure ({of})")),
            "sys" => "system".to_owned(),
            _ => "concurrent collection".to_owned(),
        };
        self.old = Some(OldPause {
            begun: at,
            element,
            stamp: self.instant(attributes),
            cause,
            inner: 0,
            is_in_gc: false,
            has_gc: false,
            kinds: Vec::new(),
            cycle_id: None,
            time_to_safepoint_ns: None,
            duration: None,
            before: Memory::default(),
            after: None,
            promoted_bytes: None,
            troubles: Vec::new(),
        });
    }

    /// `<gc type="global" id="14" totalid="14">`: the total ids of all types follow one another.
    fn begin_old_collection(&mut self, attributes: &Attributes<'_>, at: At, sink: &mut dyn GcSink) {
        let total = number(attributes, "totalid");
        if let Some(total) = total {
            self.totals.take(total, at, sink);
        }
        let Some(pause) = &mut self.old else { return };
        pause.cycle_id = pause.cycle_id.or(total);
        pause.is_in_gc = true;
        // Of several collections the last shows what is left.
        pause.after = None;
        if let Some(kind) = attributes.get("type")
            && pause.kinds.len() < 8
            && pause.kinds.iter().all(|known| known != kind)
        {
            pause.kinds.push(kind.to_owned());
        }
    }

    pub(super) fn close_old(&mut self, name: &str, at: At, sink: &mut dyn GcSink) {
        let Some(pause) = &mut self.old else { return };
        match name {
            "gc" => {
                pause.is_in_gc = false;
                pause.has_gc = true;
            }
            "con" if pause.inner > 0 => pause.inner -= 1,
            _ if name == pause.element => {
                self.pauses += 1;
                if let Some(pause) = self.old.take() {
                    sink.record(pause.end(at));
                }
            }
            _ => {}
        }
    }
}
