//! CPU time of each thread since the first of some readings.

use crate::jvm::Label;
use crate::names::KernelNames;
use crate::role::pool_of;
use crate::used::Used;
use assay_linux::{ExitRecord, ThreadCounters};
use assay_model::{ExitRecordsTime, ThreadRole};
use std::collections::{BTreeMap, HashMap};

/// Readings of the JVM's list in which a thread may be missing because it is just starting.
const MISSES_MAX: u8 = 1;
/// Names that are kept of threads that were never read; all others are one sum.
const UNSEEN_NAMES_MAX: usize = 1000;
/// Threads never read whose numbers are kept.
const UNSEEN_NUMBERS_MAX: usize = 100_000;
/// Name of the sum over threads whose names are not kept.
pub(crate) const OTHER_NAMES: &str = "other names";

/// A thread, and no later one with the same number.
pub(crate) type ThreadKey = (u32, u64);

/// A thread over some readings.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    /// At the first reading; `None` when it started after it.
    first: Option<ThreadCounters>,
    last: ThreadCounters,
    /// Since its start, by the kernel's record of its end.
    at_end: Option<Used>,
    pub(crate) has_ended: bool,
    label: Option<Label>,
    misses: u8,
}

/// A thread's role, and how well it is known.
pub(crate) struct Named {
    pub(crate) role: ThreadRole,
    pub(crate) name: String,
    pub(crate) is_inferred: bool,
}

impl Track {
    /// The thread's number.
    pub(crate) fn tid(&self) -> u32 {
        self.last.tid
    }

    /// What it used between its first and its last reading.
    pub(crate) fn used(&self) -> Used {
        let until = self.at_end.unwrap_or_else(|| Used::of(&self.last));
        self.first.as_ref().map_or(until, |first| until.since(&Used::of(first)))
    }

    /// CPU time after its last reading.
    fn unseen_cpu_ns(&self) -> u64 {
        self.at_end.map_or(0, |end| end.cpu_ns.saturating_sub(Used::of(&self.last).cpu_ns))
    }
}

/// The threads of a process over some readings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracks {
    tracks: HashMap<ThreadKey, Track>,
    /// Threads that came and went between two readings, by the kernel's name of their pool.
    unseen: BTreeMap<String, Used>,
    /// The pools of such threads, by their numbers.
    unseen_pools: HashMap<u32, String>,
    names: KernelNames,
    /// Start of the youngest thread of the reading before.
    youngest_ticks: Option<u64>,
}

