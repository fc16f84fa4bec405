//! `[[process]]` tables: how many processes of one a variant has, and their names.

use crate::file::program::{CommandLine, ProcessTable, RunAs};
use assay_launch::{JVM_OPTIONS, OWN_NAMES, PORTS};
use std::collections::BTreeMap;

/// Processes of one table.
pub(crate) const COUNT_MAX: u32 = 64;

impl ProcessTable {
    /// Whether a variant with these options has it.
    pub(crate) fn is_wanted(&self, options: &BTreeMap<String, String>) -> bool {
        let has_all = self.when.iter().all(|(option, word)| options.get(option) == Some(word));
        has_all && self.count_with(options) > 0
    }

    /// How many a variant with these options has, if it has any.
    pub(crate) fn count_with(&self, options: &BTreeMap<String, String>) -> u32 {
        let by_word = |(option, counts): (&String, &BTreeMap<String, u32>)| {
            options.get(option).and_then(|word| counts.get(word)).copied()
        };
        self.count_when.iter().find_map(by_word).or(self.count).unwrap_or(1)
    }

    /// How many of all these tables a variant with these options has.
    pub(crate) fn count_all(all: &[ProcessTable], options: &BTreeMap<String, String>) -> u32 {
        all.iter().filter(|table| table.is_wanted(options)).map(|table| table.count_with(options)).sum()
    }

    /// The most that any variant has.
    pub(crate) fn count_max(&self) -> u32 {
        let counts = self.count_when.values().flat_map(BTreeMap::values).copied();
        counts.chain([self.count.unwrap_or(1)]).max().unwrap_or(1).min(COUNT_MAX)
    }

    /// Names that its instances may have: its own if there is one, and with a number if there are several.
    pub(crate) fn roles(&self) -> impl Iterator<Item = String> {
        let several = Some(self.count_max()).filter(|count| *count > 1).unwrap_or(0);
        std::iter::once(self.name.clone()).chain(self.numbered(several))
    }

    /// Names of the instances that a variant with these options has.
    pub(crate) fn roles_with(&self, options: &BTreeMap<String, String>) -> Vec<String> {
        match self.count_with(options) {
            1 => vec![self.name.clone()],
            count => self.numbered(count).collect(),
        }
    }

    fn numbered(&self, count: u32) -> impl Iterator<Item = String> {
        (1..=count).map(|number| format!("{}-{number}", self.name))
    }

    /// Its command lines, by key.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static str, &CommandLine)> {
        let optional = [("prepare", &self.prepare), ("ready_command", &self.ready_command)];
        let optional = optional.into_iter().filter_map(|(key, line)| Some((key, line.as_ref()?)));
        [("command", &self.command)].into_iter().chain(optional)
    }

    /// Whether its command takes JVM options, so that its JVM can be made to write a log into the trial's folder.
    pub(crate) fn may_log(&self) -> bool {
        let words = self.command.words().unwrap_or_default();
        let mut texts = words.iter().chain(self.environment.values());
        self.run_as != Some(RunAs::Unprivileged) && texts.any(|text| text.contains(JVM_OPTIONS))
    }

    /// Whether it is a JVM: that of the variant.
    pub(crate) fn uses_jvm(&self) -> bool {
        let words = self.command.words().unwrap_or_default();
        words.first().is_some_and(|w| w == "java")
            || words
                .iter()
                .chain(self.environment.values())
                .any(|text| text.contains("{java}") || text.contains(JVM_OPTIONS))
    }

    /// The placeholders by which others refer to its processes.
    pub(crate) fn placeholders(&self) -> Vec<String> {
        let of_one = self.roles().flat_map(|role| OWN_NAMES.map(|name| format!("{role}.{name}")));
        of_one.chain([format!("{}.{PORTS}", self.name)]).collect()
    }
}
