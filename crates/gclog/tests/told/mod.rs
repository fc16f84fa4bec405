//! What a log told, for the tests of dialects.

use assay_gclog::{At, GcSink, GcStream};
use assay_model::{GcJvm, GcReconciliation, GcRecord, GcRecordKind, GcSource, Problem};

/// All of it, in order.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub records: Vec<GcRecord>,
    pub jvms_begun: usize,
    pub jvms: Vec<GcJvm>,
    pub reconciliations: Vec<GcReconciliation>,
    pub unrecognized: Vec<String>,
    pub problems: Vec<Problem>,
    pub sources: Vec<GcSource>,
}

impl GcSink for Told {
    fn end_source(&mut self, source: &GcSource) {
        self.sources.push(source.clone());
    }
    fn begin_jvm(&mut self) {
        self.jvms_begun += 1;
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        self.jvms.push(jvm.clone());
    }
    fn record(&mut self, record: GcRecord) {
        self.records.push(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.reconciliations.push(reconciliation);
    }
    fn unrecognized(&mut self, at: At, text: &str) {
        self.unrecognized.push(format!("{}: {text}", at.line));
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl Told {
    pub fn pauses(&self) -> impl Iterator<Item = &GcRecord> {
        self.records.iter().filter(|record| record.kind == GcRecordKind::Pause)
    }
}

/// Reads sources one after the other, in portions of this many bytes.
pub fn read_in(portion: usize, sources: &[&[u8]]) -> Told {
    let mut told = Told::default();
    let mut stream = GcStream::default();
    for source in sources {
        stream.begin_source("log", &mut told);
        source.chunks(portion).for_each(|bytes| stream.feed(bytes, &mut told));
        stream.end_source(&mut told);
    }
    stream.finish(&mut told);
    told
}

/// Reads a log.
pub fn read(bytes: &[u8]) -> Told {
    read_in(usize::MAX, &[bytes])
}

/// What holds for any bytes: nothing panics, portions do not matter, each line counts once.
pub fn check_any(bytes: &[u8], portion: usize) {
    let told = read(bytes);
    assert_eq!(told, read_in(portion, &[bytes]));
    let ends = usize::from(bytes.ends_with(b"\n"));
    let of_line = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).split(|b| *b == b'\r').count();
    let whole = &bytes[..bytes.len() - ends];
    let lines =
        if bytes.is_empty() { 0 } else { whole.split(|b| *b == b'\n').map(of_line).sum::<usize>() as u64 };
    assert_eq!(told.sources[0].lines, lines);
    assert!(told.sources[0].lines_not_understood <= lines);
    assert!(told.records.iter().all(|record| record.spaces.len() <= 8 && record.anomalies.len() <= 6));
}
