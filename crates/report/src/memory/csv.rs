//! What is known of resident memory as CSV: a row for each entry, bytes in full, the parts of a path joined by ` / `.

use assay_kit::csv_rows::{Rows, whole};
use assay_model::{Advice, AdviceLine, MemoryChange, MemoryReport, RunningJvms};
use std::io::{self, Write};

/// Between the parts of a path.
const BELOW: &str = " / ";

/// The JVMs that run, a row each.
///
/// # Errors
/// Those of the writer.
pub fn running(found: &RunningJvms, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["pid", "resident_bytes", "version", "program"])?;
    for jvm in &found.jvms {
        let version = jvm.version.as_deref().unwrap_or_default();
        rows.row([&jvm.pid.to_string(), &whole(jvm.rss_bytes), version, &jvm.program])?;
    }
    rows.end()
}

/// A snapshot: a row for each entry. They add up to the RSS.
///
/// # Errors
/// Those of the writer.
pub fn snapshot(report: &MemoryReport, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["area", "path", "resident_bytes", "size_bytes", "count", "source", "explanation"];
    let mut rows = Rows::new(out, columns)?;
    for entry in &report.entries {
        let path = entry.path.join(BELOW);
        rows.row([
            entry.path.first().map_or("", String::as_str),
            &path,
            &entry.resident_bytes.to_string(),
            &whole(entry.size_bytes),
            &whole(entry.count),
            entry.source.title(),
            entry.explanation.as_deref().unwrap_or_default(),
        ])?;
    }
    rows.end()
}

/// What changed: a row for each cause.
///
/// # Errors
/// Those of the writer.
pub fn change(change: &MemoryChange, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        ["path", "before_bytes", "after_bytes", "change_bytes", "count_change", "source", "explanation"];
    let mut rows = Rows::new(out, columns)?;
    for cause in &change.causes {
        rows.row([
            &cause.path.join(BELOW),
            &cause.before_bytes.to_string(),
            &cause.after_bytes.to_string(),
            &cause.change_bytes().to_string(),
            &whole(cause.count_change),
            cause.source.title(),
            &cause.explanation,
        ])?;
    }
    rows.end()
}

/// What a limit is made of: a row for each part, and one for the limit itself.
///
/// # Errors
/// Those of the writer.
pub fn advice(advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["part", "now_bytes", "peak_bytes", "budgeted_bytes", "certainty", "budgeted_from"];
    let mut rows = Rows::new(out, columns)?;
    let certainty = |line: &AdviceLine| line.certainty.map_or("", |certainty| certainty.word());
    for line in &advice.lines {
        rows.row([
            &line.name,
            &line.now_bytes.to_string(),
            &whole(line.peak_bytes),
            &line.bound_bytes.to_string(),
            certainty(line),
            &line.bound_from,
        ])?;
    }
    let limit = [&advice.now_bytes, &advice.limit_bytes].map(u64::to_string);
    rows.row(["limit", &limit[0], "", &limit[1], "", "all parts, rounded up to a MiB"])?;
    rows.end()
}
