//! What each thread has used since the first of some looks.

use crate::jvm::Label;
use crate::look::ticks_ns;
use crate::split::Ticked;
use assay_linux::ThreadCounters;
use std::collections::HashMap;

/// Readings of the JVM's list in which a thread may be missing because it is just starting.
const MISSES_MAX: u8 = 1;

/// A thread, and no later one with the same number.
pub(crate) type ThreadKey = (u32, u64);

/// A thread over some looks.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    /// At the first look; `None` when it started after it.
    first: Option<ThreadCounters>,
    last: ThreadCounters,
    pub(crate) has_ended: bool,
    pub(crate) label: Option<Label>,
    misses: u8,
}

/// What a thread used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) ticked: Ticked,
    pub(crate) run_delay_ns: Option<u64>,
    pub(crate) voluntary_switches: Option<u64>,
    pub(crate) involuntary_switches: Option<u64>,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) block_io_ns: Option<u64>,
}

impl Track {
    /// The thread's number.
    pub(crate) fn tid(&self) -> u32 {
        self.last.tid
    }

    /// The kernel's name of it.
    pub(crate) fn kernel_name(&self) -> &str {
        &self.last.name
    }

    /// What it used between its first and its last reading.
    pub(crate) fn used(&self) -> Used {
        let grown =
            |of: fn(&ThreadCounters) -> u64| of(&self.last).saturating_sub(self.first.as_ref().map_or(0, of));
        let grown_if_counted = |of: fn(&ThreadCounters) -> Option<u64>| {
            Some(of(&self.last)?.saturating_sub(self.first.as_ref().map_or(Some(0), of)?))
        };
        let (user_ticks, system_ticks) = (grown(|c| c.user_ticks), grown(|c| c.system_ticks));
        let run_ns = grown_if_counted(|c| c.schedstat.map(|s| s.run_ns));
        let cpu_ns = run_ns.unwrap_or_else(|| ticks_ns(user_ticks.saturating_add(system_ticks)));
        Used {
            ticked: Ticked { user_ticks, system_ticks, cpu_ns, cut: u64::from(cpu_ns != 0) },
            run_delay_ns: grown_if_counted(|c| c.schedstat.map(|s| s.wait_ns)),
            voluntary_switches: grown_if_counted(|c| c.voluntary_switches),
            involuntary_switches: grown_if_counted(|c| c.involuntary_switches),
            minor_faults: grown(|c| c.minor_faults),
            major_faults: grown(|c| c.major_faults),
            block_io_ns: grown_if_counted(|c| c.block_io_ticks).map(ticks_ns),
        }
    }
}

/// The threads of a process over some looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracks {
    tracks: HashMap<ThreadKey, Track>,
    /// Start of the youngest thread of the look before.
    youngest_ticks: Option<u64>,
}

impl Tracks {
    /// All threads, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Track> {
        self.tracks.values()
    }

    /// Adds a look.
    pub(crate) fn add(&mut self, threads: &HashMap<u32, ThreadCounters>) {
        for track in self.tracks.values_mut() {
            let is_there =
                threads.get(&track.last.tid).is_some_and(|t| t.start_ticks == track.last.start_ticks);
            track.has_ended |= !is_there;
        }
        for counters in threads.values() {
            // The kernel may leave a thread out of its list when others end meanwhile: one that is older than what the look before
            // saw was there already, and what it used until now belongs to an earlier time.
            let was_there = match self.youngest_ticks {
                None => true,
                Some(youngest) => counters.start_ticks < youngest,
            };
            let key = (counters.tid, counters.start_ticks);
            let track = self.tracks.entry(key).or_insert_with(|| Track {
                first: was_there.then(|| counters.clone()),
                last: counters.clone(),
                has_ended: false,
                label: None,
                misses: 0,
            });
            track.last = counters.clone();
            track.has_ended = false;
        }
        let youngest = threads.values().map(|t| t.start_ticks).max();
        self.youngest_ticks = self.youngest_ticks.max(youngest).or(Some(0));
    }

    /// Starts a new interval at the last look.
    pub(crate) fn restart(&mut self) {
        self.tracks.retain(|_, track| !track.has_ended);
        for track in self.tracks.values_mut() {
            track.first = Some(track.last.clone());
        }
    }

    /// Whether there is a live thread of which another reading of the JVM's list may tell more.
    pub(crate) fn has_nameless(&self) -> bool {
        let is_whole = |track: &Track| track.label.as_ref().is_some_and(|label| label.is_whole);
        self.tracks.values().any(|track| !track.has_ended && !is_whole(track))
    }

    /// Gives live threads the labels of the JVM's list; those that are not in it, and had the time to get there, that of a stranger.
    pub(crate) fn label(&mut self, labels: &HashMap<u32, Label>) {
        for track in self.tracks.values_mut().filter(|track| !track.has_ended) {
            match labels.get(&track.last.tid) {
                // What was read whole before was the same thread's.
                Some(label)
                    if !label.is_whole && track.label.as_ref().is_some_and(|before| before.is_whole) => {}
                Some(label) => track.label = Some(label.clone()),
                None if track.label.is_none() && MISSES_MAX <= track.misses => {
                    track.label = Some(Label::stranger(&track.last.name));
                }
                None => track.misses = track.misses.saturating_add(1),
            }
        }
    }
}
