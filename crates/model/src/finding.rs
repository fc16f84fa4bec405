//! A claim with its evidence: the one form of what rules find in memory, CPU time, GC logs, heaps, studies and machines.

use crate::Severity;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

closed! {
    /// Where it is known from what a finding speaks of, the best first.
    KnownFrom {
        /// Measured here, or counted by the kernel or the JVM.
        Measured = "measured",
        /// Published with a method.
        Paper = "paper",
        /// Said by who makes the kernel, the JVM or the machine.
        Vendor = "vendor",
        /// Said everywhere.
        Folklore = "folklore",
    }
}

/// A claim with its evidence, and what to do about it. `R` is the id of the rule that made it: a `RuleId`, or a closed enum where code
/// reacts to particular rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding<R> {
    /// The rule that made the claim.
    pub rule: R,
    /// How grave it is.
    pub severity: Severity,
    /// The claim: one sentence.
    pub claim: String,
    /// What it rests on: figures with units.
    pub evidence: Vec<String>,
    /// Where that stands in the logs that were read: index of the source and line, the first few.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub at: Vec<(usize, u64)>,
    /// Where it is known from.
    pub known_from: KnownFrom,
    /// Source, where that is not this measurement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effect: Option<String>,
    /// Resident bytes that it speaks of, whatever the change would bring of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resident_bytes: Option<u64>,
    /// Resident bytes that the change would bring, predicted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gain_bytes: Option<u64>,
    /// CPU time that it speaks of, within what was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_ns: Option<u64>,
    /// Whether it is a lower bound of the effect: the rest is not visible from outside.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_at_least: bool,
    /// Recommended action; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<Change>,
}

/// What to do about a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The one step: the command or option to type, or a sentence that asks for one thing.
    pub command: String,
    /// Options that the step gives the JVM, each as it is typed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub jvm_options: Vec<String>,
    /// Variables of the program's environment that the step sets, and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub environment: BTreeMap<String, String>,
    /// What helps instead of the step, or besides it: a sentence for each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub alternatives: Vec<String>,
    /// What it may bring, and what it costs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_effect: Option<String>,
    /// The form that survives a restart of the machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persistent: Option<String>,
    /// How to undo it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undo: Option<String>,
    /// What may go wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub risk: Option<String>,
}

/// Which of two findings stands above the other: the smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    is_folklore: bool,
    severity: Reverse<Severity>,
    known_from: KnownFrom,
    resident_bytes: Reverse<Option<u64>>,
    gain_bytes: Reverse<Option<u64>>,
    cpu_ns: Reverse<Option<u64>>,
}

impl Change {
    /// A step that starts the program with options of the JVM, variables of its environment, or both. `rest` ends its sentence.
    pub fn to_set(jvm_options: &[&str], environment: &[(&str, &str)], rest: &str) -> Change {
        let options = jvm_options.join(" ");
        let variables: Vec<String> =
            environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let variables = variables.join(" ");
        let command = match (options.is_empty(), variables.is_empty()) {
            (_, true) => format!("Set {options}{rest}"),
            (true, false) => format!("Set {variables} in the environment{rest}"),
            (false, false) => format!("Set {options} with {variables} in the environment{rest}"),
        };
        let of_variable = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Change {
            command,
            jvm_options: jvm_options.iter().map(|option| (*option).to_owned()).collect(),
            environment: environment.iter().map(of_variable).collect(),
            ..Change::default()
        }
    }
}

/// A step in words.
impl From<String> for Change {
    fn from(command: String) -> Change {
        Change { command, ..Change::default() }
    }
}

/// A step in words.
impl From<&str> for Change {
    fn from(command: &str) -> Change {
        command.to_owned().into()
    }
}

impl<R> Finding<R> {
    /// A claim that rests on what was measured here.
    pub fn measured(
        rule: R,
        severity: Severity,
        claim: impl Into<String>,
        evidence: impl Into<String>,
    ) -> Self {
        Finding {
            rule,
            severity,
            claim: claim.into(),
            evidence: vec![evidence.into()],
            at: Vec::new(),
            known_from: KnownFrom::Measured,
            source: None,
            effect: None,
            resident_bytes: None,
            gain_bytes: None,
            cpu_ns: None,
            is_at_least: false,
            change: None,
        }
    }

    /// The same, with where its evidence stands.
    #[must_use]
    pub fn at(self, places: impl IntoIterator<Item = (usize, u64)>) -> Self {
        Finding { at: places.into_iter().collect(), ..self }
    }

    /// The same, with the CPU time that it speaks of.
    #[must_use]
    pub fn of_cpu(self, cpu_ns: u64) -> Self {
        Finding { cpu_ns: Some(cpu_ns), ..self }
    }

    /// The same, with the resident bytes that it speaks of.
    #[must_use]
    pub fn of_resident(self, resident_bytes: u64) -> Self {
        Finding { resident_bytes: Some(resident_bytes), ..self }
    }

    /// The same, with the one step that its evidence supports best.
    #[must_use]
    pub fn to_do(self, step: impl Into<Change>) -> Self {
        Finding { change: Some(step.into()), ..self }
    }

    /// The same, with one more alternative to its step; without a step there is none.
    #[must_use]
    pub fn or(mut self, alternative: impl Into<String>) -> Self {
        if let Some(change) = &mut self.change {
            change.alternatives.push(alternative.into());
        }
        self
    }

    /// The step, as it is typed; empty where there is nothing to do.
    pub fn command(&self) -> &str {
        self.change.as_ref().map_or("", |change| &change.command)
    }

    /// The step, then its alternatives; none where there is nothing to do.
    pub fn ways(&self) -> impl Iterator<Item = &str> {
        let step = self.change.iter().map(|change| &change.command);
        let alternatives = self.change.iter().flat_map(|change| &change.alternatives);
        step.chain(alternatives).map(String::as_str)
    }

    /// All that it rests on, in one line.
    pub fn evidence_line(&self) -> String {
        self.evidence.join("; ")
    }

    /// Its place among others. Folklore stands below all that is known better, whatever its severity; then the graver, the better
    /// known, that of more resident bytes, the larger gain and the more CPU time stand above.
    pub fn rank(&self) -> Rank {
        Rank {
            is_folklore: KnownFrom::Folklore <= self.known_from,
            severity: Reverse(self.severity),
            known_from: self.known_from,
            resident_bytes: Reverse(self.resident_bytes),
            gain_bytes: Reverse(self.gain_bytes),
            cpu_ns: Reverse(self.cpu_ns),
        }
    }

    /// Puts findings into their order; among equals the earlier one stays above.
    pub fn sort(findings: &mut [Self]) {
        findings.sort_by_key(Finding::rank);
    }
}
