//! Follows the GC log of a server while it grows, and puts its pauses on the time line of the requests.
//!
//! With the decorator `timenanos` (as `assay_gclog::xlog_option` asks for) a line carries `CLOCK_MONOTONIC`. With `uptime` alone, the
//! start of the JVM on that clock is learned from when lines appear: a line that was not there at one sample and is there
//! at the next was written in between, so each line with its uptime gives bounds, and all together narrower ones.

use crate::seen::{Cause, Seen, Span};
use assay_gclog::{GcSink, GcStream};
use assay_model::{GcInstant, GcRecord, GcRecordKind, Problem};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
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
const NS_PER_S: f64 = 1e9;

#[derive(Debug)]
pub(super) struct LogFollower {
    path: PathBuf,
    stream: GcStream,
    stops: Stops,
    position: u64,
    /// Read to the end once: what comes now was written since the sample before.
    is_caught_up: bool,
    start: StartBounds,
    /// Stamps of nanoseconds are of another clock.
    is_foreign: bool,
    problem: Option<String>,
}

/// A stop of the JVM.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stopped {
    end: GcInstant,
    length_ns: u64,
}

/// What the log told of.
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
    fn narrow(&mut self, uptime_s: f64, from_ns: u64, to_ns: u64) {
        self.low_ns = self.low_ns.max(from_ns as f64 - uptime_s * NS_PER_S - UPTIME_ROUNDING_NS);
        self.high_ns = self.high_ns.min(to_ns as f64 - uptime_s * NS_PER_S + UPTIME_ROUNDING_NS);
    }

    fn middle_ns(&self) -> Option<f64> {
        (self.low_ns.is_finite() && self.high_ns.is_finite() && self.low_ns <= self.high_ns)
            .then_some((self.low_ns + self.high_ns) / 2.0)
    }
}

impl LogFollower {
    pub fn new(path: PathBuf) -> Self {
        let mut stops = Stops::default();
        let mut stream = GcStream::default();
        stream.begin_source(&path.display().to_string(), &mut stops);
        LogFollower {
            stream,
            stops,
            path,
            position: 0,
            is_caught_up: false,
            start: StartBounds { low_ns: f64::NEG_INFINITY, high_ns: f64::INFINITY },
            is_foreign: false,
            problem: None,
        }
    }

    /// Reads what has come since the sample before.
    pub fn follow(&mut self, last_ns: Option<u64>, now_ns: u64) {
        match self.read() {
            Ok(bytes) => {
                self.problem = None;
                self.take(&bytes, last_ns, now_ns);
            }
            Err(e) => self.problem = Some(e.to_string()),
        }
    }

    fn read(&mut self) -> std::io::Result<Vec<u8>> {
        let length = std::fs::metadata(&self.path)?.len();
        if length < self.position {
            // Begun anew, as rotation does.
            self.position = 0;
            self.is_caught_up = false;
        }
        if self.position == 0 && WHOLE_BYTES_MAX < length {
            self.position = length - CHUNK_BYTES;
        }
        let mut bytes = Vec::new();
        if self.position < length {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.position))?;
            file.take(CHUNK_BYTES).read_to_end(&mut bytes)?;
            self.position += bytes.len() as u64;
        }
        Ok(bytes)
    }

    fn take(&mut self, bytes: &[u8], last_ns: Option<u64>, now_ns: u64) {
        let (first_pause, first_safepoint) = (self.stops.pauses.len(), self.stops.safepoints.len());
        self.stream.feed(bytes, &mut self.stops);
        // Bytes of the heap may follow the line of a pause; its time does not change.
        self.stream.flush(&mut self.stops);
        if let Some(from_ns) = last_ns.filter(|_| self.is_caught_up) {
            let (pauses, safepoints) =
                (&self.stops.pauses[first_pause..], &self.stops.safepoints[first_safepoint..]);
            let near = from_ns.saturating_sub(CLOCK_OFF_NS_MAX)..now_ns.saturating_add(CLOCK_OFF_NS_MAX);
            self.is_foreign |=
                pauses.iter().filter_map(|p| p.end.monotonic_ns).any(|at_ns| !near.contains(&at_ns));
            for uptime_ns in pauses.iter().chain(safepoints).filter_map(|stop| stop.end.uptime_ns) {
                self.start.narrow(uptime_ns as f64 / NS_PER_S, from_ns, now_ns);
            }
        }
        self.is_caught_up |= (bytes.len() as u64) < CHUNK_BYTES;
    }

    /// An instant of the log on `CLOCK_MONOTONIC`.
    fn instant_ns(&self, at: &GcInstant) -> Option<u64> {
        at.monotonic_ns.filter(|_| !self.is_foreign).or_else(|| {
            let at_ns = self.start.middle_ns()? + at.uptime_ns? as f64;
            (at_ns >= 0.0).then_some(at_ns as u64)
        })
    }

    /// Adds the pauses between two instants.
    pub fn add(&self, seen: &mut Seen, from_ns: u64, to_ns: u64) {
        let span = |cause, stopped: &Stopped| {
            let end_ns = self.instant_ns(&stopped.end)?;
            let start_ns = end_ns.saturating_sub(stopped.length_ns);
            (start_ns < to_ns && from_ns < end_ns).then_some(Span { cause, start_ns, end_ns, share: 1.0 })
        };
        let pauses = self.stops.pauses.iter().filter_map(|pause| span(Cause::GcPause, pause));
        let pauses: Vec<Span> = apart(pauses.collect());
        let is_own =
            |stop: &Span| !pauses.iter().any(|p| p.start_ns < stop.end_ns && stop.start_ns < p.end_ns);
        let safepoints = self.stops.safepoints.iter().filter_map(|stop| span(Cause::Safepoint, stop));
        let stops: Vec<Span> = safepoints.filter(is_own).collect();
        if self.has_clock() {
            seen.watched.push(Cause::GcPause);
            if !self.stops.safepoints.is_empty() {
                seen.watched.push(Cause::Safepoint);
            }
            seen.spans.extend(pauses);
            seen.spans.extend(apart(stops));
        }
    }

    /// Whether the log's instants can be laid beside the requests.
    fn has_clock(&self) -> bool {
        let Some(last) = self.stops.pauses.last() else { return self.problem.is_none() };
        self.instant_ns(&last.end).is_some()
    }

    pub fn problems(&self) -> Vec<Problem> {
        let source = self.path.display().to_string();
        if let Some(what) = &self.problem {
            return vec![Problem::new(source, format!("cannot be read: {what}"))];
        }
        let told = match self.stops.pauses.last() {
            None => Some("no collection in it yet"),
            Some(_) if !self.has_clock() => Some(
                "its lines carry no time that can be laid beside the requests: log with the decorators uptime,timenanos",
            ),
            Some(_) => None,
        };
        told.map(|what| Problem::new(source, what)).into_iter().collect()
    }
}

