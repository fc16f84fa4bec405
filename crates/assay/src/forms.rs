//! Results in their forms. The commands that measure show a result by the same functions as `assay report`, which reads a stored one.

use crate::arguments::{Format, FormatArguments};
use crate::failure::Failure;
use crate::load_text;
use crate::output;
use crate::output_file::write_result;
use assay_model::{
    Advice, CapacityReport, FlagsReport, GcComparison, GcReport, HeapLayouts, HeapModes, HeapPrediction,
    HostComparison, HostReport, LoadResult, MemoryChange, MemoryReport, Problem, RunComparison, StoredRun,
    Summary, TimeChange, TimeReport,
};
use assay_report::{self as report, Data, Document, EntriesShown, TerminalView};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// A result that can be printed.
pub trait Forms {
    /// What is stored of it.
    type Stored: Serialize;

    /// The stored form.
    fn stored(&self) -> &Self::Stored;
    /// Text for a terminal.
    fn table(&self, view: TerminalView) -> String;
    /// Rows of raw numbers.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Markdown.
    fn markdown(&self) -> String;
    /// Problems, for which CSV has no rows: they go to standard error.
    fn problems(&self) -> &[Problem] {
        &[]
    }
}

/// A result that has a page, too.
pub trait Page: Forms {
    /// One file that opens offline in a browser.
    fn page(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// A result that describes itself once; its forms are made of that.
pub trait Described {
    /// What is stored of it.
    type Stored: Serialize;

    /// The stored form.
    fn stored(&self) -> &Self::Stored;
    /// What people get.
    fn document(&self) -> Document;
    /// The raw numbers behind it.
    fn data(&self) -> Data;
    /// Problems, for which raw numbers have no rows: they go to standard error.
    fn problems(&self) -> &[Problem] {
        &[]
    }
}

impl<T: Described> Forms for T {
    type Stored = T::Stored;

    fn stored(&self) -> &T::Stored {
        Described::stored(self)
    }
    fn table(&self, view: TerminalView) -> String {
        self.document().terminal(view)
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.data().write_csv(out)
    }
    fn markdown(&self) -> String {
        self.document().markdown()
    }
    fn problems(&self) -> &[Problem] {
        Described::problems(self)
    }
}

impl<T: Described> Page for T {
    fn page(&self, out: &mut dyn Write) -> io::Result<()> {
        self.document().write_html(out)
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
    CapacityReport: report::capacity::document, report::capacity::data, problems;
    HostComparison: report::host::comparison, report::host::comparison_data;
    HeapLayouts: report::heap::layouts, report::heap::layouts_data, problems;
    HeapModes: report::heap::modes, report::heap::modes_data, problems;
}

/// Writes the page where one was asked for, and prints the result as it was asked for; without a form, nothing.
pub fn show(
    result: &impl Page,
    format: impl Into<Option<Format>>,
    page: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(path) = page {
        write_result(path, |out| result.page(out))?;
    }
    format.into().map_or(Ok(()), |format| print(result, format))
}

/// The same, in the form that a command's arguments ask for.
pub fn show_as_asked(
    result: &impl Page,
    format: &FormatArguments,
    page: Option<&Path>,
) -> Result<(), Failure> {
    show(result, format.form_beside(page.is_some()), page)
}

/// Prints a result in a form.
pub fn print(result: &impl Forms, format: Format) -> Result<(), Failure> {
    if format == Format::Csv {
        output::note(result.problems());
    }
    output::print(|out| write(result, format, out))
}

/// Writes a result in a form.
pub fn write(result: &impl Forms, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => out.write_all(result.table(output::view()).as_bytes()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, result.stored())?;
            writeln!(out)
        }
        Format::Csv => result.csv(out),
        Format::Md => out.write_all(result.markdown().as_bytes()),
    }
}

/// The forms of results that need nothing beside themselves.
macro_rules! forms {
    ($($result:ty: $page:path, $table:path, $csv:path, $markdown:path $(, $problems:ident)?;)*) => {$(
        impl Forms for $result {
            type Stored = Self;

            fn stored(&self) -> &Self {
                self
            }
            fn table(&self, view: TerminalView) -> String {
                $table(self, view)
            }
            fn csv(&self, mut out: &mut dyn Write) -> io::Result<()> {
                $csv(self, &mut out)
            }
            fn markdown(&self) -> String {
                $markdown(self)
            }
            $(fn problems(&self) -> &[Problem] {
                &self.$problems
            })?
        }

        impl Page for $result {
            fn page(&self, mut out: &mut dyn Write) -> io::Result<()> {
                $page(self, &mut out)
            }
        }
    )*};
}

forms! {
    Advice: report::render_advice_html, report::render_advice_terminal, report::render_advice_csv,
        report::render_advice_markdown, problems;
    GcComparison: report::render_gc_diff_html, report::render_gc_diff_terminal, report::render_gc_diff_csv,
        report::render_gc_diff_markdown;
    RunComparison: report::render_run_comparison_html, report::render_run_comparison_terminal,
        report::render_run_comparison_csv, report::render_run_comparison_markdown, problems;
    TimeReport: report::render_time_html, report::render_time_terminal, report::render_time_csv,
        report::render_time_markdown, problems;
    TimeChange: report::render_time_change_html, report::render_time_change_terminal, report::render_time_change_csv,
        report::render_time_change_markdown, problems;
    FlagsReport: report::render_flags_html, report::render_flags_terminal, report::render_flags_csv,
        report::render_flags_markdown;
}

/// A snapshot of memory.
pub struct Snapshot<'a> {
    pub report: &'a MemoryReport,
    /// Those that led to it, of one record; none where it stands alone.
    pub earlier: &'a [MemoryReport],
    pub entries: EntriesShown,
}

