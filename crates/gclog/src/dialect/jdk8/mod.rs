//! HotSpot before unified logging: JDK 8 and older, -verbose:gc and -XX:+PrintGCDetails with its options.
//!
//! Such a log is not a sequence of lines. Each collection is a bracket that holds brackets of its parts, printed piece by piece
//! over several lines, and threads of a concurrent collector print their own brackets in between:
//!
//! ```text
//! 4.363: [Full GC (System) 4.363: [CMS4.368: [CMS-concurrent-mark: 0.012/0.813 secs] [Times: user=2.51 sys=0.10, real=0.81 secs]
//!  (concurrent mode interrupted): 16487K->23431K(2960704K), 0.18 secs] 84377K->23431K(3127232K), [CMS Perm : 19815K->..], 0.18 secs]
//! ```
//!
//! So what is open is kept over lines ([`frames`]), and whole lines of other kinds ([`lines`]) may stand anywhere. A stamp shows when
//! a pause begins and when a concurrent phase ends.

mod frame;
mod frames;
mod header;
mod lines;
mod names;
mod pause;
mod safepoints;
mod shenandoah;
mod text;

use super::turns::{Fall, INTERLEAVED, Turns};
use crate::contract::{At, Dialect, GcSink, ParseOutcome};
use assay_model::{GcRecord, GcRecordKind, GcSizes, GcSpace};
use frame::Frame;
use header::Header;
use lines::Message;
use names::Name;
use pause::{Pause, set_space};
use std::collections::VecDeque;
use text::{LastStamped, Stamp, seconds};

/// Records that wait for what may still be said of them.
const WAITING_MAX: usize = 16;
/// So far back a clock goes only when another JVM begins: pauses are written in their order.
const CLOCK_BACK_NS: u64 = 1_000_000_000;

/// State of a log of this form.
#[derive(Debug, Default)]
pub(crate) struct Jdk8 {
    /// Open brackets, outermost first.
    frames: Vec<Frame>,
    /// Open pauses among them.
    pauses: Vec<Pause>,
    /// What has ended and may still become finer, in the order of its end.
    waiting: VecDeque<GcRecord>,
    /// CPU time that follows is of the record that ended last.
    times_follow: bool,
    /// The concurrent phase that runs.
    phase_begun: Option<(&'static str, Stamp)>,
    header: Header,
    is_begun: bool,
    seen_g1: bool,
    /// Uptime of the last pause's beginning.
    last_uptime_ns: Option<u64>,
    /// Lines of `-XX:+PrintGCApplicationStoppedTime` have been read: rows of the table of safepoints say the same again.
    has_stopped_lines: bool,
    is_in_heap_after: bool,
    turns: Turns,
    /// Shenandoah logs beginnings, too.
    has_starts: bool,
    last_stamped: LastStamped,
}

/// Whether a line can be of this form.
pub(super) fn recognises(text: &str) -> bool {
    let text = text.trim_start();
    let is_of_jvm = match lines::message(text) {
        // Other programs' files begin lines so, too.
        Some(Message::Version) => text.contains(" VM ("),
        Some(Message::Memory) => text.contains(" page, physical "),
        message => matches!(message, Some(Message::Flags | Message::Stopped)),
    };
    if is_of_jvm {
        return true;
    }
    let is_stamped = text.bytes().next().is_some_and(|b| b.is_ascii_digit());
    if is_stamped && (text.contains(": Application time: ") || text.contains(" threads were stopped: ")) {
        return true;
    }
    if shenandoah::read(text, false, At::default()).is_some() {
        return is_stamped;
    }
    let Some(bracket) = text.find('[').filter(|at| *at < 80) else { return false };
    let (before, _) = Stamp::behind(&text[..bracket]);
    before.trim().is_empty()
        && !matches!(
            names::name(&text[bracket + 1..]).0,
            Name::Unknown | Name::Sizes | Name::Detail | Name::Permanent
        )
}

/// Whether a line is of this form and nothing but its stamp stands before what a collector writes.
pub(super) fn is_of_collector(text: &str) -> bool {
    let begins = ["Application time: ", "Total time for which application threads were stopped: "];
    match begins.iter().find_map(|begin| text.find(begin)) {
        Some(at) => Stamp::behind(&text[..at]).0.trim().is_empty(),
        None => recognises(text),
    }
}

impl Dialect for Jdk8 {
    fn name(&self) -> &'static str {
        "jdk8"
    }

    fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> ParseOutcome {
        if !self.is_begun {
            self.is_begun = true;
            sink.begin_jvm();
            self.header.begin(at);
        }
        let trimmed = text.trim_start();
        let Some(first) = trimmed.bytes().next() else { return ParseOutcome::Understood };
        if !self.frames.is_empty() {
            self.resynchronise(text);
        }
        if lines::is_of_histogram(trimmed) {
            return ParseOutcome::Understood;
        }
        let is_understood = self.take_line(first, text, at, sink);
        if is_understood && first.is_ascii_digit() {
            self.last_stamped.keep(trimmed, sink);
        }
        if is_understood { ParseOutcome::Understood } else { ParseOutcome::Unrecognized }
    }

    fn flush(&mut self, sink: &mut dyn GcSink) {
        self.release(sink);
        self.tell_jvm(sink);
    }

    fn tell_jvm(&self, sink: &mut dyn GcSink) {
        if self.is_begun {
            self.last_stamped.tell(sink);
            sink.jvm(&self.header.jvm());
        }
    }

    fn finish(&mut self, sink: &mut dyn GcSink) {
        for pause in self.pauses.drain(..) {
            let (source, line) = pause.first_line();
            sink.problem(At { source, line }.problem("the log ends within a pause"));
        }
        self.frames.clear();
        self.flush(sink);
    }
}

impl Jdk8 {
    fn take_line(&mut self, first: u8, text: &str, at: At, sink: &mut dyn GcSink) -> bool {
        if self.take_shenandoah(text, at, sink) {
            return true;
        }
        let is_message = first.is_ascii_alphabetic() || matches!(first, b'-' | b'{' | b'}' | b'/');
        is_message && self.take_message(text.trim_start(), at, sink) || self.take_brackets(text, at, sink)
    }

