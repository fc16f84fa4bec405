//! A pause since R26: what stands between `<exclusive-start>` and `<exclusive-end>`.

use super::figures::{milliseconds, number, put_duration};
use super::memory::{Memory, sizes};
use super::tag::{Attributes, unescaped};
use crate::contract::At;
use assay_model::{GcAnomaly, GcCpu, GcInstant, GcRecord, GcRecordKind, GcScope};

/// Collections in one pause: a scavenge that gives up is followed by a global one, and no third.
const COLLECTIONS_MAX: usize = 8;
/// J9 counts CPU time in microseconds.
const CPU_STEP_NS: u64 = 1_000;

/// A pause of which not everything is read yet.
#[derive(Debug, Default)]
pub(super) struct Pause {
    begun: At,
    time_to_safepoint_ns: Option<u64>,
    cause: Option<String>,
    /// Type of each collection in it, once.
    kinds: Vec<String>,
    cycle_id: Option<u64>,
    has_cycle_start: bool,
    /// It ends a concurrent cycle.
    is_final: bool,
    before: Option<Memory>,
    after: Option<Memory>,
    user_ns: Option<u64>,
    sys_ns: Option<u64>,
    work_ns: Option<u64>,
    workers: Option<u64>,
    allocated_bytes: Option<u64>,
    promoted_bytes: Option<u64>,
    thread: Option<(u64, String)>,
    anomalies: Vec<GcAnomaly>,
}

impl Pause {
    pub fn new(at: At) -> Self {
        Pause { begun: at, ..Pause::default() }
    }

    pub fn begun_at(&self) -> At {
        self.begun
    }

    pub fn begin_cycle(&mut self, id: u64) {
        self.has_cycle_start = true;
        self.cycle_id = self.cycle_id.or(Some(id));
    }

    /// `<gc-start type contextid>`
    pub fn begin_collection(&mut self, attributes: &Attributes<'_>, memory: Memory) {
        if let Some(kind) = attributes.get("type")
            && self.kinds.len() < COLLECTIONS_MAX
            && self.kinds.iter().all(|known| known != kind)
        {
            self.kinds.push(kind.to_owned());
        }
        self.cycle_id = number(attributes, "contextid").or(self.cycle_id);
        // Of several collections the first shows what was there before, the last what is left.
        self.before.get_or_insert(memory);
    }

    /// `<gc-end durationms usertimems systemtimems activeThreads>`
    pub fn end_collection(&mut self, attributes: &Attributes<'_>, memory: Memory) {
        self.after = Some(memory);
        let add = |sum: &mut Option<u64>, name: &str| {
            if let Some((ns, _)) = milliseconds(attributes, name) {
                *sum = Some(sum.unwrap_or(0).saturating_add(ns));
            }
        };
        add(&mut self.user_ns, "usertimems");
        add(&mut self.sys_ns, "systemtimems");
        add(&mut self.work_ns, "durationms");
        self.workers = self.workers.max(number(attributes, "activeThreads"));
    }

    /// Where the memory that follows belongs.
    pub fn memory(&mut self, is_before: bool) -> Option<&mut Memory> {
        // A second collection's memory before is that in between.
        if is_before && self.after.is_some() {
            return None;
        }
        if is_before { self.before.as_mut() } else { self.after.as_mut() }
    }

    /// Other elements; false when the element is nothing to a pause.
    pub fn take(&mut self, name: &str, attributes: &Attributes<'_>) -> bool {
        match name {
            "response-info" => {
                self.time_to_safepoint_ns = milliseconds(attributes, "timems").map(|(ns, _)| ns);
            }
            "af-start" => self.cause("allocation failure", attributes.get("type")),
            "sys-start" => self.cause("system", attributes.get("reason")),
            "allocation-taxation" => self.cause("allocation taxation", None),
            "concurrent-collection-start" | "concurrent-global-final" => {
                self.is_final = true;
                self.cause("concurrent collection", None);
            }
            "percolate-collect" => self.cause("percolate", attributes.get("reason")),
            "allocation-stats" => add(&mut self.allocated_bytes, number(attributes, "totalBytes")),
            "largest-consumer" => self.consumer(attributes),
            "memory-copied" if attributes.get("type") == Some("tenure") => {
                add(&mut self.promoted_bytes, number(attributes, "bytes"));
            }
            "copy-failed" if attributes.get("type") == Some("tenure") => {
                self.anomaly(GcAnomaly::PromotionFailed);
            }
            "warning"
                if attributes.get("details").is_some_and(|text| text.contains("aborted collection")) =>
            {
                self.anomaly(GcAnomaly::PromotionFailed);
            }
            _ => return false,
        }
        true
    }

