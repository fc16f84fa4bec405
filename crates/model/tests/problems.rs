//! Problems stored by other versions.

use assay_model::*;

fn read(text: &str) -> Problem {
    serde_json::from_str(text).expect("a problem")
}

#[test]
fn a_reason_of_a_newer_program_is_another_one() {
    let newer = read(r#"{"about":"x","reason":"moon-phase","text":"full"}"#);
    assert_eq!(newer, Problem::new("x", "full"));
    let known = Problem::because(Reason::LoadGenerator, "x", "late");
    let stored = serde_json::to_string(&known).expect("it is written");
    assert_eq!(stored, r#"{"about":"x","reason":"load-generator","text":"late"}"#);
    assert_eq!(read(&stored), known);
}