impl Forms for Snapshot<'_> {
    type Stored = MemoryReport;

    fn stored(&self) -> &MemoryReport {
        self.report
    }
    fn table(&self, view: TerminalView) -> String {
        report::render_memory_terminal(self.report, TerminalView { entries: self.entries, ..view })
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        report::render_memory_csv(self.report, out)
    }
    fn markdown(&self) -> String {
        report::render_memory_markdown(self.report)
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

impl Page for Snapshot<'_> {
    fn page(&self, mut out: &mut dyn Write) -> io::Result<()> {
        let all = if self.earlier.is_empty() { std::slice::from_ref(self.report) } else { self.earlier };
        // Without owners a limit has no line for direct buffers: better none than one that is wrong.
        let has_owners = all.iter().all(MemoryReport::has_owners);
        let advice = self.report.jvm.as_ref().filter(|_| has_owners).map(|_| assay_memory::advise(all));
        report::render_memory_html(self.report, self.earlier, advice.as_ref(), &mut out)
    }
}

/// What grew between two snapshots of memory.
pub struct Growth<'a> {
    pub change: &'a MemoryChange,
    /// The snapshots of the record that both are from.
    pub record: &'a [MemoryReport],
    pub entries: EntriesShown,
}

impl Forms for Growth<'_> {
    type Stored = MemoryChange;

    fn stored(&self) -> &MemoryChange {
        self.change
    }
    fn table(&self, view: TerminalView) -> String {
        report::render_change_terminal(self.change, TerminalView { entries: self.entries, ..view })
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        report::render_change_csv(self.change, out)
    }
    fn markdown(&self) -> String {
        report::render_change_markdown(self.change)
    }
    fn problems(&self) -> &[Problem] {
        &self.change.problems
    }
}

impl Page for Growth<'_> {
    fn page(&self, mut out: &mut dyn Write) -> io::Result<()> {
        report::render_change_html(self.change, self.record, &mut out)
    }
}

/// A GC log with its name.
pub struct GcLog<'a> {
    pub report: &'a GcReport,
    pub name: &'a str,
}

impl Forms for GcLog<'_> {
    type Stored = GcReport;

    fn stored(&self) -> &GcReport {
        self.report
    }
    fn table(&self, view: TerminalView) -> String {
        report::render_gc_terminal(self.report, self.name, view)
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        report::render_gc_csv(self.report, out)
    }
    fn markdown(&self) -> String {
        report::render_gc_markdown(self.report, self.name)
    }
    fn problems(&self) -> &[Problem] {
        &self.report.problems
    }
}

impl Page for GcLog<'_> {
    fn page(&self, mut out: &mut dyn Write) -> io::Result<()> {
        report::render_gc_html(self.report, self.name, &mut out)
    }
}

/// A load with its target.
pub struct LoadOf<'a> {
    pub result: &'a LoadResult,
    pub target: &'a str,
    pub measured_s: Option<f64>,
}

impl Forms for LoadOf<'_> {
    type Stored = LoadResult;

    fn stored(&self) -> &LoadResult {
        self.result
    }
    fn table(&self, view: TerminalView) -> String {
        load_text::render(self.result, self.target, self.measured_s, view)
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        report::render_load_csv(self.result, out)
    }
    fn markdown(&self) -> String {
        report::render_load_markdown(self.result, self.target)
    }
    fn problems(&self) -> &[Problem] {
        &self.result.problems
    }
}

impl Page for LoadOf<'_> {
    fn page(&self, mut out: &mut dyn Write) -> io::Result<()> {
        report::render_load_html(self.result, self.target, &mut out)
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
