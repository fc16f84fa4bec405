//! What is recorded of a load: response times, counts, and the detail of its window.

use crate::error_kind::ErrorKind;
use crate::interval_log::IntervalLogs;
use crate::law::Progress;
use crate::measured::Measured;
use crate::recorder::{Recorder, RequestTimes};
use crate::schedule::Waiting;
use crate::tally::Tally;
use crate::window::WindowRecorder;
use assay_model::Problem;
use std::time::Duration;

/// Gets every request that ended; keeps those whose intended start is not before recording begins.
pub(super) struct Results {
    recorder: Recorder,
    window: WindowRecorder,
    /// Leaves out by itself what lies before the start.
    pub tally: Tally,
    start_ns: u64,
}

impl Results {
    pub fn new(start_ns: u64, logs: Option<IntervalLogs>, window: WindowRecorder, tally: Tally) -> Results {
        Results { recorder: Recorder::new(start_ns, logs), window, tally, start_ns }
    }

    /// A request of an operation was given to a connection; `drawn` is the operation that was drawn for it.
    pub fn began(&mut self, waiting: &Waiting, drawn: usize) {
        if self.start_ns <= waiting.intended_ns {
            self.window.sent(waiting);
            self.tally.drew(drawn);
        }
    }

    /// A request ended; `operation` is absent when it was never decided.
    pub fn ended(&mut self, operation: Option<usize>, times: &RequestTimes, is_right: bool) {
        if self.start_ns <= times.intended_ns {
            self.recorder.record(times);
            self.window.ended(operation, times, is_right);
            self.tally.ended(operation, times, is_right);
        }
    }

    /// A request failed at `until_ns`, before it was known which operation it would be.
    pub fn never_began(
        &mut self,
        intended_ns: u64,
        until_ns: u64,
        kind: ErrorKind,
        why: impl FnOnce() -> String,
    ) {
        let times = RequestTimes { intended_ns, sendable_ns: until_ns, sent_ns: None, done_ns: until_ns };
        self.ended(None, &times, false);
        self.tally.failed(None, intended_ns, kind, why);
    }

    /// Closes the intervals of the log that are over.
    pub fn roll(&mut self, now_ns: u64) {
        self.recorder.roll(now_ns);
    }

    /// When the next interval of the log is over.
    pub fn next_roll_ns(&self) -> Option<u64> {
        self.recorder.next_roll_ns()
    }

    pub fn progress(&self, elapsed: Duration, in_flight: u32) -> Progress {
        let so_far = self.tally.measured();
        Progress {
            elapsed,
            requests: so_far.requests,
            completed: so_far.completed,
            errors: so_far.errors(),
            in_flight,
            response_ns: self.recorder.response_so_far_ns(),
            starting: None,
        }
    }

    /// All that was recorded. As CPU time of the generator that of writing the interval log.
    pub fn finish(self, drained_ns: u64) -> Measured {
        let recorded = self.recorder.finish(drained_ns);
        let mut measured = self.tally.into_measured();
        measured.problems.extend(recorded.log_error.map(|error| Problem::new("interval log", error)));
        Measured {
            response: recorded.response,
            service: recorded.service,
            send_lag: recorded.send_lag,
            generator_cpu_ns: recorded.log_cpu_ns,
            detail: self.window.into_detail(),
            ..measured
        }
    }
}
