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
    /// A record was placed: what comes before the first instant from now on has no place.
    has_placed: bool,
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
        let span = self.reach(&record.end, record.duration_ns.unwrap_or(0))?;
        self.has_placed = true;
        Some(span)
    }

    /// Where a line lies that says nothing of a collection: the timeline reaches to it.
    pub fn see(&mut self, at: &GcInstant) -> Option<Span> {
        self.reach(at, 0)
    }

    fn reach(&mut self, at: &GcInstant, length_ns: u64) -> Option<Span> {
        if self.clock.is_none() {
            self.clock = Clock::of(at);
        }
        let end = self.clock?.read(at)?;
        let start = end.saturating_sub(i64::try_from(length_ns).unwrap_or(i64::MAX));
        // A log may begin with the end of a pause: what it begins with is the pause's beginning.
        if self.first.is_none_or(|first| !self.has_placed && start < first) {
            self.first = Some(start);
            self.uptime_at_first_ns = at.uptime_ns.map(|ns| ns.saturating_sub(length_ns));
        }
        let first = self.first?;
        self.last = Some(self.last.map_or(end, |last| last.max(end)));
        let on_axis = |at: i64| {
            let since_first = u64::try_from(at.saturating_sub(first)).unwrap_or(0);
            self.before_ns.saturating_add(since_first)
        };
        let resolution_ns = at.resolution_ns.unwrap_or(1_000_000);
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

    /// The first instant of this JVM.
    pub fn begin_ns(&self) -> u64 {
        self.before_ns
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
