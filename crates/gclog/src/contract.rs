//! What the parts of this crate agree on: where a line stands, what a dialect does with it, and who takes what comes of it.

use assay_model::{GcInstant, GcJvm, GcReconciliation, GcRecord, GcSource, Problem};

/// Where a line stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct At {
    /// Index of the source.
    pub source: usize,
    /// Line, counted from 1.
    pub line: u64,
}

impl At {
    /// Something is wrong here.
    pub(crate) fn problem(self, what: impl Into<String>) -> Problem {
        Problem::at_line(format!("source {}", self.source + 1), self.line, what)
    }
}

/// Whether a dialect recognized a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseOutcome {
    /// A rule accounts for it.
    Understood,
    /// No rule does.
    Unrecognized,
}

/// A form of log: takes line after line and reports what it has understood.
pub(crate) trait Dialect: std::fmt::Debug + Send {
    /// As [`GcSource::dialect`] has it.
    fn name(&self) -> &'static str;
    /// Takes a line without its end. It never fails, and its memory does not grow with the log.
    fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> ParseOutcome;
    /// Tells what is open, as far as it is known.
    fn flush(&mut self, sink: &mut dyn GcSink);
    /// Tells what is known of the JVM by now.
    fn tell_jvm(&self, sink: &mut dyn GcSink);
    /// Ends the last JVM: reports open records, and what is known of the JVM.
    fn finish(&mut self, sink: &mut dyn GcSink) {
        self.flush(sink);
    }
    /// Messages that the JVM says it dropped since this was asked last.
    fn take_messages_dropped(&mut self) -> u64 {
        0
    }
}

/// Takes what is read from logs, as it comes.
pub trait GcSink {
    /// Another source begins; it has the next index, from 0.
    fn begin_source(&mut self, _name: &str) {}
    /// The source ends; what was counted in it.
    fn end_source(&mut self, _source: &GcSource) {}
    /// Another JVM begins: its clocks and numbers have nothing to do with those before.
    fn begin_jvm(&mut self) {}
    /// What is known of the JVM by now; at its end, and when a stream that is followed asks.
    fn jvm(&mut self, _jvm: &GcJvm) {}
    /// The JVM wrote a line at this time: its first and, by now, its last are reported, whatever they say.
    fn dated(&mut self, _at: &GcInstant) {}
    /// Something that the collector did, in the order of its end, whole.
    fn record(&mut self, record: GcRecord);
    /// A figure that the log itself gives, and what was read.
    fn reconciliation(&mut self, _reconciliation: GcReconciliation) {}
    /// A line that no rule accounts for.
    fn unrecognized(&mut self, _at: At, _text: &str) {}
    /// Something is wrong or missing.
    fn problem(&mut self, _problem: Problem) {}
}
