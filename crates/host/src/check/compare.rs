//! What differs between two snapshots: two machines, or one before and after.

use super::check;
use assay_model::{
    FileRead, HostComparison, HostReport, HostRuling, HostSnapshot, RulingChange, SettingChange, schema,
};
use std::collections::BTreeSet;

/// Folders whose files are settings. Others count, and differ from moment to moment.
const SETTINGS: [&str; 2] = ["/proc/sys/", "/sys/"];
/// Below them, what counts all the same.
const COUNTERS: [&str; 2] = ["/proc/sys/fs/file-nr", "/proc/sys/net/netfilter/nf_conntrack_count"];

/// What differs. JVMs of two snapshots do not correspond, so only rules about the machine are compared.
pub fn compare(before: &HostSnapshot, after: &HostSnapshot) -> HostComparison {
    let reports = [check(before), check(after)];
    let of_machine = |report: &HostReport| {
        report.rulings.iter().filter(|r| r.pid.is_none()).cloned().collect::<Vec<HostRuling>>()
    };
    let [old, new] = [&reports[0], &reports[1]].map(of_machine);
    let pairs = old
        .iter()
        .filter_map(|old| Some((old, new.iter().find(|new| new.finding.rule == old.finding.rule)?)));
    let changed = pairs.filter(|(old, new)| old.verdict != new.verdict).map(|(old, new)| RulingChange {
        rule: old.finding.rule,
        title: old.finding.claim.clone(),
        verdicts: [old.verdict, new.verdict],
        values: [old.value.clone(), new.value.clone()],
    });
    HostComparison {
        schema: schema::HOST_COMPARISON.to_owned(),
        taken_at: [before.taken_at.clone(), after.taken_at.clone()],
        rulings: changed.collect(),
        settings: settings(before, after),
        machine: machine(before, after),
    }
}

fn settings(before: &HostSnapshot, after: &HostSnapshot) -> Vec<SettingChange> {
    let is_setting = |path: &&String| {
        SETTINGS.iter().any(|folder| path.starts_with(folder)) && !COUNTERS.contains(&path.as_str())
    };
    let paths: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).filter(is_setting).collect();
    let value = |of: &HostSnapshot, path: &String| match of.files.get(path) {
        Some(FileRead::Text(text)) => Some(text.trim().to_owned()),
        _ => None,
    };
    let pairs = paths
        .into_iter()
        .map(|path| SettingChange { name: path.clone(), values: [value(before, path), value(after, path)] });
    pairs.filter(|change| change.values[0] != change.values[1]).collect()
}

fn machine(before: &HostSnapshot, after: &HostSnapshot) -> Vec<SettingChange> {
    let facts = [before, after].map(|of| {
        let of = &of.provenance;
        [
            ("kernel", of.kernel.clone()),
            ("operating system", of.os.clone()),
            ("architecture", Some(of.architecture.clone())),
            ("processor", of.cpu_model.clone()),
            ("processors", of.cpus.map(|cpus| cpus.to_string())),
            ("memory, bytes", of.memory_bytes.map(|bytes| bytes.to_string())),
        ]
    });
    let [old, new] = facts;
    let pairs = old.into_iter().zip(new);
    pairs
        .filter(|((_, old), (_, new))| old != new)
        .map(|((name, old), (_, new))| SettingChange { name: name.to_owned(), values: [old, new] })
        .collect()
}
