//! Entries of two snapshots, paired by path and gathered into causes.

use super::{bounded, difference};
use crate::owners::JDK_LIBRARIES;
use assay_model::{Area, FigureSource, MemoryEntry};
use std::collections::BTreeMap;

/// A part that carries this much of a gathering's change names it.
const NAMING_PERCENT: u64 = 90;
/// Name of what changed little, where the rest of its area is named.
const REST: &str = "everything else";

/// An entry, or several, in both snapshots.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub path: Vec<String>,
    pub before_bytes: u64,
    pub after_bytes: u64,
    /// Growth of what it takes, resident or not; absent where either snapshot does not know.
    pub size_change: Option<i64>,
    pub count_change: Option<i64>,
    pub source: FigureSource,
    /// Paths and changes of the entries, the biggest change first.
    pub parts: Vec<(Vec<String>, i64)>,
}

impl Change {
    pub fn bytes(&self) -> i64 {
        difference(self.before_bytes, self.after_bytes)
    }

    pub fn area(&self) -> Option<Area> {
        Area::of_path(&self.path)
    }
}

/// Pairs the entries of two snapshots. An entry that only one of them has had, or has, no bytes in the other.
pub(super) fn pair(before: &[MemoryEntry], after: &[MemoryEntry]) -> Vec<Change> {
    let mut by_path: BTreeMap<&[String], [Vec<&MemoryEntry>; 2]> = BTreeMap::new();
    for (entries, i) in [(before, 0), (after, 1)] {
        for entry in entries {
            by_path.entry(&entry.path).or_default()[i].push(entry);
        }
    }
    by_path.into_iter().map(|(path, [before, after])| change_of(path, &before, &after)).collect()
}

fn change_of(path: &[String], before: &[&MemoryEntry], after: &[&MemoryEntry]) -> Change {
    let resident = |entries: &[&MemoryEntry]| {
        bounded(entries.iter().fold(0, |sum, l| u64::saturating_add(sum, l.resident_bytes)))
    };
    // An entry that is not there has no bytes and no blocks: that is known.
    let sum = |entries: &[&MemoryEntry], of: fn(&MemoryEntry) -> Option<u64>| {
        entries.iter().try_fold(0u64, |sum, entry| Some(sum.saturating_add(of(entry)?)))
    };
    let change = |of: fn(&MemoryEntry) -> Option<u64>| Some(difference(sum(before, of)?, sum(after, of)?));
    let (before_bytes, after_bytes) = (resident(before), resident(after));
    let sources = before.iter().chain(after).map(|entry| entry.source);
    Change {
        path: path.to_vec(),
        before_bytes,
        after_bytes,
        size_change: change(|entry| entry.size_bytes),
        count_change: change(|entry| entry.count),
        source: sources.max().unwrap_or(FigureSource::Kernel),
        parts: vec![(path.to_vec(), difference(before_bytes, after_bytes))],
    }
}

/// How many parts of a path distinguish the causes of an area.
fn telling_parts(path: &[String]) -> usize {
    match Area::of_path(path) {
        // One cause, in however many arenas, heaps or loaders.
        Some(
            Area::ClassMetadata
            | Area::JitCode
            | Area::FreedResident
            | Area::AllocatorOverhead
            | Area::MallocHeap
            | Area::NativeAnonymous,
        ) => 1,
        // Each native library is a cause of its own.
        Some(Area::JvmWork) if path.get(1).is_some_and(|part| part == JDK_LIBRARIES) => 3,
        _ => 2,
    }
}

/// The beginning of an entry's path that names its cause.
pub(crate) fn cause_of(path: &[String]) -> &[String] {
    &path[..telling_parts(path).min(path.len())]
}

/// Gathers changes that mean the same; those of less than `small_bytes` into the rest of their area.
pub(super) fn gather(changes: Vec<Change>, small_bytes: u64) -> Vec<Change> {
    let mut groups: BTreeMap<Vec<String>, Vec<Change>> = BTreeMap::new();
    for change in changes {
        let key = cause_of(&change.path).to_vec();
        groups.entry(key).or_default().push(change);
    }
    let mut gathered = Vec::new();
    let mut rests: BTreeMap<Option<String>, Vec<Change>> = BTreeMap::new();
    for (path, members) in groups {
        let (path, members, others) = named(path, members);
        let whole = merged(path, members);
        let rest = rests.entry(whole.path.first().cloned()).or_default();
        rest.extend(others);
        if whole.bytes().unsigned_abs() < small_bytes { rest.push(whole) } else { gathered.push(whole) }
    }
    for (area, members) in rests.into_iter().filter(|(_, members)| !members.is_empty()) {
        let is_named = gathered.iter().any(|change| change.path.first() == area.as_ref());
        let path = area.into_iter().chain(is_named.then(|| REST.to_owned())).collect();
        gathered.push(merged(path, members));
    }
    gathered
}

/// How far down a path a cause is named. Of a thread's stack, what is in use and what is left from deeper calls are distinguished
/// apart, but what grew is the stack.
fn named_parts_max(path: &[String]) -> usize {
    if Area::of_path(path) == Some(Area::Stacks) { 3 } else { usize::MAX }
}

/// Goes down from a branch as long as one part carries nearly all of its change. Gives the path, what lies beneath it, and
/// what does not.
fn named(mut path: Vec<String>, mut members: Vec<Change>) -> (Vec<String>, Vec<Change>, Vec<Change>) {
    let mut others = Vec::new();
    let weight = |members: &[Change]| {
        members.iter().fold(0u64, |sum, member| sum.saturating_add(member.bytes().unsigned_abs()))
    };
    while path.len() < named_parts_max(&path) {
        let depth = path.len();
        let mut by_part: BTreeMap<&str, u64> = BTreeMap::new();
        for member in &members {
            if let Some(part) = member.path.get(depth) {
                let part = by_part.entry(part).or_default();
                *part = part.saturating_add(member.bytes().unsigned_abs());
            }
        }
        let all = u128::from(weight(&members));
        let Some((part, most)) = by_part.into_iter().max_by_key(|(_, weight)| *weight) else { break };
        if all == 0 || u128::from(most) * 100 < all * u128::from(NAMING_PERCENT) {
            break;
        }
        let part = part.to_owned();
        let (within, without) = members.into_iter().partition(|member| member.path.get(depth) == Some(&part));
        members = within;
        others.extend::<Vec<Change>>(without);
        path.push(part);
    }
    (path, members, others)
}

fn merged(path: Vec<String>, members: Vec<Change>) -> Change {
    let sum = |of: fn(&Change) -> Option<i64>| {
        members.iter().try_fold(0i64, |sum, member| Some(sum.saturating_add(of(member)?)))
    };
    let add =
        |of: fn(&Change) -> u64| members.iter().fold(0u64, |sum, member| sum.saturating_add(of(member)));
    let (size_change, count_change) = (sum(|m| m.size_change), sum(|m| m.count_change));
    let (before_bytes, after_bytes) = (bounded(add(|m| m.before_bytes)), bounded(add(|m| m.after_bytes)));
    let source = members.iter().map(|member| member.source).max().unwrap_or(FigureSource::Kernel);
    let mut parts: Vec<_> = members.into_iter().flat_map(|member| member.parts).collect();
    parts.sort_by(|a, b| b.1.unsigned_abs().cmp(&a.1.unsigned_abs()).then_with(|| a.0.cmp(&b.0)));
    Change { path, before_bytes, after_bytes, size_change, count_change, source, parts }
}
