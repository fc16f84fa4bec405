//! Brackets within brackets, across lines: what threads of the collector write into the middle of one another's lines is a
//! bracket of its own and does no harm.

use super::frame::Frame;
use super::names::{Name, name};
use super::pause::{Pause, set_space};
use super::text::{Stamp, is_between_words, seconds, seconds_with_unit, sizes, without_first, without_last};
use super::{Jdk8, lines};
use crate::contract::At;
use crate::contract::GcSink;
use crate::decimal::Decimal;
use assay_model::{GcAnomaly, GcCpu, GcPart, GcRecord, GcRecordKind, GcScope, GcSpace};

/// Parts of a pause that are kept: a few kinds, each once.
const PARTS_MAX: usize = 8;
/// So deep no JVM nests.
const DEPTH_MAX: usize = 24;

/// The outcome of a piece of text between brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracketOutcome {
    Understood,
    Unrecognized,
    /// It is a message of another kind, which takes the rest of the line.
    RestOfLine,
}

impl Jdk8 {
    /// Takes a line with brackets, or a piece of one; says whether all of it is understood.
    pub(super) fn take_brackets(&mut self, line: &str, at: At, sink: &mut dyn GcSink) -> bool {
        let mut is_understood = true;
        let mut rest = line;
        while let Some(bracket) = memchr::memchr2(b'[', b']', rest.as_bytes()) {
            let (text, behind) = rest.split_at(bracket);
            if let Some(behind) = behind.strip_prefix('[') {
                let (text, stamp) = Stamp::behind(text);
                match self.take_piece(text, rest, at, sink) {
                    BracketOutcome::RestOfLine => return is_understood,
                    piece => is_understood &= piece == BracketOutcome::Understood,
                }
                let (name, chars) = name(behind);
                if name == Name::Detail {
                    self.take_part(behind);
                }
                is_understood &= name != Name::Unknown;
                rest = &behind[chars..];
                self.open(name, stamp, at, sink);
            } else {
                match self.take_piece(text, rest, at, sink) {
                    BracketOutcome::RestOfLine => return is_understood,
                    piece => is_understood &= piece == BracketOutcome::Understood,
                }
                rest = &behind[1..];
                is_understood &= self.close(at, sink);
            }
        }
        self.take_piece(rest, rest, at, sink) != BracketOutcome::Unrecognized && is_understood
    }

    fn open(&mut self, name: Name, stamp: Stamp, at: At, sink: &mut dyn GcSink) {
        if let Name::Pause(words) = name {
            self.check_clock(&stamp, at, sink);
            if self.pauses.last().is_some_and(|pause| !pause.may_hold_pause()) || 1 < self.pauses.len() {
                self.lose_open(sink);
            }
            if self.pauses.is_empty() {
                self.release(sink);
            }
            self.pauses.push(Pause::new(words, stamp, at.source, at.line));
        } else if stamp.is_there()
            && !is_concurrent(name)
            && let Some(pause) = self.pauses.last_mut()
        {
            pause.part_begins(&stamp);
        }
        if self.frames.len() == DEPTH_MAX {
            self.lose_open(sink);
        }
        match name {
            Name::YoungOccupancy => {
                if let Some(pause) = self.pauses.last_mut() {
                    pause.begin_remark();
                }
            }
            Name::ConcurrentStart(phase) => self.phase_begun = Some((phase, stamp)),
            _ => {}
        }
        self.frames.push(Frame {
            name,
            stamp,
            sizes: None,
            duration: None,
            cpu: None,
            workers: None,
            line: at.line,
        });
    }

    /// Brackets that a torn line has left open end where the next line begins, or at the latest the next record, by its stamp. Those of
    /// a pause stay, since it may be written over lines, and so do G1's details behind it, which have no stamps.
    pub(super) fn resynchronise(&mut self, line: &str) {
        let begins_record =
            line.bytes().next().is_some_and(|b| b.is_ascii_digit()) && Stamp::skip(line).len() < line.len();
        if begins_record && self.pauses.is_empty() {
            self.frames.clear();
        }
        let is_torn = |frame: &Frame| match frame.name {
            Name::Times => true,
            Name::Unknown => begins_record,
            name => is_concurrent(name) && begins_record,
        };
        while self.frames.last().is_some_and(is_torn) {
            self.frames.pop();
        }
    }

