//! `assay memory diff`: what changed between two stored snapshots.

use crate::arguments::DiffArguments;
use crate::command::read_stored;
use crate::command::what_file::{FileKind, kind_of};
use crate::failure::Failure;
use crate::forms::{Growth, show_as_asked};
use crate::output;
use crate::output_file::can_be_written;
use assay_model::{MemoryReport, schema};
use std::path::Path;
use std::process::ExitCode;

/// Compares two snapshots.
pub fn diff(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let before = read(&arguments.before, End::First)?;
    let after = read(&arguments.after, End::Last)?;
    let mut change = assay_memory::explain_change(&before.snapshot, &after.snapshot);
    let record = if before.path == after.path { after.snapshots.as_slice() } else { &[] };
    // A verdict rests on all snapshots from the one to the other.
    let judged = record.get(before.index..=after.index).filter(|snapshots| 1 < snapshots.len());
    change.growth = judged.map(assay_memory::judge_growth);
    let growth = Growth { change: &change, record, entries: arguments.entries };
    show_as_asked(&growth, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Which snapshot of a record is meant where none is named.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// A snapshot with the record that it is from.
struct Stored {
    path: String,
    /// Its place in the record.
    index: usize,
    snapshot: MemoryReport,
    snapshots: Vec<MemoryReport>,
}

fn read(text: &str, end: End) -> Result<Stored, Failure> {
    let (path, number) = split_number(text)?;
    let mut snapshots = read_snapshots(Path::new(path))?;
    let index = match (number, end) {
        (Some(number), _) => number - 1,
        (None, End::First) => 0,
        (None, End::Last) => snapshots.len().saturating_sub(1),
    };
    if snapshots.len() <= index {
        let has = if snapshots.len() == 1 {
            "1 snapshot".to_owned()
        } else {
            format!("{} snapshots", snapshots.len())
        };
        return Err(Failure::input(format!("{path} has {has}; there is no snapshot {} in it", index + 1)));
    }
    let snapshot = snapshots[index].clone();
    if snapshots.len() == 1 {
        snapshots.clear();
    }
    Ok(Stored { path: path.to_owned(), index, snapshot, snapshots })
}

/// `FILE@N` in its parts; a file that has that very name is a file.
fn split_number(text: &str) -> Result<(&str, Option<usize>), Failure> {
    let split = text.rsplit_once('@').filter(|_| !Path::new(text).exists());
    let Some((path, number)) = split else { return Ok((text, None)) };
    match number.parse() {
        Ok(number @ 1..) => Ok((path, Some(number))),
        // A file that is not there, with such a name.
        Err(_) if !Path::new(path).exists() => Ok((text, None)),
        _ => Err(Failure::input(format!(
            "there is no snapshot {number:?} of {path}: snapshots count from 1, {path}@1 is the first"
        ))),
    }
}

/// The snapshots of a file of `--record`, or the one of a file of `--json`.
fn read_snapshots(path: &Path) -> Result<Vec<MemoryReport>, Failure> {
    if kind_of(path) == Some(FileKind::Stored(schema::MEMORY_RECORD)) {
        let (snapshots, problems) = assay_memory::read_record(path)?;
        output::note(&problems);
        return Ok(snapshots);
    }
    let snapshot = read_stored(path, schema::MEMORY, "an assay memory snapshot").map_err(|failure| {
        let hint = "make one with: assay memory PID --json > FILE, or assay memory PID --record FILE";
        Failure::input(format!("{}\n  {hint}", failure.message))
    })?;
    Ok(vec![snapshot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_behind_the_name_is_a_look_unless_the_file_has_that_name() {
        let split = |text| split_number(text).expect("a name");
        assert_eq!(split("a.ndjson@3"), ("a.ndjson", Some(3)));
        assert_eq!(split("a.ndjson"), ("a.ndjson", None));
        assert_eq!(split("me@home"), ("me@home", None));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a@3");
        fs_err::write(&path, "x").expect("written");
        let name = path.display().to_string();
        assert_eq!(split(&name), (name.as_str(), None));
        for wrong in ["0", "x", "", "-1", "99999999999999999999999"] {
            let told = split_number(&format!("{name}@{wrong}")).expect_err(wrong).message;
            assert!(told.contains("snapshots count from 1"), "{told}");
        }
    }

    #[test]
    fn what_is_no_look_says_how_to_make_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        for content in ["", "{}", "[1,2", "{\"schema\":\"assay.gc/1\"}", "\u{0}\u{1}"] {
            fs_err::write(&path, content).expect("written");
            let failure = read_snapshots(&path).expect_err(content);
            assert!(failure.message.contains("--record"), "{}", failure.message);
            assert_eq!(failure.kind, crate::failure::Kind::Input);
        }
        let missing = read_snapshots(&folder.path().join("none")).expect_err("no file");
        assert_eq!(missing.kind, crate::failure::Kind::Input);
    }
}
