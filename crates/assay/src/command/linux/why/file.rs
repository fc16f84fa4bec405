//! What a file says: a GC log, a record of memory, a stored result.

use super::ranked::ranked;
use crate::command::what_file::{FileKind, kind_of, said_of};
use crate::command::{gc, read_stored};
use crate::failure::Failure;
use crate::output;
use assay_model::{HostSnapshot, MemoryReport, WhyReport, schema};
use std::path::Path;

/// Reads the file as what it is.
pub fn ask(path: &Path) -> Result<WhyReport, Failure> {
    let name = path.display().to_string();
    let next = format!("assay report {name}");
    let of = WhyReport { subject: name.clone(), next, ..WhyReport::default() };
    let parts = match kind_of(path) {
        Some(FileKind::Stored(schema::MEMORY)) => {
            WhyReport { memory: Some(read(path, schema::MEMORY)?), ..of }
        }
        Some(FileKind::Stored(schema::MEMORY_RECORD)) => return record(path, of),
        Some(FileKind::Stored(schema::TIME)) => WhyReport { time: Some(read(path, schema::TIME)?), ..of },
        Some(FileKind::Stored(schema::GC)) => WhyReport { gc: Some(read(path, schema::GC)?), ..of },
        Some(FileKind::Stored(schema::HOST_CHECK)) => {
            WhyReport { host: Some(read(path, schema::HOST_CHECK)?), ..of }
        }
        Some(FileKind::Stored(schema::HOST_SNAPSHOT)) => {
            let snapshot: HostSnapshot = read(path, schema::HOST_SNAPSHOT)?;
            let next = format!("assay host {name}");
            WhyReport { host: Some(assay_host::check(&snapshot)), next, ..of }
        }
        Some(FileKind::Stored(schema::WHY)) => return read(path, schema::WHY),
        Some(FileKind::Stored(_) | FileKind::HeapDump | FileKind::Recording | FileKind::Study) => {
            return Err(other(&name, said_of(path)));
        }
        // The reader of logs refuses any other file, and names what it is.
        _ => {
            let next = format!("assay gc {name} --html gc.html");
            WhyReport { gc: Some(gc::of_log(path)?), next, ..of }
        }
    };
    Ok(ranked(parts, None))
}

/// The last snapshot, with the verdict over all.
fn record(path: &Path, of: WhyReport) -> Result<WhyReport, Failure> {
    let (snapshots, problems) = assay_memory::read_record(path)?;
    output::note(&problems);
    let last = snapshots.last().cloned();
    let last = last.ok_or_else(|| Failure::input(format!("{} holds no snapshot", path.display())))?;
    let verdict = assay_memory::judge_growth(&snapshots);
    let growth = assay_memory::growth_finding(&verdict, &last);
    let memory = MemoryReport { growth: Some(verdict), ..last };
    let next = format!("assay memory diff {0} {0} --html memory.html", path.display());
    Ok(ranked(WhyReport { memory: Some(memory), next, ..of }, growth))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path, format: &str) -> Result<T, Failure> {
    read_stored(path, format, "a stored result")
}

fn other(name: &str, said: Option<String>) -> Failure {
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    Failure::input(format!("{name} is neither a log nor a record of a running JVM{said}"))
}