/// Sorts spans of one cause and cuts what overlaps.
fn apart(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| span.start_ns);
    let mut until_ns = 0;
    for span in &mut spans {
        span.start_ns = span.start_ns.max(until_ns);
        until_ns = until_ns.max(span.end_ns);
    }
    spans.retain(|span| span.start_ns < span.end_ns);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    fn follower(folder: &tempfile::TempDir, text: &str) -> (File, LogFollower) {
        let path = folder.path().join("gc.log");
        let mut file = File::create(&path).expect("a writable folder");
        write!(file, "{text}").expect("room");
        (file, LogFollower::new(path))
    }

    fn seen(log: &LogFollower, from_ns: u64, to_ns: u64) -> Seen {
        let mut seen = Seen::default();
        log.add(&mut seen, from_ns, to_ns);
        seen
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
        let seen = seen(&log, 6 * S, 8 * S);
        let span = Span { cause: Cause::GcPause, start_ns: 7 * S - 20 * MS, end_ns: 7 * S, share: 1.0 };
        assert_eq!((seen.spans, seen.watched), (vec![span], vec![Cause::GcPause]));
        assert!(log.problems().is_empty());
    }

    #[test]
    fn uptime_alone_is_mapped_by_when_lines_appear() {
        let folder = tempfile::tempdir().expect("a folder");
        // The JVM began at 100 s.
        let (mut file, mut log) = follower(&folder, &pause(1.0, "", 5));
        log.follow(None, 110 * S);
        assert!(seen(&log, 0, 200 * S).watched.is_empty(), "when the first line appeared is not known");
        assert_eq!(log.problems().len(), 1);
        for (uptime_s, from_ms, to_ms) in
            [(12.0, 111_990, 112_010), (13.0, 112_995, 113_015), (14.0, 113_999, 114_019)]
        {
            write!(file, "{}", pause(uptime_s, "", 10)).expect("room");
            log.follow(Some(from_ms * MS), to_ms * MS);
        }
        let seen = seen(&log, 113_500 * MS, 115 * S);
        assert_eq!(seen.spans.len(), 1);
        let off_ms = seen.spans[0].end_ns.abs_diff(114 * S) / MS;
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
        let seen = seen(&log, 111 * S, 113 * S);
        assert_eq!(seen.spans.len(), 1);
        assert!(seen.spans[0].end_ns.abs_diff(112 * S) < 12 * MS);
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
        let seen = seen(&log, 4 * S, 6 * S);
        assert_eq!(seen.watched, [Cause::GcPause, Cause::Safepoint]);
        let stops: Vec<u64> =
            seen.spans.iter().filter(|s| s.cause == Cause::Safepoint).map(|s| s.end_ns).collect();
        assert_eq!(stops, [5_500_000_000]);
    }

    #[test]
    fn a_log_that_is_not_there_or_is_no_log_gives_a_problem() {
        let mut log = LogFollower::new(PathBuf::from("/nowhere/gc.log"));
        log.follow(None, S);
        assert!(log.problems()[0].text.starts_with("cannot be read"));
        assert!(seen(&log, 0, S).watched.is_empty());
        let folder = tempfile::tempdir().expect("a folder");
        let (_file, mut log) =
            follower(&folder, "\u{0}\u{0}Safepoint \"x\" Total: 99999999999999999999 ns\n[x");
        log.follow(Some(1), S);
        assert_eq!(log.problems()[0].text, "no collection in it yet");
    }
}
