//! Advice in a log with a leak: more heap only delays the end, whatever else it would help.

use super::rule::Found;
use assay_model::Severity;

/// The rule of the leak.
const LEAK: &str = "live-set-grows";
/// Words of every step that asks for more heap.
const MORE_HEAP: &str = "raise -Xmx";
/// The step of a finding that has no other.
const FIRST: &str = "Stop the growth of the live set first: compare two heap dumps";

/// Takes the advice of more heap out of findings beside a leak. In a log so short that a start looks the same (a note) it stays.
pub(super) fn advise_no_more_heap(found: &mut [Found]) {
    if !found.iter().any(|one| one.rule == LEAK && Severity::Warning <= one.severity) {
        return;
    }
    for change in found.iter_mut().filter_map(|one| one.change.as_mut()) {
        change.alternatives.retain(|way| !way.contains(MORE_HEAP));
        if change.command.contains(MORE_HEAP) {
            let others = std::mem::take(&mut change.alternatives);
            let mut others = others.into_iter();
            change.command = others.next().unwrap_or_else(|| FIRST.to_owned());
            change.alternatives = others.collect();
            // It was that of more room.
            change.expected_effect = None;
        }
    }
}
