//! A part of a log, by time.

use crate::timeline::Timeline;
use assay_gclog::{At, GcSink};
use assay_model::{GcInstant, GcJvm, GcReconciliation, GcRecord, GcSource, Problem};
use assay_text::duration;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::fmt;

/// An end of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogTime {
    /// On the wall clock: since 1970 in UTC, nanoseconds.
    Unix(i64),
    /// From the first line of the log, without the time between two JVMs, nanoseconds.
    Passed(u64),
}

impl LogTime {
    /// Parses `2026-11-30T10:05:00Z`, `2026-11-30 10:05` (UTC), or a duration since the first line such as `90s`.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(passed) = duration::parse(text) {
            return u64::try_from(passed.as_nanos())
                .map(LogTime::Passed)
                .map_err(|_| format!("`{text}` is too long"));
        }
        let in_utc = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
        let date = text.parse::<Timestamp>().ok().or_else(in_utc);
        let unix_ns = date.and_then(|date| i64::try_from(date.as_nanosecond()).ok());
        unix_ns.map(LogTime::Unix).ok_or_else(|| {
            format!(
                "`{text}` is not a time: write a date in UTC such as 2026-11-30T10:05, or a time since \
                the first line such as 90s"
            )
        })
    }
}

impl fmt::Display for LogTime {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LogTime::Unix(ns) => match Timestamp::from_nanosecond(i128::from(*ns)) {
                Ok(date) => write!(f, "{date}"),
                Err(_) => write!(f, "{ns} ns"),
            },
            LogTime::Passed(ns) => write!(f, "{} s", *ns as f64 / 1e9),
        }
    }
}

/// Hands on what lies between two times. What the log says of itself as a whole is left out: it is not of the part.
pub struct LogPart<'a> {
    inner: &'a mut dyn GcSink,
    from: Option<LogTime>,
    to: Option<LogTime>,
    timeline: Timeline,
    /// Records that were handed on, and that were not.
    records: [u64; 2],
    /// Records without the clock that was asked for.
    without_clock: u64,
    /// Something of the JVM at hand was handed on, and something of one before it.
    is_open: bool,
    was_open: bool,
    /// A JVM outside of the part, which is named where there is no other.
    outside: Option<GcJvm>,
}

impl<'a> LogPart<'a> {
    /// From and to these times, both in it; without one the log's own end.
    ///
    /// # Errors
    /// When the first is later than the second, by the same clock.
    pub fn new(
        inner: &'a mut dyn GcSink,
        from: Option<LogTime>,
        to: Option<LogTime>,
    ) -> Result<Self, String> {
        let is_reversed = match (from, to) {
            (Some(LogTime::Unix(from)), Some(LogTime::Unix(to))) => to < from,
            (Some(LogTime::Passed(from)), Some(LogTime::Passed(to))) => to < from,
            _ => false,
        };
        if is_reversed {
            return Err("--from is later than --to".to_owned());
        }
        Ok(LogPart {
            inner,
            from,
            to,
            timeline: Timeline::default(),
            records: [0; 2],
            without_clock: 0,
            is_open: false,
            was_open: false,
            outside: None,
        })
    }

    /// Ends it.
    ///
    /// # Errors
    /// Why nothing lies in the part.
    pub fn finish(self) -> Result<(), String> {
        match (self.records, self.without_clock) {
            ([0, all], without) if 0 < without && without == all => {
                Err("the log has no dates: write --from and --to as times since its first line, such as 90s"
                    .to_owned())
            }
            ([0, left_out], _) if 0 < left_out => {
                let passed_s = self.timeline.end_ns() as f64 / 1e9;
                Err(format!(
                    "nothing of the log lies between --from and --to: it goes on for {passed_s:.0} s"
                ))
            }
            _ => {
                if let (false, Some(jvm)) = (self.was_open, &self.outside) {
                    self.inner.jvm(jvm);
                }
                let end = |end: Option<LogTime>, none: &str| {
                    end.map_or_else(|| none.to_owned(), |end| end.to_string())
                };
                let (from, to) = (end(self.from, "the beginning"), end(self.to, "the end"));
                let outside = self.records[1];
                let text =
                    format!("only the log from {from} to {to} was read; {outside} records lie outside");
                self.inner.problem(Problem::new("--from, --to", text));
                Ok(())
            }
        }
    }