    fn cause(&mut self, what: &str, why: Option<&str>) {
        if self.cause.is_none() {
            self.cause =
                Some(why.map_or_else(|| what.to_owned(), |why| format!("{what} ({})", unescaped(why))));
        }
    }

    fn consumer(&mut self, attributes: &Attributes<'_>) {
        let (Some(name), Some(bytes)) = (attributes.get("threadName"), number(attributes, "bytes")) else {
            return;
        };
        if self.thread.as_ref().is_none_or(|(most, _)| *most < bytes) {
            self.thread = Some((bytes, unescaped(name)));
        }
    }

    pub fn anomaly(&mut self, anomaly: GcAnomaly) {
        if !self.anomalies.contains(&anomaly) {
            self.anomalies.push(anomaly);
        }
    }

    /// The pause has ended.
    pub fn end(self, end: GcInstant, duration: Option<(u64, u64)>, at: At) -> GcRecord {
        // The JVM stops all threads for other work too, and says nothing of it then.
        let is_collection = !self.kinds.is_empty() || self.has_cycle_start || self.cause.is_some();
        let kind = if is_collection { GcRecordKind::Pause } else { GcRecordKind::Safepoint };
        let mut record = GcRecord::new(kind, self.phase(), at.source, at.line);
        record.first_line = if self.begun.source == at.source { self.begun.line } else { 1 };
        record.scope = self.scope();
        record.end = end;
        put_duration(&mut record, duration);
        if let (Some(user_ns), Some(sys_ns)) = (self.user_ns, self.sys_ns) {
            record.cpu = Some(GcCpu { user_ns, sys_ns, real_ns: self.work_ns, resolution_ns: CPU_STEP_NS });
        }
        if self.before.is_some() || self.after.is_some() {
            let (heap, spaces) = sizes(&self.before.unwrap_or_default(), &self.after.unwrap_or_default());
            record.heap = heap;
            record.spaces = spaces;
        }
        record.cause = self.cause;
        record.cycle_id = self.cycle_id;
        record.time_to_safepoint_ns = self.time_to_safepoint_ns;
        record.workers = self.workers;
        record.allocated_bytes = self.allocated_bytes;
        record.promoted_bytes = self.promoted_bytes;
        record.thread = self.thread.map(|(_, name)| name);
        record.anomalies = self.anomalies;
        record
    }

    fn phase(&self) -> String {
        match (self.kinds.is_empty(), self.has_cycle_start || self.cause.is_some()) {
            (false, _) => self.kinds.join(", "),
            // The first, short stop of a concurrent cycle.
            (true, true) => "cycle-start".to_owned(),
            (true, false) => "exclusive access".to_owned(),
        }
    }

    fn scope(&self) -> Option<GcScope> {
        let is = |kind: &str| self.kinds.iter().any(|known| known == kind);
        if (is("global") || is("global garbage collect")) && !self.is_final {
            Some(GcScope::Full)
        } else if is("global") || is("global mark phase") || is("global garbage collect") {
            Some(GcScope::Whole)
        } else if is("partial gc") {
            Some(GcScope::Mixed)
        } else if is("scavenge") {
            Some(GcScope::Young)
        } else {
            (self.kinds.is_empty() && self.has_cycle_start).then_some(GcScope::Whole)
        }
    }
}

fn add(sum: &mut Option<u64>, bytes: Option<u64>) {
    if let Some(bytes) = bytes {
        *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
    }
}
