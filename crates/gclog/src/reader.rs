//! The reader: bytes in any portions, to a log with its events and problems.

use crate::heap_bytes::HeapLines;
use crate::line::{Line, Stamp};
use crate::mode::ModeEvidence;
use crate::rules::{self, Fact, Pause};
use assay_model::{GcEvent, GcLog, Problem};
use std::collections::VecDeque;
use std::io::{BufRead, ErrorKind};

/// A longer line is not read: the longest that a JVM writes has a few hundred bytes.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Further problems are counted, not listed.
const PROBLEMS_MAX: usize = 50;
/// Lines without a rule that are listed as problems; all are counted.
const STRANGE_LINES_LISTED: u64 = 3;
/// Events of one log: at 10 pauses a second, five days.
const EVENTS_MAX: usize = 4_000_000;
/// Collections whose lines may be interleaved: a concurrent cycle, pauses within it, and spare.
const OPEN_COLLECTIONS_MAX: usize = 8;
/// A JVM writes its first line sooner after its start; the clock of a machine has usually counted for longer.
const FIRST_LINE_UPTIME_NS_MAX: u64 = 60_000_000_000;

/// Reads a GC log as it comes: feed it bytes in any portions, look at the events so far, finish it.
///
/// The result depends on the bytes alone, not on how they were cut. Memory grows with the events only; time
/// with the bytes. Content is never an error.
#[derive(Debug, Clone, Default)]
pub struct GcLogReader {
    source: String,
    partial: Vec<u8>,
    is_overlong: bool,
    log: GcLog,
    problems_unlisted: u64,
    mode: ModeEvidence,
    open: VecDeque<OpenCollection>,
    lone_nanos_are_uptime: Option<bool>,
}

/// A collection some of whose lines were seen. Its event is in the log once its pause is over; lines that
/// come after (Parallel draws the heap after its pause line) still make it finer.
#[derive(Debug, Clone)]
struct OpenCollection {
    id: u64,
    heap: HeapLines,
    event: Option<EventSoFar>,
}

#[derive(Debug, Clone, Copy)]
struct EventSoFar {
    index: usize,
    pause_line: Option<[u64; 3]>,
}

