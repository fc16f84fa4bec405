//! The order of findings, and their stored form.

use assay_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn finding(severity: Severity, known_from: KnownFrom, gain_bytes: Option<u64>) -> Finding<RuleId> {
    let measured = Finding::measured(RuleId::of("malloc-arenas"), severity, "a claim", "12 arenas");
    Finding { known_from, gain_bytes, ..measured }
}

#[test]
fn folklore_never_stands_above_a_measurement_and_then_the_graver_the_better_known_and_the_larger_first() {
    use KnownFrom::{Folklore, Measured, Paper, Vendor};
    use Severity::{Error, Note, Warning};
    let sorted = [
        finding(Error, Measured, None),
        finding(Warning, Measured, None).of_resident(8),
        finding(Warning, Measured, Some(3)).of_resident(7),
        finding(Warning, Measured, Some(2)),
        finding(Warning, Measured, Some(1)),
        finding(Warning, Measured, None),
        finding(Warning, Paper, Some(9)),
        finding(Warning, Vendor, Some(9)),
        finding(Note, Measured, None),
        finding(Note, Vendor, None),
        finding(Error, Folklore, Some(9)),
        finding(Warning, Folklore, None),
        finding(Note, Folklore, None),
    ];
    for turn in 0..sorted.len() {
        let mut findings = sorted.to_vec();
        findings.rotate_left(turn);
        findings.swap(1, 7);
        Finding::sort(&mut findings);
        assert_eq!(findings, sorted);
    }
}

#[track_caller]
fn is_read_back<R: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(rule: R) {
    let bare = Finding::measured(rule, Severity::Note, "a claim", "12 of 13");
    let stored = serde_json::to_string(&bare).expect("it is written");
    assert!(!stored.contains("null") && !stored.contains("change"), "{stored}");
    assert_eq!(serde_json::from_str::<Finding<R>>(&stored).expect("a finding"), bare);
    let text = |text: &str| Some(text.to_owned());
    let change = Change {
        command: "-Xmx1g".to_owned(),
        jvm_options: vec!["-Xmx1g".to_owned()],
        environment: [("MALLOC_ARENA_MAX".to_owned(), "2".to_owned())].into(),
        alternatives: vec!["-Xmx2g".to_owned()],
        expected_effect: text("room"),
        persistent: text("the same in a file"),
        undo: text("-Xmx2g"),
        risk: text("a full heap"),
    };
    let whole = Finding {
        evidence: vec!["12 of 13".to_owned(), "nothing else".to_owned()],
        at: vec![(0, 7), (1, 9)],
        known_from: KnownFrom::Vendor,
        source: text("JDK documentation"),
        effect: text("time"),
        resident_bytes: Some(6),
        gain_bytes: Some(5),
        is_at_least: true,
        change: Some(change),
        ..bare
    };
    let stored = serde_json::to_string(&whole).expect("it is written");
    assert_eq!(serde_json::from_str::<Finding<R>>(&stored).expect("a finding"), whole);
}

#[test]
fn findings_of_every_kind_are_read_back() {
    is_read_back(RuleId::of("malloc-arenas"));
    is_read_back(HostRule::ThpMode);
    is_read_back(StudyRule::AllDisturbed);
}

#[test]
fn a_newer_version_s_rule_keeps_its_id_and_other_words_are_read_as_another_one() {
    let newer =
        r#"{"rule":"moon-phase","severity":"note","claim":"c","evidence":["e"],"known_from":"hearsay"}"#;
    let read: Finding<RuleId> = serde_json::from_str(newer).expect("a finding");
    assert_eq!((read.rule.as_str(), read.known_from), ("moon-phase", KnownFrom::Other));
    let read: Finding<StudyRule> = serde_json::from_str(newer).expect("a finding");
    assert_eq!(read.rule, StudyRule::Other);
}

#[test]
fn a_step_that_sets_something_has_it_bare_beside_its_sentence() {
    let options = Change::to_set(&["-Xmx1g", "-Xms1g"], &[], ", twice the live set");
    assert_eq!(options.command, "Set -Xmx1g -Xms1g, twice the live set");
    assert_eq!(options.jvm_options, ["-Xmx1g", "-Xms1g"]);
    let variable = Change::to_set(&[], &[("MALLOC_ARENA_MAX", "2")], " (slower)");
    assert_eq!(variable.command, "Set MALLOC_ARENA_MAX=2 in the environment (slower)");
    assert_eq!(variable.environment["MALLOC_ARENA_MAX"], "2");
    let both = Change::to_set(&["-Xmx1g"], &[("MALLOC_ARENA_MAX", "2")], "");
    assert_eq!(both.command, "Set -Xmx1g with MALLOC_ARENA_MAX=2 in the environment");
    assert!(Change::from("Restart it").jvm_options.is_empty());
}
