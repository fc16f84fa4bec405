//! A pause before R26: `<af>`, `<sys>` or `<con event="collection">`, with `<gc>` in it.

use super::figures::{milliseconds, number, put_duration};
use super::memory::{Memory, sizes};
use super::tag::Attributes;
use crate::contract::At;
use assay_model::{GcAnomaly, GcInstant, GcRecord, GcRecordKind, GcScope};

/// A pause of which not everything is read yet.
#[derive(Debug)]
pub(super) struct OldPause {
    pub begun: At,
    pub element: &'static str,
    pub stamp: GcInstant,
    pub cause: String,
    /// `<con>` elements within.
    pub inner: u32,
    pub is_in_gc: bool,
    pub has_gc: bool,
    pub kinds: Vec<String>,
    pub cycle_id: Option<u64>,
    pub time_to_safepoint_ns: Option<u64>,
    pub duration: Option<(u64, u64)>,
    pub before: Memory,
    pub after: Option<Memory>,
    pub promoted_bytes: Option<u64>,
    pub anomalies: Vec<GcAnomaly>,
}

impl OldPause {
    pub fn begun_at(&self) -> At {
        self.begun
    }

    pub fn memory(&mut self) -> Option<&mut Memory> {
        match (self.is_in_gc, self.has_gc) {
            (true, _) => Some(self.after.get_or_insert_default()),
            (false, false) => Some(&mut self.before),
            // After the collection memory is logged once more, when the request that caused it is satisfied.
            (false, true) => None,
        }
    }

    pub fn take(&mut self, name: &str, attributes: &Attributes<'_>) {
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
                self.anomalies = vec![GcAnomaly::PromotionFailed];
            }
            "nursery" | "tenured" | "loa" => {
                if let Some(memory) = self.memory() {
                    memory.take_old_part(name, attributes);
                }
            }
            _ => {}
        }
    }

    pub fn end(self, at: At) -> GcRecord {
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
        record.anomalies = self.anomalies;
        record
    }
}
