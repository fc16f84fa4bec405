//! Results in their forms. The commands that measure show a result by the same functions as `assay report`, which reads a stored one.

use crate::arguments::{Form, Format, FormatArguments};
use crate::failure::Failure;
use crate::output;
use crate::output_file::write_result;
use assay_model::{
    AbReport, Advice, BisectReport, CapacityReport, FitReport, FlagsReport, GcComparison, GcReport,
    HeapLayouts, HeapModes, HeapPrediction, HostComparison, HostReport, JudgeReport, LoadResult,
    MemoryChange, MemoryReport, MemoryToolReport, Problem, RunComparison, StoredRun, Summary, TimeChange,
    TimeReport, WhyReport,
};
use assay_report::{self as report, Data, Document, Extent};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// A result that describes itself once; its forms are made of that.
pub trait Described {
    /// The stored form.
    type Stored: Serialize;

    /// What is stored of it.
    fn stored(&self) -> &Self::Stored;
    /// What people get.
    fn document(&self) -> Document;
    /// The raw numbers behind it.
    fn data(&self) -> Data;
    /// How many entries were asked for, instead of how much of all.
    fn entries(&self) -> Option<Extent> {
        None
    }
    /// Problems, for which raw numbers have no rows: they go to standard error.
    fn problems(&self) -> &[Problem] {
        &[]
    }
}

/// Writes the page where one was asked for, and prints the result as it was asked for; without a form, nothing.
pub fn show(
    result: &impl Described,
    form: impl Into<Option<Form>>,
    page: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(path) = page {
        write_result(path, |out| result.document().write_html(out))?;
    }
    form.into().map_or(Ok(()), |form| print(result, form))
}

/// The same, in the form that a command's arguments ask for.
pub fn show_as_asked(
    result: &impl Described,
    format: &FormatArguments,
    page: Option<&Path>,
) -> Result<(), Failure> {
    show(result, format.form_beside(page.is_some()), page)
}

/// Prints a result in a form.
pub fn print(result: &impl Described, form: Form) -> Result<(), Failure> {
    if matches!(form.format, Format::Csv | Format::Ndjson) {
        output::note(result.problems());
    }
    output::print(|out| write(result, form, out))
}

/// Writes a result in a form.
pub fn write(result: &impl Described, form: impl Into<Form>, out: &mut dyn Write) -> io::Result<()> {
    let form = form.into();
    match form.format {
        Format::Table => {
            let view = output::view(result.entries().unwrap_or(form.extent));
            out.write_all(result.document().terminal(view).as_bytes())
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, result.stored())?;
            writeln!(out)
        }
        Format::Csv => result.data().write_csv(out),
        Format::Md => out.write_all(result.document().markdown().as_bytes()),
        Format::Ndjson => result.data().write_json_lines(out),
    }
}

/// Results that need nothing beside themselves: how each is described, and its raw numbers.
macro_rules! described {
    ($($result:ty: $document:path, $data:path $(, $problems:ident)?;)*) => {$(
        impl Described for $result {
            type Stored = Self;

            fn stored(&self) -> &Self {
                self
            }
            fn document(&self) -> Document {
                $document(self)
            }
            fn data(&self) -> Data {
                $data(self)
            }
            $(fn problems(&self) -> &[Problem] {
                &self.$problems
            })?
        }
    )*};
}

described! {
    AbReport: report::ab::document, report::ab::data, problems;
    Advice: report::memory::advice, report::memory::advice_data, problems;
    BisectReport: report::bisect::document, report::bisect::data, problems;
    CapacityReport: report::capacity::document, report::capacity::data, problems;
    FitReport: report::fit::document, report::fit::data, problems;
    FlagsReport: report::flags::document, report::flags::data;
    GcComparison: report::gc::comparison, report::gc::comparison_data;
    HeapLayouts: report::heap::layouts, report::heap::layouts_data, problems;
    HeapModes: report::heap::modes, report::heap::modes_data, problems;
    HostComparison: report::host::comparison, report::host::comparison_data;
    JudgeReport: report::judge::document, report::judge::data, problems;
    RunComparison: report::compare::document, report::compare::data, problems;
    TimeChange: report::time::change, report::time::change_data, problems;
    TimeReport: report::time::document, report::time::data, problems;
    WhyReport: report::why::document, report::why::data;
}

/// Another tool's report about memory.
pub struct ToolReport<'a> {
    pub report: &'a MemoryToolReport,
    /// Entries that were asked for.
    pub entries: Option<Extent>,
}

