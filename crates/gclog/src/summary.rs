//! A log in short: the stored form of `assay gc --json`.

use crate::window::Ledger;
use assay_model::{GcEvent, GcLog, GcSummary, PausePercentiles, PauseSummary, schema};

/// Sums a log up. Freed and allocated bytes are absent when no collection (for allocated: no two that follow
/// each other) gives its bytes, or when the sum is below zero, which only a damaged log can bring about.
pub fn summarise(log: &GcLog) -> GcSummary {
    GcSummary {
        schema: schema::GC.to_owned(),
        jvm: log.jvm.clone(),
        collector: log.collector.clone(),
        pauses: pauses(&log.events),
        freed_bytes: freed_bytes(&log.events),
        allocated_bytes: allocated_bytes(&log.events),
        mode: log.mode.clone(),
        lines: log.lines,
        lines_not_understood: log.lines_not_understood,
        problems: log.problems.clone(),
    }
}

fn pauses(events: &[GcEvent]) -> PauseSummary {
    let mut pauses_ns: Vec<u64> = events.iter().map(|event| event.pause_ns).collect();
    pauses_ns.sort_unstable();
    let total_ns: u128 = pauses_ns.iter().map(|ns| u128::from(*ns)).sum();
    PauseSummary {
        count: pauses_ns.len() as u64,
        total_ms: total_ns as f64 / 1e6,
        percentiles: PausePercentiles {
            p50_ms: percentile_ms(&pauses_ns, 0.5),
            p99_ms: percentile_ms(&pauses_ns, 0.99),
            max_ms: percentile_ms(&pauses_ns, 1.0),
        },
    }
}

/// The smallest pause that is at least as long as this share of all (nearest rank): always a pause that
/// happened.
fn percentile_ms(sorted_ns: &[u64], share: f64) -> Option<f64> {
    let rank = (share * sorted_ns.len() as f64).ceil().max(1.0) as usize;
    sorted_ns.get(rank - 1).map(|ns| *ns as f64 / 1e6)
}

fn freed_bytes(events: &[GcEvent]) -> Option<u64> {
    let freed = events.iter().filter_map(|e| Some(i128::from(e.before_bytes?) - i128::from(e.after_bytes?)));
    sum(freed)
}

/// From the end of the first collection on; a collection without bytes makes the count start anew after it.
fn allocated_bytes(events: &[GcEvent]) -> Option<u64> {
    let stretches = events.split(|event| event.before_bytes.is_none() || event.after_bytes.is_none());
    sum(stretches.filter(|stretch| stretch.len() > 1).map(|stretch| {
        let mut ledger = Ledger::default();
        for event in stretch {
            ledger.enter(event);
        }
        ledger.allocated
    }))
}

/// `None` for no terms or a sum below zero.
fn sum(terms: impl Iterator<Item = i128>) -> Option<u64> {
    let total = terms.fold(None, |sum: Option<i128>, term| Some(sum.unwrap_or(0) + term));
    total?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::GcEventKind;

    fn event(pause_ns: u64, before_bytes: Option<u64>, after_bytes: Option<u64>) -> GcEvent {
        GcEvent {
            id: 0,
            kind: GcEventKind::Young,
            cause: None,
            end_monotonic_ns: None,
            end_uptime_s: None,
            pause_ns,
            before_bytes,
            after_bytes,
            capacity_bytes: None,
            line: 1,
        }
    }

    #[test]
    fn freed_and_allocated_are_sums_over_what_is_known() {
        let log = GcLog {
            events: vec![
                event(1_000_000, Some(100), Some(40)),
                event(3_000_000, Some(90), Some(30)),
                event(2_000_000, None, None),
            ],
            ..GcLog::default()
        };
        let summary = summarise(&log);
        assert_eq!((summary.freed_bytes, summary.allocated_bytes), (Some(120), Some(50)));
        assert_eq!((summary.pauses.count, summary.pauses.total_ms), (3, 6.0));
        assert_eq!(summary.pauses.percentiles.p50_ms, Some(2.0));
        assert_eq!(summary.pauses.percentiles.p99_ms, Some(3.0));
    }

    #[test]
    fn a_log_without_pauses_has_no_percentiles_and_no_bytes() {
        let summary = summarise(&GcLog::default());
        assert_eq!((summary.freed_bytes, summary.allocated_bytes), (None, None));
        assert_eq!(summary.pauses, PauseSummary::default());
    }
}
