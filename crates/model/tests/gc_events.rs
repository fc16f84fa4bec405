//! Stored lines of what a collector did.

use assay_model::*;

fn record(line: &str) -> Option<GcRecord> {
    serde_json::from_str::<GcEventsLine>(line).expect("a stored line").into_record()
}

#[test]
fn a_line_is_a_heading_or_a_record() {
    assert_eq!(record(&format!(r#"{{"kind":"schema","schema":"{}"}}"#, schema::GC_EVENTS)), None);
    assert_eq!(record(r#"{"kind":"source","source":0,"name":"gc.log"}"#), None);
    let now =
        GcRecord { duration_ns: Some(5), ..GcRecord::new(GcRecordKind::Concurrent, "Concurrent Mark", 0, 3) };
    assert_eq!(record(&serde_json::to_string(&now).expect("a line")), Some(now));
}
