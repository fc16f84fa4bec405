//! What a log tells, to the analysis and, line by line, to a file.

use assay_gclog::{At, GcSink};
use assay_gcstudy::Analysis;
use assay_model::{GcHeading, GcJvm, GcReconciliation, GcRecord, GcReport, GcSource, Problem};
use serde::Serialize;
use std::io::{self, Write};

/// Hands everything on.
pub struct Tee<'a, 'o> {
    analysis: &'a mut Analysis,
    events: Option<&'o mut dyn Write>,
    error: Option<io::Error>,
    /// The source that is being read, of which the analysis knows nothing until it ends.
    open_source: Option<String>,
    sources: usize,
    /// As it was written last.
    jvm: Option<GcJvm>,
}

impl<'a, 'o> Tee<'a, 'o> {
    pub fn new(analysis: &'a mut Analysis, events: Option<&'o mut dyn Write>) -> Self {
        Tee { analysis, events, error: None, open_source: None, sources: 0, jvm: None }
    }

    /// The report by now, with the source that is being read.
    pub fn report(&self) -> GcReport {
        let mut report = self.analysis.report();
        if let Some(name) = &self.open_source {
            report.sources.push(GcSource { name: name.clone(), ..GcSource::default() });
        }
        report
    }

    /// The first failure of writing events.
    pub fn finish(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    /// A line of events.
    fn write(&mut self, line: &impl Serialize) {
        let Some(out) = self.events.as_mut().filter(|_| self.error.is_none()) else { return };
        let written = serde_json::to_writer(&mut **out, line).map_err(io::Error::from);
        self.error = written.and_then(|()| out.write_all(b"\n")).err();
    }
}

impl GcSink for Tee<'_, '_> {
    fn begin_source(&mut self, name: &str) {
        self.write(&GcHeading::Source { source: self.sources, name: name.to_owned() });
        self.sources += 1;
        self.open_source = Some(name.to_owned());
        self.analysis.begin_source(name);
    }
    fn end_source(&mut self, source: &GcSource) {
        // Rotation gives a file that is followed another name.
        if self.open_source.take().is_some_and(|name| name != source.name) {
            self.write(&GcHeading::Source { source: self.sources - 1, name: source.name.clone() });
        }
        self.analysis.end_source(source);
    }
    fn begin_jvm(&mut self) {
        self.analysis.begin_jvm();
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        if self.events.is_some() && self.jvm.as_ref() != Some(jvm) {
            self.write(&GcHeading::Jvm(Box::new(jvm.clone())));
            self.jvm = Some(jvm.clone());
        }
        self.analysis.jvm(jvm);
    }
    fn record(&mut self, record: GcRecord) {
        self.write(&record);
        self.analysis.record(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.analysis.reconciliation(reconciliation);
    }
    fn strange(&mut self, at: At, text: &str) {
        self.analysis.strange(at, text);
    }
    fn problem(&mut self, problem: Problem) {
        self.analysis.problem(problem);
    }
}
