//! Everything that is said of a log, handed on to a sink and, line by line, to a file.

use assay_gclog::{At, GcSink};
use assay_model::{GcHeading, GcInstant, GcJvm, GcReconciliation, GcRecord, GcSource, Problem, schema};
use serde::Serialize;
use std::io::{self, Write};

/// Writes [`assay_model::GcEventsLine`]s on the way to a sink.
pub struct EventsTee<'a, 'o, S> {
    sink: &'a mut S,
    out: Option<&'o mut dyn Write>,
    error: Option<io::Error>,
    /// Name of the source that is being read, as it was when it began.
    open_source: Option<String>,
    sources: usize,
    /// As it was written last.
    jvm: Option<GcJvm>,
}

impl<'a, 'o, S: GcSink> EventsTee<'a, 'o, S> {
    /// Hands on to `sink`, and writes to `out` where there is one.
    pub fn new(sink: &'a mut S, out: Option<&'o mut dyn Write>) -> Self {
        EventsTee { sink, out, error: None, open_source: None, sources: 0, jvm: None }
    }

    /// What it hands on to.
    pub fn sink(&self) -> &S {
        self.sink
    }

    /// Writes the number of the format: the first line of a stored file.
    pub fn write_schema(&mut self) {
        self.write(&GcHeading::Schema { schema: schema::GC_EVENTS.to_owned() });
    }

    /// Ends writing.
    ///
    /// # Errors
    /// The first failure of writing; later records were not written.
    pub fn finish(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    fn write(&mut self, line: &impl Serialize) {
        let Some(out) = self.out.as_mut().filter(|_| self.error.is_none()) else { return };
        let written = serde_json::to_writer(&mut **out, line).map_err(io::Error::from);
        self.error = written.and_then(|()| out.write_all(b"\n")).err();
    }
}

impl<S: GcSink> GcSink for EventsTee<'_, '_, S> {
    fn begin_source(&mut self, name: &str) {
        self.write(&GcHeading::Source { source: self.sources, name: name.to_owned() });
        self.sources += 1;
        self.open_source = Some(name.to_owned());
        self.sink.begin_source(name);
    }
    fn end_source(&mut self, source: &GcSource) {
        // Rotation gives a file that is followed another name.
        if self.open_source.take().is_some_and(|name| name != source.name) {
            self.write(&GcHeading::Source { source: self.sources - 1, name: source.name.clone() });
        }
        self.sink.end_source(source);
    }
    fn begin_jvm(&mut self) {
        self.sink.begin_jvm();
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        if self.out.is_some() && self.jvm.as_ref() != Some(jvm) {
            self.write(&GcHeading::Jvm(Box::new(jvm.clone())));
            self.jvm = Some(jvm.clone());
        }
        self.sink.jvm(jvm);
    }
    fn dated(&mut self, at: &GcInstant) {
        self.sink.dated(at);
    }
    fn record(&mut self, record: GcRecord) {
        self.write(&record);
        self.sink.record(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.sink.reconciliation(reconciliation);
    }
    fn unrecognized(&mut self, at: At, text: &str) {
        self.sink.unrecognized(at, text);
    }
    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}
