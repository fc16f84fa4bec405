//! Everything that the stream tells, kept.

use assay_gclog::input::{find, read_set};
use assay_gclog::{At, GcSink};
use assay_model::{GcJvm, GcReconciliation, GcRecord, GcRecordKind, GcSource, Problem};
use std::path::PathBuf;

/// What was told of one or several files.
#[derive(Debug, Default)]
pub struct Kept {
    /// By JVM.
    pub records: Vec<Vec<GcRecord>>,
    pub jvms: Vec<GcJvm>,
    pub sources: Vec<GcSource>,
    pub reconciliations: Vec<GcReconciliation>,
    pub unrecognized: Vec<(At, String)>,
    pub problems: Vec<Problem>,
}

impl GcSink for Kept {
    fn end_source(&mut self, source: &GcSource) {
        self.sources.push(source.clone());
    }
    fn begin_jvm(&mut self) {
        self.records.push(Vec::new());
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        self.jvms.push(jvm.clone());
    }
    fn record(&mut self, record: GcRecord) {
        if self.records.is_empty() {
            self.records.push(Vec::new());
        }
        self.records.last_mut().expect("one").push(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.reconciliations.push(reconciliation);
    }
    fn unrecognized(&mut self, at: At, text: &str) {
        self.unrecognized.push((at, text.to_owned()));
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl Kept {
    /// Reads files that are one log, in whatever order they are named.
    pub fn read(files: &[PathBuf]) -> Kept {
        let found = find(files, false).expect("the files are there");
        assert_eq!(found.sets.len(), 1, "{files:?}: {found:?}");
        let mut kept = Kept::default();
        read_set(&found.sets[0], &mut kept);
        kept
    }

    pub fn all(&self) -> impl Iterator<Item = &GcRecord> {
        self.records.iter().flatten()
    }

    pub fn of(&self, kind: GcRecordKind) -> impl Iterator<Item = &GcRecord> {
        self.all().filter(move |record| record.kind == kind)
    }

    /// How many of a kind have a length, and the sum of these, nanoseconds.
    pub fn sum_ns(&self, kind: GcRecordKind) -> (u64, u64) {
        let lengths = self.of(kind).filter_map(|record| record.duration_ns);
        lengths.fold((0, 0), |(count, sum), ns| (count + 1, sum + ns))
    }
}
