//! The same bytes tell the same, byte for byte: a hundred times, and however they are cut.

use assay_gclog::{At, GcSink, GcStream};
use assay_gcstudy::{Analysis, AnalysisOptions};
use assay_model::{GcJvm, GcReconciliation, GcRecord, GcSource, Problem};
use serde_json::json;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Writes down everything that is told, in its order, and passes it on to an analysis.
struct Told {
    text: String,
    analysis: Analysis,
}

impl Told {
    fn line(&mut self, what: &str, value: &serde_json::Value) {
        writeln!(self.text, "{what} {value}").expect("a string takes it");
    }
}

impl GcSink for Told {
    fn begin_source(&mut self, name: &str) {
        self.line("begin source", &json!(name));
        self.analysis.begin_source(name);
    }
    fn end_source(&mut self, source: &GcSource) {
        self.line("end source", &json!(source));
        self.analysis.end_source(source);
    }
    fn begin_jvm(&mut self) {
        self.line("begin JVM", &json!(()));
        self.analysis.begin_jvm();
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        self.line("JVM", &json!(jvm));
        self.analysis.jvm(jvm);
    }
    fn record(&mut self, record: GcRecord) {
        self.line("record", &json!(record));
        self.analysis.record(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.line("reconciliation", &json!(reconciliation));
        self.analysis.reconciliation(reconciliation);
    }
    fn unrecognized(&mut self, at: At, text: &str) {
        self.line("unrecognized", &json!((at.source, at.line, text)));
        self.analysis.unrecognized(at, text);
    }
    fn problem(&mut self, problem: Problem) {
        self.line("problem", &json!(problem));
        self.analysis.problem(problem);
    }
}

/// Everything that is told of a log that comes in portions of these lengths, in turn; and the report.
fn told(bytes: &[u8], portions: &[usize]) -> String {
    let mut told = Told {
        text: String::new(),
        analysis: Analysis::new(AnalysisOptions { requests: None, seed: 7, begins_later: false }),
    };
    let mut stream = GcStream::default();
    stream.begin_source("log", &mut told);
    let (mut rest, mut turn) = (bytes, 0);
    while !rest.is_empty() {
        let (portion, after) = rest.split_at(portions[turn % portions.len()].min(rest.len()));
        stream.feed(portion, &mut told);
        (rest, turn) = (after, turn + 1);
    }
    stream.end_source(&mut told);
    stream.finish(&mut told);
    let report = told.analysis.report();
    told.line("report", &json!(report));
    told.text
}

/// Logs of every kind; of long ones the beginning.
fn logs() -> Vec<(PathBuf, Vec<u8>)> {
    let mut logs = Vec::new();
    let mut folders =
        vec![assay_testkit::testdata("gclog"), assay_testkit::testdata("../fuzz/corpus/gclog_read")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            let is_log = path.extension().is_none_or(|e| e == "log" || e == "xml");
            if path.is_dir() {
                folders.push(path);
            } else if is_log {
                let mut bytes = fs::read(&path).expect("the log");
                bytes.truncate(60_000);
                logs.push((path, bytes));
            }
        }
    }
    logs.sort();
    assert!(logs.len() > 40, "{}", logs.len());
    logs
}

#[test]
fn the_same_log_tells_the_same_a_hundred_times() {
    for (path, mut bytes) in logs() {
        bytes.truncate(12_000);
        let first = told(&bytes, &[usize::MAX]);
        for run in 1..100 {
            assert!(told(&bytes, &[usize::MAX]) == first, "{} differs in run {run}", path.display());
        }
    }
}

#[test]
fn a_log_tells_the_same_however_it_is_cut() {
    for (path, bytes) in logs() {
        let whole = told(&bytes, &[usize::MAX]);
        assert!(whole.contains("end source"));
        for portions in [&[1][..], &[7], &[4_096], &[1, 65_536, 3, 80], &[81, 79, 2_000, 5]] {
            let cut = told(&bytes, portions);
            let difference = whole.lines().zip(cut.lines()).find(|(a, b)| a != b);
            assert!(cut == whole, "{} in portions of {portions:?}: {difference:?}", path.display());
        }
    }
}
