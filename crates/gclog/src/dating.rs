//! Dates for records of a log that has none, from the time at which a collector of logs took its lines.

use crate::contract::{At, GcSink};
use crate::first;
use assay_model::{GcInstant, GcJvm, GcReconciliation, GcRecord, GcSource, Problem};

/// What is known of the calendar of a JVM whose lines have another clock.
#[derive(Debug, Default)]
pub(crate) struct Dating {
    /// The calendar at the zero of the JVM's clock: by its first line, since a record may be reported long after its line.
    zero_unix_ns: Option<i64>,
    line_unix_ns: Option<i64>,
    /// When the JVM's first line was taken.
    begun_unix_ns: Option<i64>,
}

impl Dating {
    /// The next line, and when it was taken.
    pub fn line(&mut self, text: &str, unix_ns: Option<i64>) {
        self.line_unix_ns = unix_ns;
        if let (None, Some(unix_ns)) = (self.zero_unix_ns, unix_ns) {
            let clock_ns = first::of_line(text).clock_ns;
            self.zero_unix_ns = clock_ns.and_then(|ns| unix_ns.checked_sub_unsigned(ns));
        }
    }

    /// Puts dates into what it hands on.
    pub fn sink<'a>(&'a mut self, inner: &'a mut dyn GcSink) -> Dated<'a> {
        Dated { dating: self, inner }
    }

    /// The date of an instant. Which of two clocks the first line was dated by shows which of them leads nearest to the line at hand.
    fn date(&self, end: &GcInstant) -> Option<i64> {
        let (zero, line) = (self.zero_unix_ns, self.line_unix_ns);
        let clocks = [end.uptime_ns, end.monotonic_ns].into_iter().flatten();
        let dates = clocks.filter_map(|ns| zero?.checked_add_unsigned(ns));
        dates.min_by_key(|date| line.map(|line| line.abs_diff(*date))).or(line)
    }
}

/// A sink whose records have dates.
pub(crate) struct Dated<'a> {
    dating: &'a mut Dating,
    inner: &'a mut dyn GcSink,
}

impl GcSink for Dated<'_> {
    fn begin_source(&mut self, name: &str) {
        self.inner.begin_source(name);
    }

    fn end_source(&mut self, source: &GcSource) {
        self.inner.end_source(source);
    }

    fn begin_jvm(&mut self) {
        let begun_unix_ns = self.dating.line_unix_ns;
        *self.dating = Dating { zero_unix_ns: None, line_unix_ns: begun_unix_ns, begun_unix_ns };
        self.inner.begin_jvm();
    }

    fn jvm(&mut self, jvm: &GcJvm) {
        match self.dating.begun_unix_ns {
            Some(_) if jvm.begun_unix_ns.is_none() => {
                self.inner.jvm(&GcJvm { begun_unix_ns: self.dating.begun_unix_ns, ..jvm.clone() });
            }
            _ => self.inner.jvm(jvm),
        }
    }

    fn record(&mut self, mut record: GcRecord) {
        record.end.unix_ns = record.end.unix_ns.or_else(|| self.dating.date(&record.end));
        self.inner.record(record);
    }

    fn dated(&mut self, at: &GcInstant) {
        let unix_ns = at.unix_ns.or_else(|| self.dating.date(at));
        self.inner.dated(&GcInstant { unix_ns, ..*at });
    }

    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.inner.reconciliation(reconciliation);
    }

    fn unrecognized(&mut self, at: At, text: &str) {
        self.inner.unrecognized(at, text);
    }

    fn problem(&mut self, problem: Problem) {
        self.inner.problem(problem);
    }
}
