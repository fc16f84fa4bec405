//! What a trial needs of the GC log of its server: its JVM, the garbage and the pauses of its windows, and what follows from the whole.

use crate::analysis::Analysis;
use crate::events::EventsTee;
use crate::window::{GcWindow, PauseWindow, freed_until, is_of_windows, pauses_between};
use assay_gclog::{At, GcSink, read_into};
use assay_model::{GcInstant, GcJvm, GcReconciliation, GcRecord, GcReport, GcSource, Problem};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Records that are kept for windows: at 10 pauses a second, more than a day.
const KEPT_MAX: usize = 1_000_000;
/// Shapes of lines without a rule that are listed as problems.
const SHAPES_LISTED: usize = 3;

/// The GC log of a server, read from its start to its end.
#[derive(Debug, Default)]
pub struct TrialLog {
    name: String,
    analysis: Analysis,
    kept: Vec<GcRecord>,
    left_out: u64,
    /// The wall clock less `CLOCK_MONOTONIC`, nanoseconds.
    wall_offset_ns: Option<i128>,
}

impl TrialLog {
    /// Reads the log, which is called `name` in problems and in the report; of a server that was started again the logs of all its JVMs, the
    /// first one's first. Everything that they say goes to `events` as well, where that is wanted, as lines of a trial's `gc.ndjson`. A log without `CLOCK_MONOTONIC`, as JDK 8 writes it, has its place among the
    /// windows by its dates and by the `wall_offset_ns` of the machine that wrote it.
    ///
    /// # Errors
    /// A log cannot be opened, or `events` cannot be written. Parts of the log that cannot be read are problems.
    pub fn read(
        name: &str,
        logs: &[PathBuf],
        wall_offset_ns: Option<i128>,
        events: Option<&mut dyn Write>,
    ) -> io::Result<TrialLog> {
        let files = logs.iter().map(File::open).collect::<io::Result<Vec<File>>>()?;
        let mut read = TrialLog { name: name.to_owned(), wall_offset_ns, ..TrialLog::default() };
        let mut tee = EventsTee::new(&mut read, events);
        tee.write_schema();
        for (path, file) in logs.iter().zip(files) {
            let file_name = path.file_name().and_then(|name| name.to_str()).unwrap_or(name);
            read_into(file_name, file, &mut tee);
        }
        tee.finish()?;
        Ok(read)
    }

    /// The JVM, as far as the log shows it by now: reference mode, heap, collector.
    pub fn jvm(&self) -> Option<&GcJvm> {
        self.analysis.last_jvm()
    }

    /// The garbage of a window, `from_ns ..= to_ns` on `CLOCK_MONOTONIC`, as [`freed_until`] counts it.
    pub fn freed_until(&self, not_before_ns: Option<u64>, from_ns: u64, to_ns: u64) -> Option<GcWindow> {
        freed_until(self.kept()?, not_before_ns, from_ns, to_ns)
    }

    /// The pauses of a window, as [`pauses_between`] counts them.
    pub fn pauses_between(&self, from_ns: u64, to_ns: u64) -> Option<PauseWindow> {
        pauses_between(self.kept()?, from_ns, to_ns)
    }

    /// An instant on `CLOCK_MONOTONIC` by its date.
    fn placed_ns(&self, at: &GcInstant) -> Option<u64> {
        u64::try_from(i128::from(at.unix_ns?) - self.wall_offset_ns?).ok()
    }

    /// `None` when it is not all: no window is right then.
    fn kept(&self) -> Option<&[GcRecord]> {
        (self.left_out == 0).then_some(&self.kept)
    }

    /// What `assay gc` says of the whole log.
    pub fn report(&self) -> GcReport {
        self.analysis.report()
    }

    /// What could not be read.
    pub fn problems(&self) -> Vec<Problem> {
        let report = self.analysis.report();
        let lines: u64 = report.sources.iter().map(|source| source.lines).sum();
        let mut problems = report.problems;
        if lines > 0 && report.not_understood.lines == lines {
            problems.push(Problem::new(&self.name, "no line of a GC log in it that is understood"));
        }
        for shape in report.not_understood.shapes.iter().take(SHAPES_LISTED) {
            let what = format!("{} of {lines} lines not understood, such as: {}", shape.lines, shape.quote);
            problems.push(Problem::at_line(&self.name, shape.at.1, what));
        }
        if self.left_out > 0 {
            let what = format!("{} pauses beyond the first {KEPT_MAX} are not counted", self.left_out);
            problems.push(Problem::new(&self.name, what));
        }
        problems
    }
}

impl GcSink for TrialLog {
    fn begin_source(&mut self, name: &str) {
        self.analysis.begin_source(name);
    }
    fn end_source(&mut self, source: &GcSource) {
        self.analysis.end_source(source);
    }
    fn begin_jvm(&mut self) {
        self.analysis.begin_jvm();
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        self.analysis.jvm(jvm);
    }
    fn dated(&mut self, at: &GcInstant) {
        self.analysis.dated(at);
    }
    fn record(&mut self, record: GcRecord) {
        if is_of_windows(&record) {
            if self.kept.len() < KEPT_MAX {
                let mut kept = GcRecord { spaces: Vec::new(), ..record.clone() };
                kept.end.monotonic_ns = kept.end.monotonic_ns.or_else(|| self.placed_ns(&kept.end));
                self.kept.push(kept);
            } else {
                self.left_out += 1;
            }
        }
        self.analysis.record(record);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.analysis.reconciliation(reconciliation);
    }
    fn unrecognized(&mut self, at: At, text: &str) {
        self.analysis.unrecognized(at, text);
    }
    fn problem(&mut self, problem: Problem) {
        self.analysis.problem(problem);
    }
}