impl Described for ToolReport<'_> {
    type Stored = MemoryToolReport;

    fn stored(&self) -> &MemoryToolReport {
        self.report
    }
    fn document(&self) -> Document {
        report::memory::tool_report(self.report)
    }
    fn data(&self) -> Data {
        report::memory::tool_report_data(self.report)
    }
    fn entries(&self) -> Option<Extent> {
        self.entries
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

/// A snapshot of memory.
pub struct Snapshot<'a> {
    pub report: &'a MemoryReport,
    /// Those that led to it, of one record; none where it stands alone.
    pub earlier: &'a [MemoryReport],
    /// Entries that were asked for.
    pub entries: Option<Extent>,
}

impl Described for Snapshot<'_> {
    type Stored = MemoryReport;

    fn stored(&self) -> &MemoryReport {
        self.report
    }
    fn document(&self) -> Document {
        let all = if self.earlier.is_empty() { std::slice::from_ref(self.report) } else { self.earlier };
        // Without owners a limit has no line for direct buffers: better none than one that is wrong.
        let has_owners = all.iter().all(MemoryReport::has_owners);
        let advice = self.report.jvm.as_ref().filter(|_| has_owners).and_then(|_| advice_on(all));
        report::memory::document(self.report, self.earlier, advice.as_ref())
    }
    fn data(&self) -> Data {
        report::memory::data(self.report)
    }
    fn entries(&self) -> Option<Extent> {
        self.entries
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

/// The limit that snapshots ask for.
#[cfg(target_os = "linux")]
fn advice_on(snapshots: &[MemoryReport]) -> Option<Advice> {
    Some(assay_memory::advise(snapshots))
}

/// Limits are worked out beside the readers of processes, so on Linux alone.
#[cfg(not(target_os = "linux"))]
fn advice_on(_: &[MemoryReport]) -> Option<Advice> {
    None
}

/// What grew between two snapshots of memory.
pub struct Growth<'a> {
    pub change: &'a MemoryChange,
    /// The snapshots of the record that both are from.
    pub record: &'a [MemoryReport],
    /// Entries that were asked for.
    pub entries: Option<Extent>,
}

impl Described for Growth<'_> {
    type Stored = MemoryChange;

    fn stored(&self) -> &MemoryChange {
        self.change
    }
    fn document(&self) -> Document {
        report::memory::change(self.change, self.record)
    }
    fn entries(&self) -> Option<Extent> {
        self.entries
    }
    fn data(&self) -> Data {
        report::memory::change_data(self.change)
    }
    fn problems(&self) -> &[Problem] {
        &self.change.problems
    }
}

/// A GC log with its name.
pub struct GcLog<'a> {
    pub report: &'a GcReport,
    pub name: &'a str,
}

impl Described for GcLog<'_> {
    type Stored = GcReport;

    fn stored(&self) -> &GcReport {
        self.report
    }
    fn document(&self) -> Document {
        report::gc::document(self.report, self.name)
    }
    fn data(&self) -> Data {
        report::gc::data(self.report).about("log", self.name)
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

/// A load with its target.
pub struct LoadOf<'a> {
    pub result: &'a LoadResult,
    pub target: &'a str,
    /// How long it was, where that is known.
    pub measured_s: Option<f64>,
}

impl Described for LoadOf<'_> {
    type Stored = LoadResult;

    fn stored(&self) -> &LoadResult {
        self.result
    }
    fn document(&self) -> Document {
        report::load::document(self.result, self.target, self.measured_s)
    }
    fn data(&self) -> Data {
        report::load::data(self.result)
    }
    fn problems(&self) -> &[Problem] {
        &self.result.problems
    }
}

/// The check of a machine.
pub struct HostCheck<'a> {
    pub report: &'a HostReport,
    /// Whether rules that hold are shown, too.
    pub has_all: bool,
}

impl Described for HostCheck<'_> {
    type Stored = HostReport;

    fn stored(&self) -> &HostReport {
        self.report
    }
    fn document(&self) -> Document {
        report::host::document(self.report, self.has_all)
    }
    fn data(&self) -> Data {
        report::host::data(self.report)
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

/// What a heap occupies in each layout.
pub struct HeapIn<'a> {
    pub prediction: &'a HeapPrediction,
    /// Classes that a terminal shows.
    pub top: usize,
}

impl Described for HeapIn<'_> {
    type Stored = HeapPrediction;

    fn stored(&self) -> &HeapPrediction {
        self.prediction
    }
    fn document(&self) -> Document {
        report::heap::document(self.prediction, self.top)
    }
    fn data(&self) -> Data {
        report::heap::data(self.prediction)
    }
    fn problems(&self) -> &[Problem] {
        &self.prediction.problems
    }
}

impl Described for StoredRun {
    type Stored = Option<Summary>;

    fn stored(&self) -> &Option<Summary> {
        &self.summary
    }
    fn document(&self) -> Document {
        report::study::document(self)
    }
    fn data(&self) -> Data {
        report::study::data(self)
    }
}