impl Tracks {
    /// All threads that were read, in no order, with their roles.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (&Track, Named)> {
        self.tracks.values().map(|track| {
            let named = match &track.label {
                Some(label) => {
                    Named { role: label.role, name: label.name.clone(), is_inferred: label.is_inferred }
                }
                None => self.inferred(&track.last.name),
            };
            (track, named)
        })
    }

    /// Those that were not, by name.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = (&Used, Named)> {
        self.unseen.iter().map(|(name, used)| (used, self.inferred(name)))
    }

    /// The role of each thread by its number: of a live thread, whoever had the number before.
    pub(crate) fn roles_by_number(&self) -> HashMap<u32, ThreadRole> {
        self.named_by_number().into_iter().map(|(tid, named)| (tid, named.role)).collect()
    }

    /// The same with the names.
    pub(crate) fn named_by_number(&self) -> HashMap<u32, Named> {
        let unseen = self.unseen_pools.iter().map(|(tid, pool)| (*tid, self.inferred(pool)));
        let of = |has_ended: bool| {
            self.seen()
                .filter(move |(track, _)| track.has_ended == has_ended)
                .map(|(track, named)| (track.tid(), named))
        };
        unseen.chain(of(true)).chain(of(false)).collect()
    }

    fn inferred(&self, kernel_name: &str) -> Named {
        match self.names.infer(kernel_name) {
            Some((role, name)) => Named { role, name, is_inferred: true },
            None => Named { role: ThreadRole::Unknown, name: kernel_name.to_owned(), is_inferred: false },
        }
    }

    /// Adds a reading.
    pub(crate) fn add(&mut self, threads: &HashMap<u32, ThreadCounters>) {
        for track in self.tracks.values_mut() {
            let is_there =
                threads.get(&track.last.tid).is_some_and(|t| t.start_ticks == track.last.start_ticks);
            track.has_ended |= !is_there;
        }
        for counters in threads.values() {
            // The kernel may leave a thread out of its list when others end meanwhile: one that is older than what the reading before
            // saw was there already, and what it used until now belongs to an earlier time.
            let was_there = match self.youngest_ticks {
                None => true,
                Some(youngest) => counters.start_ticks < youngest,
            };
            let key = (counters.tid, counters.start_ticks);
            let track = self.tracks.entry(key).or_insert_with(|| Track {
                first: was_there.then(|| counters.clone()),
                last: counters.clone(),
                at_end: None,
                has_ended: false,
                label: None,
                misses: 0,
            });
            // A thread that is just starting still has the name of the one that started it.
            if let Some(label) = track.label.as_mut().filter(|_| track.last.name != counters.name) {
                self.names.note(&counters.name, label);
                // A role that rests on the kernel's name changes with that name.
                label.is_whole &= !label.is_inferred;
            }
            track.last = counters.clone();
            // The kernel lists a thread for a little while after it has sent the record of its end.
            track.has_ended = track.at_end.is_some();
        }
        let youngest = threads.values().map(|t| t.start_ticks).max();
        self.youngest_ticks = self.youngest_ticks.max(youngest).or(Some(0));
    }

    /// Adds the records of threads of process `pid` that ended until the last reading. Records of an old kernel do not name the process of a
    /// thread: such a record counts if the thread was read.
    pub(crate) fn end(&mut self, pid: u32, records: &[ExitRecord], interrupt_ns: u64) {
        if records.is_empty() {
            return;
        }
        let live = self.tracks.iter().filter(|(_, track)| track.at_end.is_none());
        let keys: HashMap<u32, ThreadKey> = live.map(|(key, _)| (key.0, *key)).collect();
        for record in records.iter().filter(|record| record.tgid.is_none_or(|tgid| tgid == pid)) {
            let used = Used::of_ended(record, interrupt_ns);
            let track = keys.get(&record.tid).and_then(|key| self.tracks.get_mut(key));
            // A number is given again when some tens of thousands of threads have started.
            let is_same = |track: &Track| Used::of(&track.last).cpu_ns <= used.cpu_ns;
            match track.filter(|track| track.at_end.is_none() && is_same(track)) {
                Some(track) => {
                    track.at_end = Some(Used::of_ended_after(record, interrupt_ns, &track.last));
                    track.has_ended = true;
                }
                None if record.tgid.is_some() => {
                    let pool = pool_of(&record.name);
                    let is_kept = self.unseen.len() < UNSEEN_NAMES_MAX || self.unseen.contains_key(&pool);
                    let pool = if is_kept { pool } else { OTHER_NAMES.to_owned() };
                    if self.unseen_pools.len() < UNSEEN_NUMBERS_MAX {
                        self.unseen_pools.insert(record.tid, pool.clone());
                    }
                    self.unseen.entry(pool).or_default().add(&used);
                }
                None => {}
            }
        }
    }

    /// Leaves out those that came and went so far: they may have ended before the first reading.
    pub(crate) fn forget_unseen(&mut self) {
        self.unseen.clear();
        self.unseen_pools.clear();
    }

    /// What the records added, and the total on top of them.
    pub(crate) fn exit_records(&self, has_lost: bool, inferred_ns: u64) -> ExitRecordsTime {
        let mut sum =
            ExitRecordsTime { has_lost, inferred_ns, cpu_ns: inferred_ns, ..ExitRecordsTime::default() };
        for track in self.tracks.values().filter(|track| track.at_end.is_some()) {
            sum.threads_seen += 1;
            sum.cpu_ns = sum.cpu_ns.saturating_add(track.unseen_cpu_ns());
        }
        for used in self.unseen.values() {
            sum.threads_unseen += used.threads;
            sum.cpu_ns = sum.cpu_ns.saturating_add(used.cpu_ns);
        }
        sum
    }

    /// Starts a new interval at the last reading.
    pub(crate) fn restart(&mut self) {
        self.forget_unseen();
        self.tracks.retain(|_, track| !track.has_ended);
        for track in self.tracks.values_mut() {
            track.first = Some(track.last.clone());
        }
    }

    /// Whether there is a live thread of which another reading of the JVM's list may show more.
    pub(crate) fn has_nameless(&self) -> bool {
        let is_whole = |track: &Track| track.label.as_ref().is_some_and(|label| label.is_whole);
        self.tracks.values().any(|track| !track.has_ended && !is_whole(track))
    }

    /// Gives live threads the labels of the JVM's list; those that had the time to get into it and are not there, that of an unknown thread.
    pub(crate) fn label(&mut self, labels: &HashMap<u32, Label>) {
        for track in self.tracks.values_mut().filter(|track| !track.has_ended) {
            match labels.get(&track.last.tid) {
                // The complete earlier reading is of the same thread.
                Some(label)
                    if !label.is_whole && track.label.as_ref().is_some_and(|before| before.is_whole) => {}
                Some(label) => track.label = Some(label.clone()),
                None if track.label.is_none() && MISSES_MAX <= track.misses => {
                    track.label = Some(Label::stranger(&track.last.name));
                }
                None => track.misses = track.misses.saturating_add(1),
            }
            if let Some(label) = &track.label {
                self.names.note(&track.last.name, label);
            }
        }
    }
}