    /// Open frames have lost their end; a young collection and the like follow.
    fn lose_open(&mut self, sink: &mut dyn GcSink) {
        for pause in self.pauses.drain(..) {
            let (source, line) = pause.first_line();
            sink.problem(At { source, line }.problem("the end of a pause is missing"));
        }
        self.frames.clear();
    }

    /// Ends the innermost bracket; says whether there was one.
    fn close(&mut self, at: At, sink: &mut dyn GcSink) -> bool {
        // Frames are large: it is read where it lies. What follows opens and closes no other.
        let mut frames = std::mem::take(&mut self.frames);
        if let Some(frame) = frames.last() {
            self.close_frame(frame, at, sink);
        }
        let left = frames.len().checked_sub(1);
        frames.truncate(left.unwrap_or(0));
        self.frames = frames;
        left.is_some()
    }

    fn close_frame(&mut self, frame: &Frame, at: At, sink: &mut dyn GcSink) {
        if let Some(name) = frame.name.of_collector() {
            self.header.take_name(name);
        }
        match (frame.name, self.pauses.last_mut()) {
            (Name::Pause(_), _) => self.close_pause(frame, at, sink),
            (Name::Young(name), Some(pause)) => pause.young(name, frame.sizes),
            (Name::Old(name), Some(pause)) => pause.old(name, frame.sizes),
            (Name::Mark(name), Some(pause)) => pause.mark(name, frame.sizes),
            (Name::Permanent, Some(pause)) => {
                if let Some(sizes) = frame.sizes {
                    pause.permanent(sizes);
                }
            }
            (Name::Permanent, None) => {
                if let (Some(sizes), Some(record)) = (frame.sizes, self.last_pause()) {
                    set_space(record, GcSpace::Metaspace, sizes);
                }
            }
            (Name::Sizes, _) => {
                if let (Some(sizes), Some(record)) = (frame.sizes, self.last_pause()) {
                    record.heap = sizes;
                }
            }
            (Name::Parallel, _) => {
                if let Some(record) = self.last_pause() {
                    record.workers = frame.workers;
                }
            }
            (Name::Concurrent(phase), _) => self.close_concurrent(phase, frame, at, sink),
            (Name::ConcurrentAbort(phase), _) => self.close_abort(phase, frame, at, sink),
            (Name::Times, _) => self.put_times(frame.cpu),
            _ => {}
        }
    }

    fn close_pause(&mut self, frame: &Frame, at: At, sink: &mut dyn GcSink) {
        let Some(mut pause) = self.pauses.pop() else { return };
        if let Some(sizes) = frame.sizes {
            pause.heap(sizes);
        }
        self.seen_g1 |= pause.is_g1();
        let record = pause.end(frame.duration, at.source, at.line);
        match self.pauses.last_mut() {
            Some(outer) => outer.inner(record),
            None => self.wait(record, true, sink),
        }
    }

    fn close_concurrent(&mut self, phase: &'static str, frame: &Frame, at: At, sink: &mut dyn GcSink) {
        let mut record = GcRecord::new(GcRecordKind::Concurrent, phase, at.source, at.line);
        record.scope = Some(GcScope::Old);
        record.first_line = frame.line.min(at.line);
        record.cycle_id = frame.stamp.gc_id;
        record.end = frame.stamp.after(0);
        if let Some((ns, step_ns)) = frame.duration {
            record.duration_ns = Some(ns);
            record.duration_resolution_ns = Some(step_ns);
        }
        self.phase_begun = None;
        // G1 writes no CPU time behind them.
        self.wait(record, phase.starts_with("CMS"), sink);
    }

    /// A phase that was given up: how long it took is what lies between the stamps.
    fn close_abort(&mut self, phase: &'static str, frame: &Frame, at: At, sink: &mut dyn GcSink) {
        let mut record = GcRecord::new(GcRecordKind::Concurrent, phase, at.source, at.line);
        record.scope = Some(GcScope::Old);
        record.cycle_id = frame.stamp.gc_id;
        record.end = frame.stamp.after(0);
        record.anomalies.push(GcAnomaly::Aborted);
        if let Some((_, begun)) = self.phase_begun.take().filter(|(name, _)| *name == phase) {
            let begun = begun.after(0);
            let by_uptime =
                record.end.uptime_ns.zip(begun.uptime_ns).and_then(|(end, begun)| end.checked_sub(begun));
            let by_date = record.end.unix_ns.zip(begun.unix_ns);
            let by_date = by_date.and_then(|(end, begun)| u64::try_from(end.checked_sub(begun)?).ok());
            record.duration_ns = by_uptime.or(by_date);
            record.duration_resolution_ns = record.duration_ns.and(record.end.resolution_ns);
        }
        self.wait(record, false, sink);
    }

