//! The incremental collector of GraalVM's native images, in the form of its older and its newer releases.

use crate::told::{Told, read};
use assay_model::GcScope;

/// What was collected, bytes before and after, and nanoseconds.
type Pause = (Option<GcScope>, Option<u64>, Option<u64>, Option<u64>);

fn pauses(told: &Told) -> Vec<Pause> {
    let of = |record: &assay_model::GcRecord| {
        (record.scope, record.heap.before_bytes, record.heap.after_bytes, record.duration_ns)
    };
    told.pauses().map(of).collect()
}

#[test]
fn both_forms_give_collections_with_their_bytes() {
    let newer = read(
        b"[0.234s] GC(0) Pause Incremental GC (Collect on allocation) 5.25M->2.00M 3.456ms\n\
          [1.234s] GC(1) Pause Full GC (Collect on allocation) 261.50M->138.25M 610.123ms\n",
    );
    assert_eq!(
        pauses(&newer),
        [
            (Some(GcScope::Young), Some(21 << 18), Some(2 << 20), Some(3_456_000)),
            (Some(GcScope::Full), Some(523 << 19), Some(553 << 18), Some(610_123_000)),
        ]
    );
    let older = read(
        b"[Incremental GC (CollectOnAllocation) 54657K->28412K, 0.0132000 secs]\n\
          [Full GC (CollectOnAllocation) 261136K->138236K, 0.6110000 secs]\n",
    );
    assert_eq!(
        pauses(&older),
        [
            (Some(GcScope::Young), Some(54_657 << 10), Some(28_412 << 10), Some(13_200_000)),
            (Some(GcScope::Full), Some(261_136 << 10), Some(138_236 << 10), Some(611_000_000)),
        ]
    );
    assert_eq!((newer.unrecognized.len(), older.unrecognized.len()), (0, 0));
}
