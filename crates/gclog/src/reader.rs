//! A whole log as one value: its pauses, its mode, its problems. For callers that hold one log in memory; logs of any size go through
//! [`GcStream`].

use crate::dialect::At;
use crate::scan::shortened;
use crate::stream::{GcSink, GcStream};
use assay_model::{
    GcEvent, GcEventKind, GcJvm, GcLog, GcRecord, GcRecordKind, GcScope, GcSource, GcTrouble, Problem,
};
use std::io::{BufRead, ErrorKind};

/// Further problems are counted, not listed.
const PROBLEMS_MAX: usize = 50;
/// Lines without a rule that are listed as problems; all are counted.
const STRANGE_LINES_LISTED: u64 = 3;
/// Events of one log: at 10 pauses a second, five days.
const EVENTS_MAX: usize = 4_000_000;

/// Reads a GC log as it comes: feed it bytes in any portions, look at the events so far, finish it.
///
/// The result depends on the bytes alone, not on how they were cut. Memory grows with the events only; time
/// with the bytes. Content is never an error.
#[derive(Debug)]
pub struct GcLogReader {
    stream: GcStream,
    kept: Kept,
}

/// What is kept of a log.
#[derive(Debug, Default)]
struct Kept {
    source: String,
    log: GcLog,
    strange: u64,
    problems_unlisted: u64,
}

impl GcLogReader {
    /// A reader for a log; `source` names it in problems, for example its file name.
    pub fn new(source: impl Into<String>) -> Self {
        let mut kept = Kept { source: source.into(), ..Kept::default() };
        let mut stream = GcStream::default();
        let name = kept.source.clone();
        stream.begin_source(&name, &mut kept);
        GcLogReader { stream, kept }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.stream.feed(bytes, &mut self.kept);
    }

    /// Events so far, in the order of the log. The last comes when its last line is known.
    pub fn events(&self) -> &[GcEvent] {
        &self.kept.log.events
    }

    /// Ends the log: what stands after the last end of line counts as a line.
    pub fn finish(self) -> GcLog {
        let GcLogReader { mut stream, mut kept } = self;
        stream.end_source(&mut kept);
        stream.finish(&mut kept);
        if kept.log.lines > 0 && kept.log.lines_not_understood == kept.log.lines {
            let what = "no line of a GC log in it that is understood";
            kept.log.problems.insert(0, Problem::new(kept.source.clone(), what));
        }
        if kept.problems_unlisted > 0 {
            let what = format!("{} further problems", kept.problems_unlisted);
            kept.log.problems.push(Problem::new(kept.source, what));
        }
        kept.log
    }
}

impl GcSink for Kept {
    fn end_source(&mut self, source: &GcSource) {
        self.log.lines = source.lines;
        self.log.lines_not_understood = source.lines_not_understood;
    }

    fn jvm(&mut self, jvm: &GcJvm) {
        self.log.jvm.clone_from(&jvm.version);
        self.log.collector.clone_from(&jvm.collector);
        self.log.mode.clone_from(&jvm.mode);
        self.log.heap = jvm.heap;
    }

    fn record(&mut self, record: GcRecord) {
        let (GcRecordKind::Pause, Some(pause_ns)) = (record.kind, record.duration_ns) else { return };
        if self.log.events.len() >= EVENTS_MAX {
            self.add_problem(record.line, format!("more than {EVENTS_MAX} pauses: this one is left out"));
            return;
        }
        self.log.events.push(GcEvent {
            // Without a number in the log, pauses are numbered as they come.
            id: record.cycle_id.unwrap_or(self.log.events.len() as u64),
            kind: kind(&record),
            cause: record.cause,
            end_monotonic_ns: record.end.monotonic_ns,
            end_uptime_s: record.end.uptime_ns.map(|ns| ns as f64 / 1e9),
            pause_ns,
            before_bytes: record.heap.before_bytes,
            after_bytes: record.heap.after_bytes,
            capacity_bytes: record.heap.capacity_bytes,
            line: record.line,
        });
    }

    fn strange(&mut self, at: At, text: &str) {
        self.strange += 1;
        if self.strange <= STRANGE_LINES_LISTED {
            let start = shortened(text, 100);
            self.add_problem(at.line, format!("line not understood: {start}"));
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.keep_problem(problem);
    }
}

impl Kept {
    fn add_problem(&mut self, line: u64, what: String) {
        self.keep_problem(Problem::at_line(self.source.clone(), line, what));
    }

    fn keep_problem(&mut self, problem: Problem) {
        if self.log.problems.len() < PROBLEMS_MAX {
            self.log.problems.push(problem);
        } else {
            self.problems_unlisted += 1;
        }
    }
}

/// What a pause is to those who count bytes between collections: only one that collects, not a stop of a concurrent cycle, begins
/// and ends a count.
fn kind(record: &GcRecord) -> GcEventKind {
    let collects = record.heap.after_bytes.is_some() && !record.troubles.contains(&GcTrouble::Degenerated);
    match record.scope {
        Some(GcScope::Full) => GcEventKind::Full,
        Some(GcScope::Young) if collects => GcEventKind::Young,
        Some(GcScope::Mixed) if collects => GcEventKind::Mixed,
        _ => GcEventKind::ConcurrentStop,
    }
}

/// Reads a whole log. An I/O error ends it early and is listed as a problem.
pub fn read(source: impl Into<String>, mut from: impl BufRead) -> GcLog {
    let mut reader = GcLogReader::new(source);
    loop {
        match from.fill_buf() {
            Ok([]) => return reader.finish(),
            Ok(bytes) => {
                reader.feed(bytes);
                let taken = bytes.len();
                from.consume(taken);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let problem =
                    Problem::new(reader.kept.source.clone(), format!("reading ended early: {error}"));
                reader.kept.keep_problem(problem);
                return reader.finish();
            }
        }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
