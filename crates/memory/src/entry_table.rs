//! The entries of one snapshot: each path once, with how it was established.

use assay_model::{Area, FigureSource};
use std::collections::HashMap;
use std::num::NonZeroU32;

/// An entry and the source that gave it bytes, as a small number that spans and blocks carry. Never 0, so that a block without
/// an owner takes no more room than one with: blocks may be millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntryId(NonZeroU32);

impl EntryId {
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// That of an index.
    pub(crate) fn of_index(index: usize) -> Option<EntryId> {
        NonZeroU32::new(u32::try_from(index).ok()?.checked_add(1)?).map(EntryId)
    }
}

/// What a [`EntryId`] stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EntryKey {
    pub(crate) area: Area,
    /// Beneath the area, down to the entry.
    pub(crate) below: Vec<String>,
    pub(crate) source: FigureSource,
}

/// Names read from the process (loaders, threads, files) may be many; beyond this number they share one entry.
const LEAVES_MAX: usize = 20_000;

/// All entries of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct EntryTable {
    keys: Vec<EntryKey>,
    ids: HashMap<EntryKey, EntryId>,
    counts: HashMap<(Area, Vec<String>), u64>,
    explanations: HashMap<(Area, Vec<String>), &'static str>,
}

impl EntryTable {
    /// The entry at a path.
    pub(crate) fn entry<S: AsRef<str>>(&mut self, area: Area, below: &[S], source: FigureSource) -> EntryId {
        let below: Vec<String> = below.iter().map(|part| part.as_ref().to_owned()).collect();
        let key = EntryKey { area, below, source };
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let key = if self.keys.len() < LEAVES_MAX {
            key
        } else {
            EntryKey { below: vec!["more than can be listed".to_owned()], ..key }
        };
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        self.keys.push(key.clone());
        // There are fewer than `LEAVES_MAX` and a few more.
        let id = EntryId(NonZeroU32::new(self.keys.len() as u32).unwrap_or(NonZeroU32::MAX));
        self.ids.insert(key, id);
        id
    }

    /// The same with a sentence that says what it is.
    pub(crate) fn explained(
        &mut self,
        area: Area,
        below: &[&str],
        source: FigureSource,
        explanation: &'static str,
    ) -> EntryId {
        let path = below.iter().map(|part| (*part).to_owned()).collect();
        self.explanations.insert((area, path), explanation);
        self.entry(area, below, source)
    }

    /// Sets the number of things that an entry stands for, where it is not the number of its blocks.
    pub(crate) fn set_count(&mut self, area: Area, below: &[&str], count: u64) {
        self.counts.insert((area, below.iter().map(|part| (*part).to_owned()).collect()), count);
    }

    pub(crate) fn count(&self, key: &EntryKey) -> Option<u64> {
        self.counts.get(&(key.area, key.below.clone())).copied()
    }

    #[cfg(test)]
    pub(crate) fn key(&self, id: EntryId) -> &EntryKey {
        &self.keys[id.index()]
    }

    pub(crate) fn keys(&self) -> &[EntryKey] {
        &self.keys
    }

    pub(crate) fn explanation(&self, key: &EntryKey) -> Option<&'static str> {
        // A sentence on a branch holds for what is beneath it.
        let mut path = key.below.clone();
        loop {
            if let Some(text) = self.explanations.get(&(key.area, path.clone())) {
                return Some(text);
            }
            path.pop()?;
        }
    }
}
