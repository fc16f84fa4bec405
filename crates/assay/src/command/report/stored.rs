//! Results that are one file: what a command printed with `--json`, or recorded.

use super::shown::show;
use crate::arguments::ReportArguments;
use crate::command::read_stored;
use crate::command::what_file::{FileKind, kind_of, said_of};
use crate::failure::Failure;
use crate::forms::{GcLog, Growth, HeapIn, HostCheck, LoadOf, Snapshot, ToolReport};
use assay_model::{
    AbReport, Advice, BisectReport, CapacityReport, FitReport, FlagsReport, GcComparison, GcReport,
    HeapLayouts, HeapModes, HeapPrediction, HostComparison, HostReport, JudgeReport, LoadResult,
    MemoryChange, MemoryReport, MemoryToolReport, RunComparison, TimeChange, TimeReport, WhyReport, schema,
};
use serde::de::DeserializeOwned;
use std::path::Path;

/// Classes that the table of a heap shows.
const CLASSES_SHOWN: usize = 20;

/// Writes the report of a stored result; `page` is the place of its page where none was named.
pub fn report(path: &Path, page: &Path, arguments: &ReportArguments) -> Result<(), Failure> {
    let Some(FileKind::Stored(format)) = kind_of(path) else { return Err(no_result(path, said_of(path))) };
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // The result is written with the keys of this version, so it names the schema of this version.
    let schema = format.to_owned();
    match format {
        schema::MEMORY => {
            let report = MemoryReport { schema, ..read(path, format)? };
            show(&Snapshot { report: &report, earlier: &[], entries: None }, page, arguments)
        }
        #[cfg(target_os = "linux")]
        schema::MEMORY_RECORD => {
            let (snapshots, problems) = assay_memory::read_record(path)?;
            crate::output::note(&problems);
            let Some(last) = snapshots.last().cloned() else { return Err(no_result(path, None)) };
            let report = MemoryReport { growth: Some(assay_memory::judge_growth(&snapshots)), ..last };
            show(&Snapshot { report: &report, earlier: &snapshots, entries: None }, page, arguments)
        }
        schema::MEMORY_CHANGE => {
            let change = MemoryChange { schema, ..read(path, format)? };
            show(&Growth { change: &change, record: &[], entries: None }, page, arguments)
        }
        schema::MEMORY_TOOL_REPORT => {
            let report = MemoryToolReport { schema, ..read(path, format)? };
            show(&ToolReport { report: &report, entries: None }, page, arguments)
        }
        schema::MEMORY_ADVICE => show(&Advice { schema, ..read(path, format)? }, page, arguments),
        schema::TIME => show(&TimeReport { schema, ..read(path, format)? }, page, arguments),
        schema::TIME_CHANGE => show(&TimeChange { schema, ..read(path, format)? }, page, arguments),
        schema::GC => {
            let report = GcReport { schema, ..read(path, format)? };
            show(&GcLog { report: &report, name: &name }, page, arguments)
        }
        schema::GC_COMPARISON => show(&GcComparison { schema, ..read(path, format)? }, page, arguments),
        schema::LOAD => {
            let result = LoadResult { schema, ..read(path, format)? };
            show(&LoadOf { result: &result, target: &name, measured_s: None }, page, arguments)
        }
        schema::CAPACITY => show(&CapacityReport { schema, ..read(path, format)? }, page, arguments),
        schema::RUN_COMPARISON => show(&RunComparison { schema, ..read(path, format)? }, page, arguments),
        schema::AB => show(&AbReport { schema, ..read(path, format)? }, page, arguments),
        schema::JUDGE => show(&JudgeReport { schema, ..read(path, format)? }, page, arguments),
        schema::FIT => show(&FitReport { schema, ..read(path, format)? }, page, arguments),
        schema::BISECT => show(&BisectReport { schema, ..read(path, format)? }, page, arguments),
        schema::HOST_CHECK => {
            let report = HostReport { schema, ..read(path, format)? };
            show(&HostCheck { report: &report, has_all: arguments.extent.all }, page, arguments)
        }
        schema::HOST_COMPARISON => show(&HostComparison { schema, ..read(path, format)? }, page, arguments),
        schema::WHY => show(&WhyReport { schema, ..read(path, format)? }, page, arguments),
        schema::FLAGS => show(&FlagsReport { schema, ..read(path, format)? }, page, arguments),
        schema::HEAP_PREDICTION => {
            let prediction = HeapPrediction { schema, ..read(path, format)? };
            show(&HeapIn { prediction: &prediction, top: CLASSES_SHOWN }, page, arguments)
        }
        schema::HEAP_LAYOUT => show(&HeapLayouts { schema, ..read(path, format)? }, page, arguments),
        schema::HEAP_MODES => show(&HeapModes { schema, ..read(path, format)? }, page, arguments),
        schema::HOST_SNAPSHOT => Err(no_result(path, said_of(path))),
        _ => Err(no_result(path, None)),
    }
}

fn read<T: DeserializeOwned>(path: &Path, format: &str) -> Result<T, Failure> {
    read_stored(path, format, "a stored result")
}

/// What is not a result with a report, with `said`, what it is instead.
fn no_result(path: &Path, said: Option<String>) -> Failure {
    let said = said.map_or_else(String::new, |said| format!("; {said}"));
    let hint = "the commands that measure print one with --json, assay run makes a run directory";
    Failure::input(format!("{} is not a result with a report{said}\n  {hint}", path.display()))
}