    /// Whether an instant, which ends at `passed_ns` of the axis, lies in the part; absent where its clock is not known.
    fn has(&self, at: &GcInstant, passed_ns: Option<u64>) -> Option<bool> {
        let against = |end: Option<LogTime>, none: i128| -> Option<(i128, i128)> {
            match end {
                None => Some((0, none)),
                Some(LogTime::Unix(ns)) => Some((i128::from(at.unix_ns?), i128::from(ns))),
                Some(LogTime::Passed(ns)) => Some((i128::from(passed_ns?), i128::from(ns))),
            }
        };
        let ((at_from, from), (at_to, to)) = (against(self.from, i128::MIN)?, against(self.to, i128::MAX)?);
        Some(from <= at_from && at_to <= to)
    }

    fn open(&mut self) {
        if !self.is_open && self.was_open {
            self.inner.begin_jvm();
        }
        (self.is_open, self.was_open) = (true, true);
    }
}

impl GcSink for LogPart<'_> {
    fn begin_source(&mut self, name: &str) {
        self.inner.begin_source(name);
    }

    fn end_source(&mut self, source: &GcSource) {
        self.inner.end_source(source);
    }

    fn begin_jvm(&mut self) {
        self.timeline.begin_jvm();
        self.is_open = false;
    }

    fn jvm(&mut self, jvm: &GcJvm) {
        match self.is_open {
            true => self.inner.jvm(jvm),
            false => self.outside = Some(jvm.clone()),
        }
    }

    fn dated(&mut self, at: &GcInstant) {
        let passed_ns = self.timeline.see(at).map(|span| span.end_ns);
        if self.has(at, passed_ns) == Some(true) {
            self.open();
            self.inner.dated(at);
        }
    }

    fn record(&mut self, record: GcRecord) {
        let passed_ns = self.timeline.place(&record).map(|span| span.end_ns);
        let has = self.has(&record.end, passed_ns);
        self.without_clock += u64::from(has.is_none());
        self.records[usize::from(has != Some(true))] += 1;
        if has == Some(true) {
            self.open();
            self.inner.record(record);
        }
    }

    fn reconciliation(&mut self, _of_the_whole: GcReconciliation) {}

    fn unrecognized(&mut self, at: At, text: &str) {
        self.inner.unrecognized(at, text);
    }

    fn problem(&mut self, problem: Problem) {
        self.inner.problem(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, AnalysisOptions};
    use assay_gclog::GcStream;
    use assay_model::GcRecordKind;

    #[derive(Default)]
    struct Taken {
        lines: Vec<u64>,
        jvms: u64,
        problems: Vec<Problem>,
    }

    impl GcSink for Taken {
        fn begin_jvm(&mut self) {
            self.jvms += 1;
        }
        fn record(&mut self, record: GcRecord) {
            self.lines.push(record.line);
        }
        fn problem(&mut self, problem: Problem) {
            self.problems.push(problem);
        }
    }

    const S: i64 = 1_000_000_000;

    /// Two JVMs with a pause each second, an hour between them: lines 0 to 9, dates from 1,000 s on, and lines 10 to 19.
    fn feed(part: &mut LogPart, has_dates: bool) {
        for line in 0..20_i64 {
            if line == 10 {
                part.begin_jvm();
            }
            let unix_ns = (1_000 + line + if line < 10 { 0 } else { 3_600 }) * S;
            let mut record = GcRecord::new(GcRecordKind::Pause, "Pause Young", 0, line.unsigned_abs());
            record.end.uptime_ns = Some((line % 10 * S).unsigned_abs());
            record.end.unix_ns = has_dates.then_some(unix_ns);
            part.record(record);
        }
    }

    fn read(from: Option<&str>, to: Option<&str>, has_dates: bool) -> Result<Taken, String> {
        let mut taken = Taken::default();
        let [from, to] = [from, to].map(|end| end.map(|text| LogTime::parse(text).expect("a time")));
        let mut part = LogPart::new(&mut taken, from, to)?;
        feed(&mut part, has_dates);
        part.finish().map(|()| taken)
    }

    #[test]
    fn a_part_has_both_its_ends_by_either_clock() {
        let lines = |from, to| read(from, to, true).map(|taken| (taken.lines, taken.jvms));
        assert_eq!(
            lines(Some("7s"), Some("11s")),
            Ok((vec![7, 8, 9, 10, 11, 12], 1)),
            "9 s of one JVM, then the next"
        );
        let dates = [Some("1970-01-01T00:16:48Z"), Some("1970-01-01T01:16:52")];
        assert_eq!(lines(dates[0], dates[1]), Ok((vec![8, 9, 10, 11, 12], 1)));
        assert_eq!(
            lines(Some("1970-01-01 01:00"), None),
            Ok(((10..20).collect(), 0)),
            "the first JVM is not there"
        );
        assert_eq!(lines(None, Some("1s")), Ok((vec![0, 1], 0)));
    }

    /// The JVM of this log started a quarter of a second before its second pause.
    #[test]
    fn the_time_before_a_part_is_not_of_its_span() {
        let report = |from: Option<&str>| {
            let from = from.map(|text| LogTime::parse(text).expect("a time"));
            let options = AnalysisOptions { begins_later: from.is_some(), ..AnalysisOptions::default() };
            let mut analysis = Analysis::new(options);
            let log = std::fs::read(assay_testkit::testdata("gclog/17-g1.log")).expect("a log");
            let mut part = LogPart::new(&mut analysis, from, None).expect("one end");
            let mut stream = GcStream::default();
            stream.begin_source("gc.log", &mut part);
            stream.feed(&log, &mut part);
            stream.end_source(&mut part);
            stream.finish(&mut part);
            part.finish().expect("a part");
            analysis.report()
        };
        let (whole, part) = (report(None), report(Some("400ms")));
        let (whole_s, part_s) = (whole.span_s.expect("a span"), part.span_s.expect("a span"));
        // Pauses ended at 416 to 570 ms; the log ends at 588 ms.
        assert!((0.585..0.595).contains(&whole_s) && (0.15..0.19).contains(&part_s), "{whole_s} {part_s}");
        assert_eq!((whole.pauses.count, part.pauses.count), (9, 7));
    }

    #[test]
    fn a_part_without_anything_says_why() {
        let why = |from, has_dates| read(Some(from), None, has_dates).err().unwrap_or_default();
        assert!(why("1h", true).contains("it goes on for 18 s"), "{}", why("1h", true));
        assert!(why("1970-01-01T00:16:48Z", false).contains("the log has no dates"));
        let reversed = read(Some("5s"), Some("2s"), true).err();
        assert_eq!(reversed.as_deref(), Some("--from is later than --to"));
        let taken = read(Some("2s"), None, false).expect("a part");
        assert!(
            taken.problems[0].text.contains("from 2 s to the end was read; 2 records"),
            "{:?}",
            taken.problems
        );
    }

    #[test]
    fn times_are_dates_in_utc_or_since_the_first_line() {
        let unix = Ok(LogTime::Unix(1_000 * S));
        for text in [
            "1970-01-01T00:16:40Z",
            "1970-01-01T00:16:40",
            "1970-01-01 00:16:40",
            "1970-01-01T01:16:40+01:00",
        ] {
            assert_eq!(LogTime::parse(text), unix, "{text}");
        }
        assert_eq!(LogTime::parse("90s"), Ok(LogTime::Passed(90_000_000_000)));
        for wrong in ["", "noon", "10:05", "2026-13-01T00:00"] {
            assert!(LogTime::parse(wrong).is_err(), "{wrong}");
        }
    }
}
