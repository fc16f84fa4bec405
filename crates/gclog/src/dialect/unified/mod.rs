//! HotSpot's unified logging, JDK 9 and later: all collectors, any decorators, any choice of tags.
//!
//! A line goes from its decorators ([`mod@line`]) and tags ([`tags`]) to the rules of its topic, and what it says to the collection that
//! it belongs to ([`collections`]), which becomes a record when it ends. Lines that say nothing which is needed are accounted for by
//! their tags, or, in a log without tags, by how they begin ([`notes`]); a line without a rule is unrecognized.

mod clock;
mod closing;
mod collections;
mod heap;
mod heap_lines;
mod jvm;
mod known_lines;
mod line;
mod mode;
mod notes;
mod parts;
mod records;
mod safepoint;
mod tags;
pub(super) mod timed;

pub use mode::mode_before_xlog;

use super::turns::Turns;
use crate::contract::{At, Dialect, GcSink, ParseOutcome};
use clock::{Clock, LastDated};
use closing::Closing;
use collections::Collections;
use jvm::JvmSoFar;
use line::{Level, Line};
use tags::{Topic, Topics};

/// State of a log of this form.
#[derive(Debug, Default)]
pub(crate) struct Unified {
    topics: Topics,
    clock: Clock,
    last_dated: LastDated,
    collections: Collections,
    jvm: JvmSoFar,
    closing: Closing,
    /// A line of the JVM was read.
    has_begun: bool,
    /// A collection of the JVM was read: no line of its start can follow.
    has_collected: bool,
    /// Latest uptime, nanoseconds.
    uptime_ns: u64,
    dropped: u64,
    turns: Turns,
}

/// Whether a line can be of this form.
pub(super) fn recognises(text: &str) -> bool {
    let line = Line::parse(text);
    let has_time = line.time.is_some() || line.uptime.is_some();
    let has_count = line.nanos[0].is_some() || line.millis[0].is_some();
    let is_of_jvm = line.is_decorated && Topics::default().of(line.tags) != Topic::Unknown;
    if is_of_jvm || line.level != Level::Unknown || has_time || has_count {
        return true;
    }
    // Settings of the start (`Mode: ..`, `Version: ..`) stand in files of all kinds.
    line.gc_id.is_some() || jvm::collector_used(line.text).is_some()
}

/// Whether a line is of a collector: by its number of a collection, its first tag behind decorators, or what the collector is called.
pub(super) fn is_of_collector(text: &str) -> bool {
    let line = Line::parse(text);
    let tag = line.tags.split(',').next().unwrap_or_default();
    let is_of_jvm = line.is_decorated && matches!(tag, "gc" | "safepoint") && !line.text.is_empty();
    is_of_jvm || line.gc_id.is_some() || jvm::collector_used(line.text).is_some()
}

impl Dialect for Unified {
    fn name(&self) -> &'static str {
        "unified"
    }

    fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> ParseOutcome {
        let line = Line::parse(text);
        if line.text.is_empty() {
            return ParseOutcome::Understood;
        }
        if line.is_continuation {
            return ParseOutcome::Understood;
        }
        let topic = self.topics.of(line.tags);
        if !self.has_begun {
            self.begin(&line, at, sink);
        }
        self.clock.look(&line);
        let taken = self.read(topic, &line, at, sink);
        self.collections.count_line(sink);
        match taken {
            Some(()) => {
                if self.is_of_this_jvm(topic, &line) && self.last_dated.keep(text, line.text) {
                    sink.dated(&self.clock.read(&line));
                }
                ParseOutcome::Understood
            }
            None => ParseOutcome::Unrecognized,
        }
    }

    fn flush(&mut self, sink: &mut dyn GcSink) {
        self.collections.settle(sink);
        self.tell_jvm(sink);
    }

    fn finish(&mut self, sink: &mut dyn GcSink) {
        self.collections.finish(sink);
        self.tell_jvm(sink);
    }

    fn tell_jvm(&self, sink: &mut dyn GcSink) {
        if self.has_begun {
            self.last_dated.tell(&self.clock, sink);
            sink.jvm(&self.jvm.told());
        }
    }

    fn take_messages_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

impl Unified {
    fn begin(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) {
        self.has_begun = true;
        let unix_ns = self.clock.read(line).unix_ns;
        self.jvm.begin(at.source, at.line, unix_ns);
        sink.begin_jvm();
    }

