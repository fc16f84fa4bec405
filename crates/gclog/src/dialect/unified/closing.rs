//! Shenandoah's closing statistics, held against what was read.
//!
//! At its end Shenandoah says how many pauses of each kind and how many collections there were. Each count of pauses must be that of
//! the records, to the unit. What is not held against:
//!
//! - sums of times: the statistics read their clock at other instants than the lines of pauses do, some µs apart each;
//! - counts of concurrent phases: one that is cancelled has its line, and no place in the statistics;
//! - `Completed GCs`, and JDK 25's `Degenerated GCs`: they count a collection again when it becomes a full one.
//!
//! Two differences are none: the statistics leave out a cycle that the end of the JVM cut off, and count one that ended without updating
//! references (nothing was to be evacuated), which before JDK 17 has no line of its own.

use crate::contract::At;
use crate::contract::GcSink;
use crate::scan::Scan;
use assay_model::{GcReconciliation, GcRecord, GcRecordKind};
use std::collections::BTreeMap;

/// Kinds that are counted; there are about ten.
const KINDS_MAX: usize = 64;

/// What was read of a Shenandoah's run.
#[derive(Debug, Clone, Default)]
pub(super) struct Closing {
    /// Pauses by what they are called, without generations.
    pauses: BTreeMap<String, u64>,
    /// Degenerated pauses by where in the cycle they began.
    degenerated_at: BTreeMap<String, u64>,
    /// Cycles that came to their end beside the application.
    successful: u64,
    /// The last cycle that had a pause, and its pauses.
    last_cycle: (Option<u64>, BTreeMap<String, u64>),
    /// The counts that follow are those of degenerated collections: JDK 28 counts stalls by the same words.
    is_of_degenerated: bool,
    /// Full collections that the statistics have, until they say how many of them had no pause of their own.
    full_said: Option<u64>,
}

impl Closing {
    /// Counts a record.
    pub fn count(&mut self, record: &GcRecord) {
        let is_last_of_cycle = record.phase.starts_with("Pause Final Update Refs")
            || record.phase.starts_with("Pause Final Roots")
            || record.phase.starts_with("Concurrent Final Roots");
        self.successful += u64::from(is_last_of_cycle);
        if record.kind != GcRecordKind::Pause {
            return;
        }
        let (name, groups) = record.phase.split_once(" (").unwrap_or((&record.phase, ""));
        add(&mut self.pauses, name);
        if self.last_cycle.0 != record.cycle_id {
            self.last_cycle = (record.cycle_id, BTreeMap::new());
        }
        add(&mut self.last_cycle.1, name);
        if name == "Pause Degenerated GC" {
            let place = groups.rsplit(" (").next().unwrap_or(groups).trim_end_matches(')');
            add(&mut self.degenerated_at, place);
        }
    }

    /// Takes a line of `gc,stats`, and compares it.
    pub fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) {
        if text.starts_with("Pause ") {
            if let Some((name, said)) = pauses_said(text) {
                // JDK 11 lines `Init  Update Refs` up with `Final Update Refs`.
                let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
                let name = if name == "Pause Full GC" { "Pause Full" } else { &name };
                let of = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
                let (read, cut_off) = (of(&self.pauses), of(&self.last_cycle.1));
                tell(name, said, said.clamp(read - cut_off, read), at, sink);
            }
            return;
        }
        let mut scan = Scan(text);
        let Some(said) = scan.number() else { return };
        let what = scan.0.trim_ascii_start();
        if let Some(place) = what.strip_prefix("happened at ").filter(|_| self.is_of_degenerated) {
            let place = if place == "Update References" { "Update Refs" } else { place };
            let read = self.degenerated_at.get(place).copied().unwrap_or(0);
            tell(&format!("Degenerated GCs at {place}"), said, read, at, sink);
        } else if what.starts_with("Successful Concurrent GCs") || what == "successful concurrent GCs" {
            let most = self.successful.max(self.pauses.get("Pause Final Mark").copied().unwrap_or(0));
            tell("Successful Concurrent GCs", said, said.clamp(self.successful, most), at, sink);
        } else if what.starts_with("Degenerated GCs") || what.starts_with("Stalls") {
            self.is_of_degenerated = what.starts_with('D');
        } else if what.starts_with("Full GCs") {
            self.full_said = Some(said);
        } else if what.starts_with("upgraded from Degenerated GC")
            && let Some(full) = self.full_said.take()
        {
            let read = self.pauses.get("Pause Full").copied().unwrap_or(0);
            tell("Full GCs with a pause of their own", full.saturating_sub(said), read, at, sink);
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str) {
    if let Some(count) = counts.get_mut(name) {
        *count += 1;
    } else if counts.len() < KINDS_MAX {
        counts.insert(name.to_owned(), 1);
    }
}

/// `Pause Init Mark (N)   =    0.001 s (a =       32 us) (n =    33) (lvls, us = ..)`: name and count.
fn pauses_said(text: &str) -> Option<(&str, u64)> {
    let mut scan = Scan(text);
    let name = scan.until(" (N) ")?;
    scan.blanks();
    scan.literal("= ")?;
    scan.until("(n = ")?;
    scan.blanks();
    Some((name, scan.number()?))
}

fn tell(what: &str, said: u64, read: u64, at: At, sink: &mut dyn GcSink) {
    sink.reconciliation(GcReconciliation {
        what: what.to_owned(),
        logged: said as f64,
        read: read as f64,
        rounding: 0.0,
        at: (at.source, at.line),
    });
}
