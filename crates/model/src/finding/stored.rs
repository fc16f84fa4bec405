//! Reading findings, also in the forms of earlier versions, in which each kind had keys of its own.

use super::{Change, Finding, KnownFrom};
use crate::Severity;
use serde::{Deserialize, Deserializer};

/// The keys of every form. `why` is of `assay.host-check/1`, where `evidence` was a word of [`KnownFrom`].
#[derive(Deserialize)]
struct Stored<R> {
    rule: R,
    severity: Option<Severity>,
    #[serde(alias = "title")]
    claim: String,
    evidence: Option<StoredEvidence>,
    why: Option<String>,
    #[serde(default)]
    at: Vec<(usize, u64)>,
    known_from: Option<KnownFrom>,
    source: Option<String>,
    effect: Option<String>,
    gain_bytes: Option<u64>,
    #[serde(default)]
    is_at_least: bool,
    #[serde(alias = "setting", alias = "options")]
    change: Option<StoredChange>,
    brings: Option<String>,
}

/// A list, or the one text of earlier versions.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredEvidence {
    One(String),
    List(Vec<String>),
}

/// A change, or the one text of earlier versions, or the options of `assay.heap-modes/2`.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredChange {
    Command(String),
    Options(Vec<String>),
    Whole(Change),
}

impl<'de, R: Deserialize<'de>> Deserialize<'de> for Finding<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::<R>::deserialize(deserializer)?;
        let (evidence, known_from) = match (stored.evidence, stored.why) {
            (Some(StoredEvidence::One(word)), Some(why)) => {
                let of_word = KnownFrom::ALL.iter().find(|known| known.word() == word).copied();
                (vec![why], of_word.unwrap_or(KnownFrom::Other))
            }
            (Some(StoredEvidence::One(text)), None) => (vec![text], KnownFrom::Measured),
            (Some(StoredEvidence::List(list)), _) => (list, KnownFrom::Measured),
            (None, why) => (why.into_iter().collect(), KnownFrom::Measured),
        };
        let change = stored.change.map(|change| match change {
            StoredChange::Command(command) => Change { command, ..Change::default() },
            StoredChange::Options(options) => Change { command: options.join(" "), ..Change::default() },
            StoredChange::Whole(change) => change,
        });
        Ok(Finding {
            rule: stored.rule,
            // Those kinds that had none spoke only of what costs something.
            severity: stored.severity.unwrap_or(Severity::Warning),
            claim: stored.claim,
            evidence,
            at: stored.at,
            known_from: stored.known_from.unwrap_or(known_from),
            source: stored.source,
            effect: stored.effect,
            gain_bytes: stored.gain_bytes,
            is_at_least: stored.is_at_least,
            change: change
                .map(|change| Change { expected_effect: stored.brings.or(change.expected_effect), ..change }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GcRule, HostRule, MemoryRule, ModeRule, StudyRule, TimeRule};

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
}
