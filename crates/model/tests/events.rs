//! The stored form of run events.

use assay_model::*;

#[test]
fn an_event_that_was_written_is_read() {
    let kind = RunEventKind::WarmUpProgress { number: 1, elapsed_s: 4.5, cpu_ms_per_request: None };
    let event = RunEvent { at: "2026-01-01T00:00:00Z".to_owned(), elapsed_s: 9.5, remaining_s: None, kind };
    let text = serde_json::to_string(&event).expect("plain data");
    assert_eq!(serde_json::from_str::<RunEvent>(&text).expect("an event"), event);
}
