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
