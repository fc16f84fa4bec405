//! Plans stored by earlier versions.

use assay_model::*;

#[test]
fn the_procedure_is_stored_in_the_keys_that_earlier_plans_have() {
    let stored = |procedure: &PlannedProcedure| serde_json::to_value(procedure).expect("plain data");
    let read = |text: &str| serde_json::from_str::<PlannedProcedure>(text).expect("a procedure");
    assert_eq!(read("{}"), PlannedProcedure::Windows);
    assert_eq!(stored(&PlannedProcedure::Windows), serde_json::json!({"subject": "server"}));
    assert_eq!(read(r#"{"subject": "benchmark"}"#), PlannedProcedure::Benchmark);
    let text = r#"{"subject": "server", "capacity": {"method": "search", "percentile": 99.0, "limits_ms": [10.0],
        "budget_s": 300.0, "connections": 256, "in_flight_max": 10000}}"#;
    let search = read(text);
    assert!(search.measures_once() && search.capacity().is_some_and(|c| c.limits_ms == [10.0]));
    assert_eq!(stored(&search), serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
}
