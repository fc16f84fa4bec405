//! The arithmetic of windows, on a heap whose allocation is known.

use super::*;
use assay_model::{GcInstant, GcSizes};
use proptest::prelude::*;

fn event(end_ns: u64, before: u64, after: u64) -> GcRecord {
    GcRecord {
        scope: Some(GcScope::Young),
        end: GcInstant { monotonic_ns: Some(end_ns), ..GcInstant::default() },
        duration_ns: Some(1_000),
        heap: GcSizes { before_bytes: Some(before), after_bytes: Some(after), ..GcSizes::default() },
        ..GcRecord::new(GcRecordKind::Pause, "Pause Young", 0, 1)
    }
}

#[test]
fn the_first_collection_of_a_window_only_starts_the_count() {
    let events = [event(10, 100, 20), event(20, 110, 30), event(30, 120, 25), event(40, 130, 25)];
    let got = freed_between(&events, 15, 35).unwrap();
    assert_eq!((got.first_gc_end_ns, got.last_gc_end_ns, got.collections), (20, 30, 1));
    assert_eq!((got.freed_bytes, got.allocated_bytes), (95, 90));
    assert_eq!((got.first_after_bytes, got.last_after_bytes, got.pause_ns_total), (30, 25, 1_000));
}

#[test]
fn a_window_with_fewer_than_two_collections_says_nothing() {
    let events = [event(10, 100, 20), event(20, 110, 30)];
    assert_eq!(freed_between(&events, 15, 35), None);
    assert_eq!(freed_between(&events, 25, 35), None);
    assert_eq!(freed_between(&[], 0, u64::MAX), None);
}

#[test]
fn a_hole_in_the_bytes_or_times_gives_no_sum() {
    let mut events = [event(10, 100, 20), event(20, 110, 30), event(30, 120, 25)];
    events[1].heap.after_bytes = None;
    assert_eq!(freed_between(&events, 0, 100), None);
    assert!(freed_between(&events, 25, 100).is_none(), "one collection only");
    let mut events = [event(10, 100, 20), event(20, 110, 30)];
    events[0].end.monotonic_ns = None;
    assert_eq!(freed_between(&events, 15, 100), None);
    assert_eq!(pauses_between(&events, 15, 100), None);
}

#[test]
fn bytes_that_contradict_themselves_give_no_sum() {
    assert_eq!(freed_between(&[event(10, 100, 50), event(20, 40, 30)], 0, 100), None);
    assert_eq!(freed_between(&[event(10, 100, 50), event(20, 60, 90)], 0, 100), None);
    assert_eq!(freed_between(&[event(20, 100, 50), event(10, 60, 20)], 0, 100), None);
}

#[test]
fn a_stop_of_a_concurrent_cycle_never_begins_or_ends_the_count_but_what_it_frees_counts() {
    let stop = |end_ns, before, after| GcRecord { scope: Some(GcScope::Old), ..event(end_ns, before, after) };
    let mib = 1 << 20;
    let (live, filled) = (2 * mib + 77, 24 * mib + 99);
    // Allocated since the collection at 10: 22 MiB and 22 bytes before the remark frees 4 MiB, then what
    // fills them.
    let events = [
        stop(5, mib, mib),
        event(10, filled, live),
        stop(15, 17 * mib, 13 * mib),
        event(20, filled, live),
        stop(25, 3 * mib, mib),
    ];
    let got = freed_between(&events, 0, 100).unwrap();
    assert_eq!((got.first_gc_end_ns, got.last_gc_end_ns, got.collections), (10, 20, 1));
    assert_eq!(got.freed_bytes, filled - live + 4 * mib);
    assert_eq!(got.allocated_bytes, filled - live + 4 * mib);
    assert_eq!(got.pause_ns_total, 2_000);
    assert_eq!(freed_between(&events[..3], 0, 100), None);
}

#[test]
fn what_a_sweep_frees_is_not_known_and_gives_no_sum() {
    let sweep = GcRecord {
        end: GcInstant { monotonic_ns: Some(15), ..GcInstant::default() },
        ..GcRecord::new(GcRecordKind::Concurrent, "Concurrent Sweep", 0, 1)
    };
    let records = [event(10, 100, 20), sweep, event(20, 110, 30), event(30, 120, 25)];
    assert_eq!(freed_between(&records, 0, 100), None);
    assert!(freed_between(&records, 16, 100).is_some());
}

#[test]
fn a_window_with_one_collection_counts_from_the_one_before_where_that_is_known() {
    let events = [event(10, 100, 20), event(20, 110, 30), event(30, 120, 25)];
    assert_eq!(freed_until(&events, Some(5), 25, 35), freed_between(&events, 20, 35));
    assert_eq!(freed_until(&events, Some(21), 25, 35), None);
    assert_eq!(freed_until(&events, None, 25, 35), None);
    assert_eq!(freed_until(&events, Some(5), 31, 35), None, "no collection within");
    assert_eq!(freed_until(&events, Some(5), 15, 35), freed_between(&events, 15, 35));
}

#[test]
fn of_a_pause_over_an_edge_only_the_part_inside_counts() {
    let events = [event(10_500, 1, 1), event(15_000, 1, 1), event(20_400, 1, 1)];
    let got = pauses_between(&events, 10_000, 20_000).unwrap();
    assert_eq!(
        got,
        PauseWindow { pauses: 3, stopped_ns: 500 + 1_000 + 600, pause_ns_max: Some(1_000), cpu_ns: None }
    );
}

proptest! {
    /// A synthetic heap: each request allocates a known number of bytes, each collection keeps what it keeps.
    #[test]
    fn allocation_of_a_synthetic_heap_is_found_to_the_byte(
        bytes_per_request in 1u64..1_000_000,
        requests in prop::collection::vec(1u64..1_000, 2..60),
        kept in prop::collection::vec(0u64..10_000, 60),
        edges in (0usize..60, 0usize..60),
    ) {
        let mut in_use = 0;
        let mut events = Vec::new();
        for (i, requests) in requests.iter().enumerate() {
            in_use += requests * bytes_per_request;
            let after = in_use.min(kept[i]);
            events.push(event(100 * (i as u64 + 1), in_use, after));
            in_use = after;
        }
        let (from, to) = (edges.0.min(edges.1), edges.0.max(edges.1));
        if let Some(got) = freed_between(&events, 100 * from as u64 + 50, 100 * to as u64 + 50) {
            // Collections from+1 ..= to end inside; the requests between the first and the last of them
            // count.
            let last = to.min(requests.len());
            let served: u64 = requests[from + 1..last].iter().sum();
            prop_assert_eq!(got.allocated_bytes, served * bytes_per_request);
            prop_assert_eq!(
                i128::from(got.freed_bytes),
                i128::from(got.allocated_bytes) + i128::from(got.first_after_bytes)
                    - i128::from(got.last_after_bytes)
            );
        }
    }
}
