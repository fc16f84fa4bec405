//! One time axis for all JVMs of a log: the gap between two of them takes no time.

use assay_model::{GcInstant, GcRecord};

/// The clock that the times of a JVM are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    Monotonic,
    Uptime,
    Unix,
}

impl Clock {
    /// The best that there is: one that never jumps before one that does.
    fn of(instant: &GcInstant) -> Option<Clock> {
        let clocks = [Clock::Monotonic, Clock::Uptime, Clock::Unix];
        clocks.into_iter().find(|clock| clock.read(instant).is_some())
    }

    fn read(self, instant: &GcInstant) -> Option<i64> {
        match self {
            Clock::Monotonic => instant.monotonic_ns.and_then(|ns| i64::try_from(ns).ok()),
            Clock::Uptime => instant.uptime_ns.and_then(|ns| i64::try_from(ns).ok()),
            Clock::Unix => instant.unix_ns,
        }
    }
}

/// An interval of the timeline, nanoseconds from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start_ns: u64,
    pub end_ns: u64,
    /// Smallest step of the clock.
    pub resolution_ns: u64,
}

/// Places records of all JVMs on one axis. Within a JVM one clock is used throughout, the best of its first record; a record without
/// it has no time.
#[derive(Debug, Clone, Default)]
pub(super) struct Timeline {
    /// Length of the JVMs before.
    before_ns: u64,
    clock: Option<Clock>,
    first: Option<i64>,
    last: Option<i64>,
    /// Uptime at the first instant, where it is known: what the log leaves out of the JVM's life, if it has its head.
    uptime_at_first_ns: Option<u64>,
}

impl Timeline {
    /// Another JVM begins.
    pub fn begin_jvm(&mut self) {
        *self = Timeline { before_ns: self.end_ns(), ..Timeline::default() };
    }

    /// Where a record lies; `None` when its time is not known.
    pub fn place(&mut self, record: &GcRecord) -> Option<Span> {
        if self.clock.is_none() {
            self.clock = Clock::of(&record.end);
        }
        let end = self.clock?.read(&record.end)?;
        let length = i64::try_from(record.duration_ns.unwrap_or(0)).unwrap_or(i64::MAX);
        let start = end.saturating_sub(length);
        let first = *self.first.get_or_insert_with(|| {
            let uptime_ns = record.end.uptime_ns;
            self.uptime_at_first_ns = uptime_ns.map(|ns| ns.saturating_sub(length.unsigned_abs()));
            start
        });
        self.last = Some(self.last.map_or(end, |last| last.max(end)));
        let on_axis = |at: i64| {
            let since_first = u64::try_from(at.saturating_sub(first)).unwrap_or(0);
            self.before_ns.saturating_add(since_first)
        };
        let resolution_ns = record.end.resolution_ns.unwrap_or(1_000_000);
        Some(Span { start_ns: on_axis(start), end_ns: on_axis(end), resolution_ns })
    }

    /// The last instant of the timeline so far.
    pub fn end_ns(&self) -> u64 {
        let jvm_ns = match (self.first, self.last) {
            (Some(first), Some(last)) => u64::try_from(last.saturating_sub(first)).unwrap_or(0),
            _ => 0,
        };
        self.before_ns.saturating_add(jvm_ns)
    }

    /// Whether any record of this JVM had a time.
    pub fn has_time(&self) -> bool {
        self.first.is_some()
    }

    /// From the start of this JVM to the first instant, where its uptime is known.
    pub fn head_ns(&self) -> Option<u64> {
        self.uptime_at_first_ns
    }
}
