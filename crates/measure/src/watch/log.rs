//! Puts the stops that the server's GC log shows on the time line of the requests.

use crate::observation::{Observation, Span};
use assay_gcstudy::{LiveStops, Stop};
use assay_model::LateCause;

/// Adds the stops between two instants, and which kinds of them the log shows.
pub(super) fn add(log: &LiveStops, seen: &mut Observation, from_ns: u64, to_ns: u64) {
    let Some(stops) = log.between(from_ns, to_ns) else { return };
    let mut add = |cause, stops: Vec<Stop>| {
        seen.watched.push(cause);
        let span = |stop: Stop| Span { cause, start_ns: stop.start_ns, end_ns: stop.end_ns, share: 1.0 };
        seen.spans.extend(stops.into_iter().map(span));
    };
    add(LateCause::GcPause, stops.pauses);
    if let Some(safepoints) = stops.other_safepoints {
        add(LateCause::Safepoint, safepoints);
    }
}
