//! GC records stored by every version.

use assay_model::*;

fn record(line: &str) -> Option<GcRecord> {
    serde_json::from_str::<StoredGcLine>(line).expect("a stored line").into_record()
}

#[test]
fn lines_of_every_version_are_read() {
    let before = r#"{"id":7,"kind":"full","cause":"System.gc()","end_monotonic_ns":2642225000002,"end_uptime_s":0.13,
        "pause_ns":918000,"before_bytes":100,"after_bytes":10,"capacity_bytes":200,"line":13}"#;
    let old = record(before).expect("a pause");
    assert_eq!(
        (old.kind, old.scope, old.duration_ns),
        (GcRecordKind::Pause, Some(GcScope::Full), Some(918_000))
    );
    assert_eq!((old.end.monotonic_ns, old.end.uptime_ns), (Some(2_642_225_000_002), Some(130_000_000)));
    assert_eq!((old.heap.before_bytes, old.heap.after_bytes, old.cycle_id), (Some(100), Some(10), Some(7)));
    let stop = record(&before.replace("full", "concurrent-stop")).expect("a stop");
    assert_eq!((stop.kind, stop.scope), (GcRecordKind::Pause, None));

    assert_eq!(record(r#"{"kind":"schema","schema":"assay.gc-events/2"}"#), None);
    assert_eq!(record(r#"{"kind":"source","source":0,"name":"gc.log"}"#), None);
    let now =
        GcRecord { duration_ns: Some(5), ..GcRecord::new(GcRecordKind::Concurrent, "Concurrent Mark", 0, 3) };
    assert_eq!(record(&serde_json::to_string(&now).expect("a line")), Some(now));
}