impl GcLogReader {
    /// A reader for a log; `source` names it in problems, for example its file name.
    pub fn new(source: impl Into<String>) -> Self {
        GcLogReader { source: source.into(), ..GcLogReader::default() }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.partial.is_empty() && !self.is_overlong && line.len() <= LINE_BYTES_MAX {
                self.take_line(line);
            } else {
                self.keep(line);
                self.take_kept();
            }
        }
        self.keep(bytes);
    }

    /// Events so far, in the order of the log. The last few may still become finer.
    pub fn events(&self) -> &[GcEvent] {
        &self.log.events
    }

    /// Ends the log: what stands after the last end of line counts as a line.
    pub fn finish(mut self) -> GcLog {
        if !self.partial.is_empty() || self.is_overlong {
            self.take_kept();
        }
        self.log.mode = self.mode.mode();
        self.log.heap = self.mode.heap();
        if self.log.lines > 0 && self.log.lines_not_understood == self.log.lines {
            let what =
                "no line of HotSpot's unified logging in it; a log of JDK 8 or older cannot be read yet";
            self.log.problems.insert(0, Problem::new(self.source.clone(), what));
        }
        if self.problems_unlisted > 0 {
            let what = format!("{} further problems", self.problems_unlisted);
            self.log.problems.push(Problem::new(self.source, what));
        }
        self.log
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.is_overlong || self.partial.len() + bytes.len() > LINE_BYTES_MAX {
            self.is_overlong = true;
            self.partial.clear();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn take_kept(&mut self) {
        if std::mem::take(&mut self.is_overlong) {
            self.log.lines += 1;
            self.log.lines_not_understood += 1;
            self.problem(format!("line of more than {LINE_BYTES_MAX} bytes"));
            return;
        }
        let line = std::mem::take(&mut self.partial);
        self.take_line(&line);
        self.partial = line;
        self.partial.clear();
    }

    fn take_line(&mut self, bytes: &[u8]) {
        self.log.lines += 1;
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let line = Line::parse(&text);
        if let (None, Some(first)) = (self.lone_nanos_are_uptime, line.lone_nanos()) {
            self.lone_nanos_are_uptime = Some(first < FIRST_LINE_UPTIME_NS_MAX);
        }
        match rules::read(&line) {
            Some(fact) => self.take_fact(&fact, &line),
            None if line.text.is_empty() => {}
            None => self.strange_line(&text),
        }
    }

    fn strange_line(&mut self, text: &str) {
        self.log.lines_not_understood += 1;
        if self.log.lines_not_understood <= STRANGE_LINES_LISTED {
            let start: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
            self.problem(format!("line not understood: {start}"));
        }
    }

    fn take_fact(&mut self, fact: &Fact<'_>, line: &Line<'_>) {
        self.mode.take(fact, line.text);
        match fact {
            Fact::Version(version) => self.log.jvm = Some((*version).to_owned()),
            Fact::Collector(name) => self.log.collector = Some((*name).to_owned()),
            Fact::Torn(what) => {
                self.log.lines_not_understood += 1;
                self.problem((*what).to_owned());
            }
            Fact::Pause(pause) => self.take_pause(pause, line),
            Fact::HeapBefore
            | Fact::HeapAfter
            | Fact::Space { .. }
            | Fact::Extent { .. }
            | Fact::Transition { .. } => {
                if let Some(id) = line.gc_id {
                    let index = self.open_collection(id);
                    self.open[index].heap.take(fact);
                    self.refine(index);
                }
            }
            _ => {}
        }
    }

    fn take_pause(&mut self, pause: &Pause<'_>, line: &Line<'_>) {
        if self.log.events.len() >= EVENTS_MAX {
            self.problem(format!("more than {EVENTS_MAX} pauses: this one is left out"));
            return;
        }
        // Without a number in the line, pauses are numbered as they come.
        let id = line.gc_id.unwrap_or(self.log.events.len() as u64);
        let stamp: Stamp = line.stamp(self.lone_nanos_are_uptime.unwrap_or(false));
        self.log.events.push(GcEvent {
            id,
            kind: pause.kind,
            cause: pause.cause.map(str::to_owned),
            end_monotonic_ns: stamp.monotonic_ns,
            end_uptime_s: stamp.uptime_s,
            pause_ns: pause.pause_ns,
            before_bytes: None,
            after_bytes: None,
            capacity_bytes: None,
            line: self.log.lines,
        });
        let mut at = self.open_collection(id);
        if self.open[at].event.is_some() {
            // The next stop of the same concurrent cycle: the heap lines so far belong to the one before.
            self.open.remove(at);
            at = self.open_collection(id);
        }
        let event = EventSoFar { index: self.log.events.len() - 1, pause_line: pause.sizes };
        self.open[at].event = Some(event);
        self.refine(at);
    }

    /// Index of the collection with this number among the open ones.
    fn open_collection(&mut self, id: u64) -> usize {
        if let Some(at) = self.open.iter().rposition(|open| open.id == id) {
            return at;
        }
        if self.open.len() == OPEN_COLLECTIONS_MAX {
            self.open.pop_front();
        }
        self.open.push_back(OpenCollection { id, heap: HeapLines::default(), event: None });
        self.open.len() - 1
    }

    /// Gives the event of an open collection the finest bytes there are by now.
    fn refine(&mut self, at: usize) {
        let open = &self.open[at];
        let Some(so_far) = open.event else { return };
        let bytes = open.heap.finest(so_far.pause_line);
        let event = &mut self.log.events[so_far.index];
        event.before_bytes = bytes.before;
        event.after_bytes = bytes.after;
        event.capacity_bytes = bytes.capacity;
    }

    fn problem(&mut self, what: String) {
        if self.log.problems.len() < PROBLEMS_MAX {
            self.log.problems.push(Problem::at_line(self.source.clone(), self.log.lines, what));
        } else {
            self.problems_unlisted += 1;
        }
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
                reader.problem(format!("reading ended early: {error}"));
                return reader.finish();
            }
        }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
