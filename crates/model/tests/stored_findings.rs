//! Findings stored by earlier versions.

use assay_model::*;

fn change(command: &str) -> Change {
    Change { command: command.to_owned(), ..Change::default() }
}

#[track_caller]
fn is_read<R>(text: &str, wanted: &Finding<R>)
where
    R: serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(&serde_json::from_str::<Finding<R>>(text).expect("a finding"), wanted);
}

#[test]
fn findings_of_earlier_versions_are_read_with_all_that_they_say() {
    is_read(
        r#"{"rule":"busy-wait","severity":"note","claim":"c","evidence":"e; f","setting":"s"}"#,
        &Finding::measured(TimeRule::BusyWait, Severity::Note, "c", "e; f").to_do("s"),
    );
    is_read(
        r#"{"rule":"malloc-arenas","claim":"c","evidence":"e","setting":"s","gain_bytes":7,"is_at_least":true}"#,
        &Finding {
            gain_bytes: Some(7),
            is_at_least: true,
            change: Some(change("s")),
            ..Finding::measured(MemoryRule::MallocArenas, Severity::Warning, "c", "e")
        },
    );
    is_read(
        r#"{"rule":"full-gc","severity":"error","claim":"c","evidence":"e","at":[[0,3]],"change":"s","brings":"b"}"#,
        &Finding {
            change: Some(Change { expected_effect: Some("b".to_owned()), ..change("s") }),
            ..Finding::measured(GcRule::FullGc, Severity::Error, "c", "e").at([(0, 3)])
        },
    );
    is_read(
        r#"{"rule":"full-gc","severity":"note","claim":"c","evidence":"e","at":[],"change":null,"brings":null}"#,
        &Finding::measured(GcRule::FullGc, Severity::Note, "c", "e"),
    );
    is_read(
        r#"{"rule":"all-disturbed","claim":"c","evidence":"e"}"#,
        &Finding::measured(StudyRule::AllDisturbed, Severity::Warning, "c", "e"),
    );
    is_read(
        r#"{"rule":"alignment-16","options":["-Xmx48g","-XX:ObjectAlignmentInBytes=16"],"claim":"c"}"#,
        &Finding {
            evidence: vec![],
            ..Finding::measured(ModeRule::Alignment16, Severity::Warning, "c", "")
                .to_do("-Xmx48g -XX:ObjectAlignmentInBytes=16")
        },
    );
}

#[test]
fn a_verdict_on_the_machine_of_the_first_version_keeps_where_it_is_known_from() {
    let text = |word: &str| {
        format!(
            r#"{{"rule":"thp-mode","title":"t","severity":"note","why":"w","effect":"f","evidence":"{word}","source":"who",
                "change":{{"command":"c","persistent":null,"undo":"u","risk":null}}}}"#
        )
    };
    let wanted = |known_from| Finding {
        known_from,
        source: Some("who".to_owned()),
        effect: Some("f".to_owned()),
        change: Some(Change { undo: Some("u".to_owned()), ..change("c") }),
        ..Finding::measured(HostRule::ThpMode, Severity::Note, "t", "w")
    };
    is_read(&text("folklore"), &wanted(KnownFrom::Folklore));
    is_read(&text("measured"), &wanted(KnownFrom::Measured));
    is_read(&text("hearsay of a newer version"), &wanted(KnownFrom::Other));
}
