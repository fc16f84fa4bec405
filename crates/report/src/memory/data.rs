//! The raw figures of resident memory: bytes in full, the parts of a path joined by ` / `.

use assay_kit::document::{Data, Value};
use assay_model::{
    Advice, AdviceLine, Cause, MemoryChange, MemoryEntry, MemoryReport, MemoryToolReport, ReportedEntry,
    RunningJvm, RunningJvms,
};

/// The name of a column, and what stands in it.
type Column<T> = (&'static str, fn(&T) -> Value);

/// Between the parts of a path.
const BELOW: &str = " / ";

/// A row for each JVM that runs.
pub fn running(found: &RunningJvms) -> Data {
    let columns: [Column<RunningJvm>; 4] = [
        ("pid", |jvm| jvm.pid.into()),
        ("resident_bytes", |jvm| jvm.rss_bytes.into()),
        ("version", |jvm| jvm.version.clone().into()),
        ("program", |jvm| jvm.program.clone().into()),
    ];
    Data::of(&found.jvms, columns)
}

/// A row for each entry of another tool's report, and for each call site.
pub fn tool_report(report: &MemoryToolReport) -> Data {
    let columns: [Column<(&str, &ReportedEntry)>; 8] = [
        ("part", |(part, _)| (*part).into()),
        ("path", |(_, entry)| entry.path.join(BELOW).into()),
        ("resident_bytes", |(_, entry)| entry.memory.resident_bytes.into()),
        ("committed_bytes", |(_, entry)| entry.memory.committed_bytes.into()),
        ("pss_bytes", |(_, entry)| entry.memory.pss_bytes.into()),
        ("swap_bytes", |(_, entry)| entry.memory.swap_bytes.into()),
        ("reserved_bytes", |(_, entry)| entry.memory.reserved_bytes.into()),
        ("count", |(_, entry)| entry.count.into()),
    ];
    let entries = report.entries.iter().map(|entry| ("entry", entry));
    let sites = report.call_sites.iter().map(|site| ("call-site", site));
    Data::of(&entries.chain(sites).collect::<Vec<_>>(), columns)
}

/// A row for each entry of a snapshot. They add up to the RSS.
pub fn snapshot(report: &MemoryReport) -> Data {
    let columns: [Column<MemoryEntry>; 11] = [
        ("area", |entry| entry.path.first().cloned().into()),
        ("path", |entry| entry.path.join(BELOW).into()),
        ("resident_bytes", |entry| entry.resident_bytes.into()),
        ("size_bytes", |entry| entry.size_bytes.into()),
        ("count", |entry| entry.count.into()),
        ("private_bytes", |entry| entry.pages.map(|pages| pages.private_bytes).into()),
        ("shared_bytes", |entry| entry.pages.map(|pages| pages.shared_bytes).into()),
        ("droppable_bytes", |entry| entry.pages.map(|pages| pages.droppable_bytes).into()),
        ("huge_bytes", |entry| entry.pages.and_then(|pages| pages.huge_bytes).into()),
        ("source", |entry| entry.source.title().into()),
        ("explanation", |entry| entry.explanation.clone().into()),
    ];
    Data::of(&report.entries, columns)
}

/// A row for each cause of a change.
pub fn change(change: &MemoryChange) -> Data {
    let columns: [Column<Cause>; 7] = [
        ("path", |cause| cause.path.join(BELOW).into()),
        ("before_bytes", |cause| cause.before_bytes.into()),
        ("after_bytes", |cause| cause.after_bytes.into()),
        ("change_bytes", |cause| cause.change_bytes().into()),
        ("count_change", |cause| cause.count_change.into()),
        ("source", |cause| cause.source.title().into()),
        ("explanation", |cause| cause.explanation.clone().into()),
    ];
    Data::of(&change.causes, columns)
}

/// A row for each part of a limit, and one for the limit itself.
pub fn advice(advice: &Advice) -> Data {
    let columns: [Column<AdviceLine>; 6] = [
        ("part", |line| line.name.clone().into()),
        ("now_bytes", |line| line.now_bytes.into()),
        ("peak_bytes", |line| line.peak_bytes.into()),
        ("budgeted_bytes", |line| line.bound_bytes.into()),
        ("certainty", |line| line.certainty.map(|certainty| certainty.word()).into()),
        ("budgeted_from", |line| line.bound_from.clone().into()),
    ];
    let mut data = Data::of(&advice.lines, columns);
    data.push([
        Value::from("limit"),
        advice.now_bytes.into(),
        Value::Absent,
        advice.limit_bytes.into(),
        Value::Absent,
        "all parts, rounded up to a MiB".into(),
    ]);
    data
}