    /// CPU time is of what ended just before it; G1 writes it behind its details.
    fn put_times(&mut self, cpu: Option<GcCpu>) {
        let Some(cpu) = cpu else { return };
        let is_just_ended = std::mem::take(&mut self.times_follow);
        let waits = |record: &&mut GcRecord| {
            record.cpu.is_none() && (is_just_ended || record.kind == GcRecordKind::Pause)
        };
        if let Some(record) = self.waiting.iter_mut().rev().find(waits) {
            record.cpu = Some(cpu);
        }
    }

    /// Takes text between brackets; `tail` is the line from there on.
    fn take_piece(&mut self, text: &str, tail: &str, at: At, sink: &mut dyn GcSink) -> BracketOutcome {
        let trimmed = without_last(without_first(text, is_between_words), is_between_words);
        let Some(frame) = self.frames.last_mut() else {
            // Two threads wrote at once: their stamps stand before the bracket of the one.
            let is_of_other = text.len() < tail.len() && Stamp::behind(text.trim_end()).0.is_empty();
            let is_understood = trimmed.is_empty() || is_of_other;
            return if is_understood {
                BracketOutcome::Understood
            } else {
                self.take_outside(tail, at, sink)
            };
        };
        if trimmed.is_empty() {
            return BracketOutcome::Understood;
        }
        match frame.name {
            Name::Detail | Name::YoungOccupancy | Name::ConcurrentStart(_) | Name::ConcurrentAbort(_) => {
                BracketOutcome::Understood
            }
            Name::Unknown => BracketOutcome::Unrecognized,
            Name::Times => cpu(trimmed).map_or(BracketOutcome::Unrecognized, |cpu| {
                frame.cpu = Some(cpu);
                BracketOutcome::Understood
            }),
            Name::Parallel => {
                frame.workers =
                    text.rsplit_once("GC Workers: ").and_then(|(_, number)| number.trim().parse().ok());
                BracketOutcome::Understood
            }
            Name::Eden => {
                let found = self.take_eden(trimmed);
                if found.is_some() { BracketOutcome::Understood } else { BracketOutcome::Unrecognized }
            }
            _ => self.take_words(text, tail, at, sink),
        }
    }

    /// Words of a pause, a generation, or a phase beside the application.
    fn take_words(&mut self, text: &str, tail: &str, at: At, sink: &mut dyn GcSink) -> BracketOutcome {
        let (Some(frame), mut pause) = (self.frames.last_mut(), self.pauses.last_mut()) else {
            return BracketOutcome::Unrecognized;
        };
        let mut rest = text;
        loop {
            rest = without_first(rest, |b| is_between_words(b) || b == b'/');
            let Some(first) = rest.bytes().next() else { return BracketOutcome::Understood };
            match first {
                b'0'..=b'9' => {
                    if let Some(sizes) = sizes(&mut rest) {
                        frame.sizes.get_or_insert(sizes);
                    } else if let Some(duration) = seconds_with_unit(&mut rest) {
                        frame.duration = Some(duration);
                    } else if Stamp::skip(rest).len() < rest.len() {
                        rest = Stamp::skip(rest);
                    } else if let Some(duration) = seconds(&mut rest) {
                        // CMS writes `0.613/0.666 secs`: CPU-like time without yields, and what passed. The latter counts.
                        frame.duration = Some(duration);
                    } else {
                        // Rows of statistics that break into the line begin with numbers, too.
                        break;
                    }
                }
                b'(' if lines::message(rest).is_some() => break,
                b'(' => {
                    let mut scan = crate::scan::Scan(rest);
                    let Some(inside) = scan.group() else { return BracketOutcome::Unrecognized };
                    if let Some(pause) = &mut pause {
                        pause.group(inside);
                    }
                    rest = scan.0;
                }
                // JDK 1.3 and 1.4 write causes so.
                b'<' => {
                    let Some((inside, behind)) = rest[1..].split_once('>') else {
                        return BracketOutcome::Unrecognized;
                    };
                    if let Some(pause) = &mut pause {
                        pause.group(inside);
                    }
                    rest = behind;
                }
                b'-' if rest.starts_with("--") => {
                    if let Some(pause) = &mut pause {
                        pause.undone();
                    }
                    rest = &rest[2..];
                }
                _ => match lines::word(rest) {
                    Some(chars) => rest = &rest[chars..],
                    None => break,
                },
            }
        }
        self.take_outside(&tail[text.len() - rest.len()..], at, sink)
    }