    /// Whether a line with a time cannot be one of the start of the next JVM, which is recognized some lines later only.
    fn is_of_this_jvm(&self, topic: Topic, line: &Line<'_>) -> bool {
        let may_be_start = line.gc_id.is_none() && matches!(topic, Topic::Init | Topic::Gc | Topic::Unknown);
        line.is_decorated && !(self.has_collected && may_be_start)
    }

    /// The line is the first of another JVM.
    fn restart(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) {
        self.collections.restart(sink);
        self.tell_jvm(sink);
        (self.clock, self.last_dated) = (Clock::default(), LastDated::default());
        self.jvm = JvmSoFar::default();
        self.closing = Closing::default();
        (self.has_collected, self.uptime_ns) = (false, 0);
        self.begin(line, at, sink);
        self.clock.look(line);
    }

    /// What the line says; `None` when no rule knows it.
    fn read(&mut self, topic: Topic, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        match topic {
            Topic::Gc => self.read_gc(line, at, sink),
            Topic::Start => self.read_start(line, at, sink),
            Topic::Phases | Topic::Marking => self.read_phase(line, at, sink),
            Topic::Heap => self.read_heap(line, at, sink).or_else(|| notes::detail(line.text)),
            Topic::Metaspace => self
                .read_heap(line, at, sink)
                .or_else(|| self.read_init(line, at, sink))
                .or_else(|| notes::detail(line.text)),
            Topic::Cpu => self.read_cpu(line, sink),
            Topic::Task => self.read_workers(line, at).or_else(|| notes::detail(line.text)),
            Topic::Init => self.read_init(line, at, sink).or_else(|| notes::detail(line.text)),
            Topic::Promotion => self.read_promotion(line, at).or_else(|| notes::detail(line.text)),
            Topic::Safepoint => self.read_safepoint(line, at, sink).or_else(|| notes::detail(line.text)),
            Topic::Stats => {
                self.closing.take(line.text, at, sink);
                notes::statistics(line.text)
            }
            Topic::StringDeduplication => {
                self.read_deduplication(line, at, sink).or_else(|| notes::detail(line.text))
            }
            Topic::Detail => notes::detail(line.text),
            Topic::Other => {
                self.jvm.take_arguments(line.text);
                notes::other(line.text)
            }
            Topic::Unknown => self.read_untagged(line, at, sink),
        }
    }

    fn read_gc(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        self.read_timed(line, at, sink)
            .or_else(|| self.read_using(line, at, sink))
            .or_else(|| self.read_event(line, at, sink))
            .or_else(|| notes::gc(line.text))
            .or_else(|| if line.level >= Level::Debug { notes::detail(line.text) } else { None })
    }

    fn read_start(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let Some(timed) = timed::read(line.text) else { return notes::detail(line.text) };
        if timed.has_ended {
            return None;
        }
        self.announce(&timed, line, at, sink);
        Some(())
    }

    /// `gc,phases` and `gc,marking`: Z's pauses and phases, G1's concurrent phases, and parts of these and of pauses.
    fn read_phase(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let is_part = matches!(line.level, Level::Debug | Level::Trace) || line.text.contains(" (Z");
        if is_part {
            if let (Some(part), Some(_)) = (parts::read(line.text), line.gc_id) {
                self.collections.open(line.gc_id, at).add_part(part);
            }
            return notes::detail(line.text);
        }
        self.read_timed(line, at, sink).or_else(|| notes::detail(line.text))
    }

    fn read_untagged(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let text = line.text;
        if line.gc_id.is_none() && self.jvm.is_shenandoah() {
            self.closing.take(text, at, sink);
        }
        // The number of a collection is as good as a tag: the collector wrote the line.
        self.read_telling(line, at, sink)
            .or_else(|| notes::untagged(text))
            .or_else(|| line.gc_id.and_then(|_| notes::detail(text)))
    }

    /// Lines that contain needed facts, recognized by their text alone.
    fn read_telling(&mut self, line: &Line<'_>, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let text = line.text;
        match text.as_bytes()[0] {
            b'U' if text.starts_with("User=") => self.read_cpu(line, sink),
            b'U' => self.read_using(line, at, sink).or_else(|| self.read_workers(line, at)),
            b'S' | b'T' if text.starts_with("Safepoint \"") || text.starts_with("Total time for") => {
                self.read_safepoint(line, at, sink)
            }
            _ => self
                .read_timed(line, at, sink)
                .or_else(|| self.read_heap(line, at, sink))
                .or_else(|| self.read_event(line, at, sink))
                .or_else(|| self.read_promotion(line, at))
                .or_else(|| if notes::is_init(text) { self.read_init(line, at, sink) } else { None }),
        }
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
