//! A log whole in memory, for callers that want its JVM or hold a short log. Logs of any size go through a sink of their own.

use crate::contract::{At, GcSink};
use crate::scan::shortened;
use crate::stream::GcStream;
use assay_model::{GcJvm, GcRecord, GcRecordKind, GcSource, Problem};
use std::io::Read;

/// Further problems are counted, not listed.
const PROBLEMS_MAX: usize = 50;
/// Lines without a rule that are listed as problems; all are counted.
const UNRECOGNIZED_LINES_LISTED: u64 = 3;
/// Records of one log: at 10 a second, five days.
const RECORDS_MAX: usize = 4_000_000;
const BUFFER_BYTES: usize = 64 << 10;

/// Everything that is said of a log, kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    /// The JVM that wrote last, as far as it is known.
    pub jvm: GcJvm,
    /// What the collector did, in the order of its end.
    pub records: Vec<GcRecord>,
    /// Lines read.
    pub lines: u64,
    /// Lines that no rule accounts for.
    pub lines_not_understood: u64,
    /// What could not be read.
    pub problems: Vec<Problem>,
    source: String,
    unrecognized: u64,
    problems_unlisted: u64,
}

impl Records {
    /// Nothing so far of a log that is named so in problems.
    pub fn new(source: impl Into<String>) -> Self {
        Records { source: source.into(), ..Records::default() }
    }

    /// Reads a whole log. Content is never an error, and an I/O error ends the log early and is listed as a problem.
    pub fn read(source: impl Into<String>, from: impl Read) -> Self {
        let mut records = Records::new(source);
        let name = records.source.clone();
        read_into(&name, from, &mut records);
        records.end();
        records
    }

    /// Pauses whose length is known.
    pub fn pauses(&self) -> impl Iterator<Item = &GcRecord> {
        self.records.iter().filter(|r| r.kind == GcRecordKind::Pause && r.duration_ns.is_some())
    }

    /// Says what can only be said of the whole log.
    fn end(&mut self) {
        if self.lines > 0 && self.lines_not_understood == self.lines {
            let what = "no line of a GC log in it that is understood";
            self.problems.insert(0, Problem::new(self.source.clone(), what));
        }
        if self.problems_unlisted > 0 {
            let what = format!("{} further problems", self.problems_unlisted);
            self.problems.push(Problem::new(self.source.clone(), what));
        }
    }
}

impl GcSink for Records {
    fn end_source(&mut self, source: &GcSource) {
        self.lines += source.lines;
        self.lines_not_understood += source.lines_not_understood;
    }

    fn jvm(&mut self, jvm: &GcJvm) {
        self.jvm.clone_from(jvm);
    }

    fn record(&mut self, record: GcRecord) {
        if self.records.len() < RECORDS_MAX {
            self.records.push(record);
        } else {
            let what = format!("more than {RECORDS_MAX} records: this one is left out");
            self.problem(Problem::at_line(self.source.clone(), record.line, what));
        }
    }

    fn unrecognized(&mut self, at: At, text: &str) {
        self.unrecognized += 1;
        if self.unrecognized <= UNRECOGNIZED_LINES_LISTED {
            let what = format!("line not understood: {}", shortened(text, 100));
            self.problem(Problem::at_line(self.source.clone(), at.line, what));
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else {
            self.problems_unlisted += 1;
        }
    }
}

/// Keeps the JVM alone.
struct JvmOnly(GcJvm);

impl GcSink for JvmOnly {
    fn jvm(&mut self, jvm: &GcJvm) {
        self.0.clone_from(jvm);
    }
    fn record(&mut self, _record: GcRecord) {}
}

/// The JVM that wrote a log: version, collector, reference mode, heap. Facts that the log does not have are absent, also where it is
/// no GC log at all.
pub fn read_jvm(from: impl Read) -> GcJvm {
    let mut jvm = JvmOnly(GcJvm::default());
    read_into("log", from, &mut jvm);
    jvm.0
}

/// Reads one source from its first byte to its last. An I/O error ends it early and is a problem.
pub fn read_into(name: &str, mut from: impl Read, sink: &mut dyn GcSink) {
    let mut stream = GcStream::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    stream.begin_source(name, sink);
    if let Err(error) = stream.feed_from(&mut from, &mut buffer, sink) {
        sink.problem(Problem::new(name, format!("reading ended early: {error}")));
    }
    stream.end_source(sink);
    stream.finish(sink);
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
