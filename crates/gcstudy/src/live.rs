//! The stops of a JVM while it runs, from its growing GC log, on `CLOCK_MONOTONIC`.
//!
//! With the decorator `timenanos` (as `assay_gclog::xlog_option` asks for) a line carries that clock. With `uptime` alone, the start of
//! the JVM on it is learned from when lines appear: a line that was not there at one sample and is there at the next was written in
//! between, so each line with its uptime gives bounds, and all together narrower ones.

use assay_gclog::GcSink;
use assay_gclog::input::{Follower, ReadLimits};
use assay_model::{GcInstant, GcRecord, GcRecordKind, Problem};
use std::path::PathBuf;

/// Bytes that are read at one sample.
const CHUNK_BYTES: u64 = 1 << 20;
/// Of a log that is longer when watching begins, only the end is read.
const WHOLE_BYTES_MAX: u64 = 64 << 20;
/// Pauses that are kept, and safepoints: several a second for a day.
const STOPS_MAX: usize = 1_000_000;
/// A line appears within this time of its stamp; that of another machine, or of another namespace of time, does not.
const CLOCK_OFF_NS_MAX: u64 = 2_000_000_000;
/// `uptime` is rounded to milliseconds.
const UPTIME_ROUNDING_NS: f64 = 1e6;

/// Follows the GC log of a running JVM.
#[derive(Debug)]
pub struct LiveStops {
    path: PathBuf,
    /// Absent until the log is there.
    follower: Option<Follower>,
    stops: Stops,
    /// Read to the end once: later lines were written since the sample before.
    is_caught_up: bool,
    start: StartBounds,
    /// Stamps of nanoseconds are of another clock.
    is_foreign: bool,
    problem: Option<String>,
}

/// An interval in which the application stood still, on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Its begin, nanoseconds.
    pub start_ns: u64,
    /// Its end, nanoseconds.
    pub end_ns: u64,
}

/// The stops that overlap an interval, of each kind in order, none over another of its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopsBetween {
    /// Pauses of the collector.
    pub pauses: Vec<Stop>,
    /// Other safepoints; absent where the log has no safepoints at all, collections included.
    pub other_safepoints: Option<Vec<Stop>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Stopped {
    end: GcInstant,
    length_ns: u64,
}

#[derive(Debug, Default)]
struct Stops {
    pauses: Vec<Stopped>,
    safepoints: Vec<Stopped>,
}

impl GcSink for Stops {
    fn record(&mut self, record: GcRecord) {
        let kept = match record.kind {
            GcRecordKind::Pause => &mut self.pauses,
            GcRecordKind::Safepoint => &mut self.safepoints,
            _ => return,
        };
        if let Some(length_ns) = record.duration_ns
            && kept.len() < STOPS_MAX
        {
            kept.push(Stopped { end: record.end, length_ns });
        }
    }
}

/// Where the start of the JVM lies on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
struct StartBounds {
    low_ns: f64,
    high_ns: f64,
}

impl StartBounds {
    /// A line with this uptime was written between the two samples.
    fn narrow(&mut self, uptime_ns: u64, from_ns: u64, to_ns: u64) {
        self.low_ns = self.low_ns.max(from_ns as f64 - uptime_ns as f64 - UPTIME_ROUNDING_NS);
        self.high_ns = self.high_ns.min(to_ns as f64 - uptime_ns as f64 + UPTIME_ROUNDING_NS);
    }

    fn middle_ns(&self) -> Option<f64> {
        (self.low_ns.is_finite() && self.high_ns.is_finite() && self.low_ns <= self.high_ns)
            .then_some((self.low_ns + self.high_ns) / 2.0)
    }
}

impl LiveStops {
    /// Nothing is read before the first [`LiveStops::follow`]; the log need not be there yet.
    pub fn new(path: PathBuf) -> Self {
        LiveStops {
            path,
            follower: None,
            stops: Stops::default(),
            is_caught_up: false,
            start: StartBounds { low_ns: f64::NEG_INFINITY, high_ns: f64::INFINITY },
            is_foreign: false,
            problem: None,
        }
    }

    /// Reads what has come since the sample at `last_ns`, at most 1 MiB; it is `now_ns`.
    pub fn follow(&mut self, last_ns: Option<u64>, now_ns: u64) {
        self.problem = self.read(last_ns, now_ns).err();
    }

