//! The rules as they stand in `rules.toml`.

use assay_model::{HostRule, HostVerdict, KnownFrom, Severity};
use serde::Deserialize;
use std::sync::LazyLock;

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let file: RuleFile = toml::from_str(include_str!("rules.toml")).expect("the rules are read in a test");
    file.rule
});

/// Stands for the process of a JVM in a path that a rule reads.
pub(crate) const PID: &str = "{pid}";

/// All rules, in the order of the file.
pub(crate) fn rules() -> &'static [Rule] {
    &RULES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<Rule>,
}

/// One rule; the head of `rules.toml` says what the keys mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: HostRule,
    pub(crate) title: String,
    pub(crate) fault: String,
    pub(crate) about: About,
    pub(crate) reads: Vec<String>,
    pub(crate) test: Option<Test>,
    pub(crate) bound: Option<Bound>,
    #[serde(default = "unknown")]
    pub(crate) absent: HostVerdict,
    pub(crate) severity: Severity,
    pub(crate) effect: String,
    pub(crate) evidence: KnownFrom,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) conflicts: Vec<String>,
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) alternatives: Vec<String>,
    pub(crate) persistent: Option<String>,
    pub(crate) undo: Option<String>,
    pub(crate) risk: Option<String>,
    /// Keys of a level of a study.
    pub(crate) level: Option<toml::Table>,
}

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum About {
    Machine,
    Jvm,
}

/// When the value of the rule's file is good.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Test {
    AtLeast(u64),
    Is(Vec<String>),
    /// Of the words in the file, the one in brackets.
    Chosen(Vec<String>),
}

/// The most of a counter since boot that is good.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    PerDay(f64),
    /// Of all that were counted beside it.
    Part(f64),
}

fn unknown() -> HostVerdict {
    HostVerdict::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_rule_stands_once_in_the_file_and_none_has_an_unknown_word() {
        let ids: Vec<HostRule> = rules().iter().map(|rule| rule.id).collect();
        let once: BTreeSet<HostRule> = ids.iter().copied().collect();
        assert_eq!(once, HostRule::ALL.iter().copied().collect());
        assert_eq!(once.len(), ids.len());
        for rule in rules() {
            let known = [KnownFrom::Measured, KnownFrom::Paper, KnownFrom::Vendor, KnownFrom::Folklore];
            assert!(known.contains(&rule.evidence), "{}", rule.id);
            assert!([HostVerdict::Unknown, HostVerdict::NotApplicable].contains(&rule.absent), "{}", rule.id);
            // What is wrong is not called by what should be so.
            assert!(!rule.fault.is_empty() && rule.fault != rule.title, "{}", rule.id);
            // A test is of one file.
            assert!(rule.test.is_none() || rule.reads.len() == 1, "{}", rule.id);
            // A change that is undone by restoring the earlier value needs that value.
            let is_file = rule.reads.first().is_some_and(|path| path.starts_with('/'));
            assert!(
                !rule.undo.as_ref().is_some_and(|undo| undo.contains("{value}")) || is_file,
                "{}",
                rule.id
            );
        }
    }
}
