//! The second oracle: what the JVM itself told of the same run (`GcCorpus.java`).

use super::kept::Kept;
use assay_model::{GcRecord, GcRecordKind};
use serde_json::Value;
use std::collections::BTreeMap;

/// Half of the last digit of the log, and the recorder's own rounding.
const ROUNDING_NS: u64 = 501;

/// What a log was held against.
#[derive(Debug, Default)]
pub struct Held {
    pub pauses: u64,
    /// Largest difference of one pause, nanoseconds.
    pub worst_ns: u64,
    /// Heap figures that were held.
    pub sizes: u64,
}

fn rows<'a>(truth: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    truth[name].as_array().into_iter().flatten()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().expect("a number")
}

/// Holds the records of one JVM against its truth; faults in words.
pub fn hold(kept: &Kept, truth: &Value, collector: &str, faults: &mut Vec<String>) -> Held {
    let mut held = Held::default();
    hold_pauses(kept, truth, collector, &mut held, faults);
    hold_sizes(kept, truth, collector, &mut held, faults);
    hold_notifications(kept, truth, collector, faults);
    held
}

fn pauses_by_id(kept: &Kept) -> BTreeMap<u64, Vec<&GcRecord>> {
    let mut by_id: BTreeMap<u64, Vec<&GcRecord>> = BTreeMap::new();
    for pause in kept.of(GcRecordKind::Pause) {
        by_id.entry(pause.cycle_id.unwrap_or(u64::MAX)).or_default().push(pause);
    }
    by_id
}

/// Each collection that the flight recorder has whole has the same number of pauses, and each pause the same length.
fn hold_pauses(kept: &Kept, truth: &Value, collector: &str, held: &mut Held, faults: &mut Vec<String>) {
    let read = pauses_by_id(kept);
    let is_exact = collector.ends_with('z');
    let mut sums_ns = (0, 0);
    for collection in rows(truth, "collections") {
        let id = number(collection, "id");
        let mut said: Vec<u64> = rows(truth, "pauses")
            .filter(|row| number(row, "id") == id)
            .map(|row| number(row, "duration_ns"))
            .collect();
        let mut found: Vec<u64> =
            read.get(&id).into_iter().flatten().filter_map(|pause| pause.duration_ns).collect();
        if said.len() != found.len() {
            faults.push(format!("GC({id}): the JVM has {} pauses, read were {}", said.len(), found.len()));
            continue;
        }
        said.sort_unstable();
        found.sort_unstable();
        held.pauses += said.len() as u64;
        sums_ns.0 += said.iter().sum::<u64>();
        sums_ns.1 += found.iter().sum::<u64>();
        for (said, found) in said.into_iter().zip(found) {
            held.worst_ns = held.worst_ns.max(said.abs_diff(found));
            if is_exact && said.abs_diff(found) > ROUNDING_NS {
                faults.push(format!("GC({id}): a pause of {said} ns was read as {found} ns"));
            }
        }
    }
    // The others read the clock for the log some code before and after they do for the recorder.
    let (said, found) = sums_ns;
    if said.abs_diff(found) > said / 4 + held.pauses * 2_000_000 {
        faults.push(format!("{} pauses of {said} ns altogether were read as {found} ns", held.pauses));
    }
}

/// Heap figures of a collection are those of the flight recorder, at the resolution that the record states.
///
/// Serial's and Parallel's are sums over generations, each rounded down. G1's line of the pause counts the region that is being
/// filled as full, its recorder and the log's own table of the heap do not; and of a concurrent cycle the recorder has the heap at the ends of the cycle, which no pause has.
/// The concurrent collectors' recorder looks at other moments than the log.
fn hold_sizes(kept: &Kept, truth: &Value, collector: &str, held: &mut Held, faults: &mut Vec<String>) {
    if !matches!(collector, "serial" | "parallel" | "g1") {
        return;
    }
    let cycles: Vec<u64> = rows(truth, "collections")
        .filter(|row| row["name"] == "G1Old")
        .map(|row| number(row, "id"))
        .collect();
    for (id, pauses) in pauses_by_id(kept) {
        let [pause] = pauses[..] else { continue };
        if cycles.contains(&id) {
            continue;
        }
        for (when, read) in [("Before GC", pause.heap.before_bytes), ("After GC", pause.heap.after_bytes)] {
            let said: Vec<u64> = rows(truth, "heap")
                .filter(|row| number(row, "id") == id && row["when"] == when)
                .map(|row| number(row, "used_bytes"))
                .collect();
            let (Some(read), Some(step), false) = (read, pause.heap.resolution_bytes, said.is_empty()) else {
                continue;
            };
            let slack = match (collector, step) {
                ("g1", 1_048_576) => 2 << 20,
                ("g1", _) => step,
                _ => 2 * step,
            };
            if !said.iter().any(|said| said.abs_diff(read) < slack) {
                faults
                    .push(format!("GC({id}) {when}: {said:?} bytes were read as {read} in steps of {step}"));
            }
            held.sizes += 1;
        }
    }
}

/// The management interface has sent a notification for each pause of a collector without concurrent cycles.
fn hold_notifications(kept: &Kept, truth: &Value, collector: &str, faults: &mut Vec<String>) {
    let sent = rows(truth, "notifications").count();
    // What comes after the end of the recording, while the program writes the truth, may have none.
    let last = rows(truth, "collections").map(|row| number(row, "id")).max();
    let pauses = kept.of(GcRecordKind::Pause).filter(|pause| pause.duration_ns.is_some());
    // JDK 17 sends none for G1's Remark and Cleanup, later ones by a sender of their own.
    let pauses: Vec<&GcRecord> = pauses
        .filter(|p| !p.phase.starts_with("Pause Remark") && !p.phase.starts_with("Pause Cleanup"))
        .collect();
    if !matches!(collector, "serial" | "parallel" | "g1") {
        return;
    }
    let recorded = pauses.iter().filter(|pause| pause.cycle_id <= last).count();
    let sent_for_pauses =
        rows(truth, "notifications").filter(|row| row["bean"] != "G1 Concurrent GC").count();
    // The program listens from its first line: what the JVM collects before that has none either.
    if sent_for_pauses > pauses.len() || recorded > sent_for_pauses + 1 {
        faults.push(format!(
            "{sent} notifications, {sent_for_pauses} of pauses; {recorded} of {} read",
            pauses.len()
        ));
    }
}