    /// Text that belongs to no bracket, or breaks into one. A message may hold brackets: it is taken with all that follows.
    fn take_outside(&mut self, tail: &str, at: At, sink: &mut dyn GcSink) -> BracketOutcome {
        if self.take_message(tail.trim_start(), at, sink) {
            BracketOutcome::RestOfLine
        } else {
            BracketOutcome::Unrecognized
        }
    }

    /// `Ref Proc: 0.6 ms]`, `String Dedup Fixup: 1.2 ms, GC Workers: 2]`, `Ext Root Scanning (ms): Min: 1.5, Avg: 24.2, Max: 46.9, ..]`: a
    /// part of the pause that ended last. Where it has a time for each thread, the pause waits for the longest.
    fn take_part(&mut self, text: &str) {
        let part = match text.as_bytes().first() {
            Some(b'R') => text.strip_prefix("Ref Proc: ").map(|ms| (GcPart::References, ms)),
            Some(b'S') => {
                text.strip_prefix("String Dedup Fixup: ").map(|ms| (GcPart::StringDeduplication, ms))
            }
            Some(b'E') => text
                .strip_prefix("Ext Root Scanning (ms): ")
                .and_then(|behind| behind.split_once("Max: "))
                .map(|(_, ms)| (GcPart::RootScan, ms)),
            _ => None,
        };
        let Some((part, mut ms)) = part else { return };
        let ns = Decimal::take(&mut ms).and_then(|ms| ms.scaled(6));
        if let (Some((ns, _)), Some(record)) = (ns, self.last_pause())
            && record.parts.len() < PARTS_MAX
        {
            record.parts.push((part, ns));
        }
    }

    /// `8192.0K(16.3G)->0.0B(16.0G) Survivors: 188.0M->148.0M Heap: 9260.1M(29.9G)->9212.2M(29.9G)`
    fn take_eden(&mut self, text: &str) -> Option<()> {
        let mut rest = text;
        let eden = sizes(&mut rest)?;
        rest = rest.strip_prefix(" Survivors: ")?;
        let survivors = sizes(&mut rest)?;
        rest = rest.strip_prefix(" Heap: ")?;
        let heap = sizes(&mut rest)?;
        if let Some(record) = self.last_pause() {
            record.heap = heap;
            set_space(record, GcSpace::Eden, eden);
            set_space(record, GcSpace::Survivor, survivors);
        }
        rest.is_empty().then_some(())
    }

    /// The pause that ended last and is not reported yet.
    fn last_pause(&mut self) -> Option<&mut GcRecord> {
        self.waiting.iter_mut().rev().find(|record| record.kind == GcRecordKind::Pause)
    }
}

fn is_concurrent(name: Name) -> bool {
    matches!(name, Name::Concurrent(_) | Name::ConcurrentStart(_) | Name::ConcurrentAbort(_))
}

/// `user=1.70 sys=0.00, real=0.23 secs`
fn cpu(text: &str) -> Option<GcCpu> {
    let mut rest = text;
    let mut figure = |key: &str| -> Option<(u64, u64)> {
        rest = without_first(rest, |b| matches!(b, b' ' | b',')).strip_prefix(key)?;
        Decimal::take(&mut rest)?.scaled(9)
    };
    let (user, sys, real) = (figure("user=")?, figure("sys=")?, figure("real=")?);
    Some(GcCpu { user_ns: user.0, sys_ns: sys.0, real_ns: Some(real.0), resolution_ns: user.1.max(sys.1) })
}
