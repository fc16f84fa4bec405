//! Pauses before R26, as their tags come.

use super::J9;
use super::figures::number;
use super::memory::Memory;
use super::tag::Attributes;
use crate::contract::{At, GcSink};

use super::old::OldPause;

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
            anomalies: Vec::new(),
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