    fn read(&mut self, last_ns: Option<u64>, now_ns: u64) -> Result<(), String> {
        let (first_pause, first_safepoint) = (self.stops.pauses.len(), self.stops.safepoints.len());
        let follower = match &mut self.follower {
            Some(follower) => follower,
            None => {
                let part = ReadLimits { whole_bytes_max: WHOLE_BYTES_MAX, bytes_at_once: CHUNK_BYTES };
                let opened = Follower::open_part(&self.path, part, &mut self.stops);
                self.follower.insert(opened.map_err(|e| e.to_string())?)
            }
        };
        let polled = follower.poll(&mut self.stops).map_err(|e| e.to_string())?;
        // Bytes of the heap may follow the line of a pause; its time does not change.
        follower.flush(&mut self.stops);
        if polled.is_gone {
            return Err("it is gone".to_owned());
        }
        if let Some(from_ns) = last_ns.filter(|_| self.is_caught_up && !polled.is_new_file) {
            self.learn_clock(first_pause, first_safepoint, from_ns, now_ns);
        }
        self.is_caught_up |= polled.is_at_end;
        Ok(())
    }

    /// What is new was written between these instants.
    fn learn_clock(&mut self, first_pause: usize, first_safepoint: usize, from_ns: u64, now_ns: u64) {
        let pauses = &self.stops.pauses[first_pause..];
        let safepoints = &self.stops.safepoints[first_safepoint..];
        let near = from_ns.saturating_sub(CLOCK_OFF_NS_MAX)..now_ns.saturating_add(CLOCK_OFF_NS_MAX);
        let mut stamps = pauses.iter().filter_map(|pause| pause.end.monotonic_ns);
        self.is_foreign |= stamps.any(|at_ns| !near.contains(&at_ns));
        for uptime_ns in pauses.iter().chain(safepoints).filter_map(|stop| stop.end.uptime_ns) {
            self.start.narrow(uptime_ns, from_ns, now_ns);
        }
    }

    /// An instant of the log on `CLOCK_MONOTONIC`.
    fn instant_ns(&self, at: &GcInstant) -> Option<u64> {
        at.monotonic_ns.filter(|_| !self.is_foreign).or_else(|| {
            let at_ns = self.start.middle_ns()? + at.uptime_ns? as f64;
            (at_ns >= 0.0).then_some(at_ns as u64)
        })
    }

    /// The stops between two instants; absent where the log cannot be read, or its instants have no place on `CLOCK_MONOTONIC`.
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Option<StopsBetween> {
        let within = |stops: &[Stopped]| -> Vec<Stop> {
            let placed = stops.iter().filter_map(|stopped| {
                let end_ns = self.instant_ns(&stopped.end)?;
                Some(Stop { start_ns: end_ns.saturating_sub(stopped.length_ns), end_ns })
            });
            placed.filter(|stop| stop.start_ns < to_ns && from_ns < stop.end_ns).collect()
        };
        let pauses = apart(within(&self.stops.pauses));
        let is_own =
            |stop: &Stop| !pauses.iter().any(|p| p.start_ns < stop.end_ns && stop.start_ns < p.end_ns);
        let other = || apart(within(&self.stops.safepoints).into_iter().filter(is_own).collect());
        let other_safepoints = (!self.stops.safepoints.is_empty()).then(other);
        self.has_clock().then_some(StopsBetween { pauses, other_safepoints })
    }

    /// Whether the log's instants can be laid beside those of others.
    fn has_clock(&self) -> bool {
        let Some(last) = self.stops.pauses.last() else { return self.problem.is_none() };
        self.instant_ns(&last.end).is_some()
    }

    /// What is wrong with the log by now.
    pub fn problems(&self) -> Vec<Problem> {
        let what = if let Some(what) = &self.problem {
            format!("cannot be read: {what}")
        } else if self.stops.pauses.is_empty() {
            "no collection in it yet".to_owned()
        } else if !self.has_clock() {
            "its lines carry no time on the clock of the requests: log with the decorators uptime,timenanos"
                .to_owned()
        } else {
            return Vec::new();
        };
        vec![Problem::new(self.path.display().to_string(), what)]
    }
}