    /// Takes a line of Shenandoah; false when it is none.
    fn take_shenandoah(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> bool {
        if !self.frames.is_empty() {
            return false;
        }
        match shenandoah::read(text, self.has_starts, at) {
            Some(shenandoah::ShenandoahLine::Start) => self.has_starts = true,
            Some(shenandoah::ShenandoahLine::End(record)) => {
                self.header.take_name("Shenandoah");
                self.release(sink);
                sink.record(*record);
            }
            None => return self.header.is_shenandoah() && shenandoah::explains(text),
        }
        true
    }

    /// Takes a message that is not a bracket; false when it is none of those that are known.
    fn take_message(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> bool {
        let Some(message) = lines::message(text) else { return self.take_stamped_message(text, at, sink) };
        match message {
            // Another thread may have written it into the middle of a pause.
            Message::Ignored => {
                return lines::pause_within(text)
                    .is_none_or(|chars| self.take_brackets(&text[chars..], at, sink));
            }
            Message::Prefix(chars) => {
                return text[chars..].trim().is_empty() || self.take_brackets(&text[chars..], at, sink);
            }
            Message::Stopped => return self.take_stopped(text, &Stamp::default(), at, sink),
            Message::Version => self.header.take_version(text, at),
            Message::Memory => self.header.take_memory(text),
            Message::Flags => self.header.take_flags(text),
            Message::HeapAfter => self.is_in_heap_after = true,
            Message::Metaspace => self.take_metaspace(text),
            Message::SafepointTable => {}
            Message::OutOfMemory => {
                let record = GcRecord::new(
                    GcRecordKind::OutOfMemory,
                    "java.lang.OutOfMemoryError",
                    at.source,
                    at.line,
                );
                self.wait(record, false, sink);
            }
        }
        true
    }

    /// A message behind a stamp, the rest of a torn one, a row of a table, or the notice of a rotation.
    fn take_stamped_message(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> bool {
        let message = Stamp::skip(text);
        if message.len() < text.len() {
            let (_, stamp) = Stamp::behind(&text[..text.len() - message.len()]);
            match lines::message(message) {
                Some(Message::Stopped) => return self.take_stopped(message, &stamp, at, sink),
                Some(Message::Ignored) => return true,
                _ => {}
            }
            if let Some(record) = safepoints::row(message, &stamp, at) {
                // Lines of `-XX:+PrintGCApplicationStoppedTime` say the same, and finer.
                if !self.has_stopped_lines {
                    self.release(sink);
                    sink.record(record);
                }
                return true;
            }
        }
        // Two threads wrote into one buffer: `cation threads were stopped: 0,0002170 seconds`.
        if lines::behind_stopped(message).is_some() {
            return self.take_stopped(
                message,
                &Stamp::behind(&text[..text.len() - message.len()]).1,
                at,
                sink,
            );
        }
        text.contains(" GC log file ")
            || (self.seen_g1 && lines::is_row_of_numbers(text))
            || lines::ends_known(text)
    }

    /// `Total time for which application threads were stopped: 0.0001 seconds, Stopping threads took: 0.00001 seconds`
    fn take_stopped(&mut self, text: &str, stamp: &Stamp, at: At, sink: &mut dyn GcSink) -> bool {
        let Some(figures) = lines::behind_stopped(text) else { return false };
        let mut rest = figures;
        let Some((ns, step_ns)) = seconds(&mut rest) else { return false };
        let took = rest.strip_prefix(", Stopping threads took: ").and_then(|mut rest| {
            let found = seconds(&mut rest)?;
            Some((found.0, rest))
        });
        rest = took.map_or(rest, |(_, rest)| rest);
        let mut record = GcRecord::new(GcRecordKind::Safepoint, "Safepoint", at.source, at.line);
        record.end = stamp.after(0);
        record.duration_ns = Some(ns);
        record.duration_resolution_ns = Some(step_ns);
        record.time_to_safepoint_ns = took.map(|(ns, _)| ns);
        self.has_stopped_lines = true;
        self.release(sink);
        sink.record(record);
        rest.trim().is_empty() || self.take_brackets(rest, at, sink)
    }

    /// `Metaspace       used 25559K, capacity 25710K, committed 25984K, reserved 25984K`
    fn take_metaspace(&mut self, text: &str) {
        if !self.is_in_heap_after {
            return;
        }
        let figure = |key: &str| -> Option<u64> {
            let behind = text.split_once(key)?.1.trim_start();
            behind.split_once('K')?.0.parse::<u64>().ok()?.checked_mul(1024)
        };
        let (used, committed) = (figure("used "), figure("committed "));
        let last = self.waiting.iter_mut().rev().find(|record| record.kind == GcRecordKind::Pause);
        if let Some(record) = last.filter(|record| record.space(GcSpace::Metaspace).is_none()) {
            let sizes = GcSizes {
                after_bytes: used,
                capacity_bytes: committed,
                resolution_bytes: Some(1024),
                ..GcSizes::default()
            };
            set_space(record, GcSpace::Metaspace, sizes);
        }
        self.is_in_heap_after = false;
    }

    /// Another JVM has begun when the clock goes back, or by less when a header announced it.
    fn check_clock(&mut self, stamp: &Stamp, at: At, sink: &mut dyn GcSink) {
        let back_ns = stamp.uptime_ns.and_then(|now| self.last_uptime_ns?.checked_sub(now));
        let announced = self.header.announces();
        let limit_ns = if announced { 0 } else { CLOCK_BACK_NS };
        let mut is_restart = back_ns.is_some_and(|ns| limit_ns < ns);
        if let (false, Some(last), Some(now)) = (announced, self.last_uptime_ns, stamp.uptime_ns) {
            let fall = is_restart.then(|| self.turns.falls(last, now));
            is_restart = fall == Some(Fall::Restart);
            match fall {
                Some(Fall::FirstInTurn) => sink.problem(at.problem(INTERLEAVED)),
                None => self.turns.rises(last, now),
                _ => {}
            }
        }
        if is_restart {
            self.release(sink);
            self.tell_jvm(sink);
            sink.begin_jvm();
            self.header.begin(at);
            self.last_stamped = LastStamped::default();
            self.has_stopped_lines = false;
            self.phase_begun = None;
        } else if announced {
            if self.last_uptime_ns.is_none() {
                self.header.begin(at);
            }
            self.header.goes_on();
        }
        self.header.written_at(stamp.unix_ns);
        self.last_uptime_ns = stamp.uptime_ns.or(self.last_uptime_ns);
    }

    /// Keeps a record until nothing more can be said of it.
    fn wait(&mut self, record: GcRecord, times_follow: bool, sink: &mut dyn GcSink) {
        let open = |record: &GcRecord| record.kind == GcRecordKind::Pause && record.cpu.is_none();
        if !self.waiting.iter().any(open) || self.waiting.len() == WAITING_MAX {
            self.release(sink);
        }
        self.times_follow = times_follow;
        self.waiting.push_back(record);
    }

    /// Tells what waits.
    fn release(&mut self, sink: &mut dyn GcSink) {
        self.waiting.drain(..).for_each(|record| sink.record(record));
        self.times_follow = false;
    }
}