/// Sorts stops of one kind and cuts what overlaps.
fn apart(mut stops: Vec<Stop>) -> Vec<Stop> {
    stops.sort_by_key(|stop| stop.start_ns);
    let mut until_ns = 0;
    for stop in &mut stops {
        stop.start_ns = stop.start_ns.max(until_ns);
        until_ns = until_ns.max(stop.end_ns);
    }
    stops.retain(|stop| stop.start_ns < stop.end_ns);
    stops
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    fn follower(folder: &tempfile::TempDir, text: &str) -> (File, LiveStops) {
        let path = folder.path().join("gc.log");
        let mut file = File::create(&path).expect("a writable folder");
        write!(file, "{text}").expect("room");
        (file, LiveStops::new(path))
    }

    fn pause(uptime_s: f64, nanos: &str, ms: u64) -> String {
        format!(
            "[{uptime_s:.3}s]{nanos}[info][gc] GC(1) Pause Young (Allocation Failure) 20M->2M(60M) {ms}.000ms\n"
        )
    }

    #[test]
    fn pauses_with_the_monotonic_clock_are_laid_where_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_file, mut log) =
            follower(&folder, &(pause(1.0, "[5000000000ns]", 30) + &pause(3.0, "[7000000000ns]", 20)));
        log.follow(None, 8 * S);
        let stop = Stop { start_ns: 7 * S - 20 * MS, end_ns: 7 * S };
        let want = StopsBetween { pauses: vec![stop], other_safepoints: None };
        assert_eq!(log.between(6 * S, 8 * S), Some(want));
        assert!(log.problems().is_empty());
    }

    #[test]
    fn uptime_alone_is_mapped_by_when_lines_appear() {
        let folder = tempfile::tempdir().expect("a folder");
        // The JVM began at 100 s.
        let (mut file, mut log) = follower(&folder, &pause(1.0, "", 5));
        log.follow(None, 110 * S);
        assert_eq!(log.between(0, 200 * S), None, "when the first line appeared is not known");
        assert_eq!(log.problems().len(), 1);
        for (uptime_s, from_ms, to_ms) in
            [(12.0, 111_990, 112_010), (13.0, 112_995, 113_015), (14.0, 113_999, 114_019)]
        {
            write!(file, "{}", pause(uptime_s, "", 10)).expect("room");
            log.follow(Some(from_ms * MS), to_ms * MS);
        }
        let pauses = log.between(113_500 * MS, 115 * S).expect("a clock").pauses;
        assert_eq!(pauses.len(), 1);
        let off_ms = pauses[0].end_ns.abs_diff(114 * S) / MS;
        assert!(off_ms <= 6, "{off_ms} ms: bounds are -1 .. 10 and a millisecond of rounding");
        assert!(log.problems().is_empty());
    }

    #[test]
    fn a_clock_of_another_machine_is_noticed_and_uptime_taken_instead() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut file, mut log) = follower(&folder, &pause(1.0, "[9000000000000ns]", 5));
        log.follow(None, 110 * S);
        write!(file, "{}", pause(12.0, "[9011000000000ns]", 10)).expect("room");
        log.follow(Some(111_990 * MS), 112_010 * MS);
        let pauses = log.between(111 * S, 113 * S).expect("a clock").pauses;
        assert_eq!(pauses.len(), 1);
        assert!(pauses[0].end_ns.abs_diff(112 * S) < 12 * MS);
    }

    #[test]
    fn safepoints_that_are_no_collections_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = |at: &str, name: &str| {
            format!(
                "[1.0s][{at}ns][info][safepoint] Safepoint \"{name}\", Time since last: 5 ns, Reaching safepoint: 1 ns, At safepoint: 2 ns, Total: 8000000 ns\n"
            )
        };
        let text = pause(1.0, "[5000000000ns]", 30)
            + &line("5000100000", "GenCollectForAllocation")
            + &line("5500000000", "ThreadDump");
        let (_file, mut log) = follower(&folder, &text);
        log.follow(None, 6 * S);
        let other = log.between(4 * S, 6 * S).expect("a clock").other_safepoints.expect("safepoints");
        assert_eq!(other.iter().map(|stop| stop.end_ns).collect::<Vec<_>>(), [5_500_000_000]);
    }

    #[test]
    fn a_log_that_is_not_there_or_is_no_log_gives_a_problem() {
        let mut log = LiveStops::new(PathBuf::from("/nowhere/gc.log"));
        log.follow(None, S);
        assert!(log.problems()[0].text.starts_with("cannot be read"));
        assert_eq!(log.between(0, S), None);
        let folder = tempfile::tempdir().expect("a folder");
        let (_file, mut log) =
            follower(&folder, "\u{0}\u{0}Safepoint \"x\" Total: 99999999999999999999 ns\n[x");
        log.follow(Some(1), S);
        assert_eq!(log.problems()[0].text, "no collection in it yet");
    }

    #[test]
    fn a_log_that_comes_late_is_rotated_and_vanishes_is_followed_as_far_as_it_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gc.log");
        let mut log = LiveStops::new(path.clone());
        log.follow(None, S);
        assert!(log.problems()[0].text.starts_with("cannot be read"));
        std::fs::write(&path, pause(1.0, "[2000000000ns]", 10)).expect("written");
        log.follow(Some(S), 2 * S);
        std::fs::rename(&path, folder.path().join("gc.log.0")).expect("renamed");
        log.follow(Some(2 * S), 3 * S);
        assert_eq!(log.problems()[0].text, "cannot be read: it is gone");
        std::fs::write(&path, pause(3.0, "[4000000000ns]", 10)).expect("written");
        log.follow(Some(3 * S), 4 * S);
        let ends: Vec<u64> =
            log.between(0, 5 * S).expect("a clock").pauses.iter().map(|p| p.end_ns).collect();
        assert_eq!(ends, [2 * S, 4 * S]);
        assert_eq!(log.problems(), []);
    }
}
