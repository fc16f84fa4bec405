//! Sample logs, and damage to them that a property test draws.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of a folder whose name begins so.
pub fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_wanted = |path: &PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let mut found: Vec<PathBuf> =
        entries.filter(is_wanted).filter(|path| !path.ends_with("LICENSE")).collect();
    found.sort();
    found
}

/// Two of these files spliced, bytes changed: which files, where the first ends and the second is taken up, what is put where.
pub fn spliced(
    files: &[PathBuf],
    which: (usize, usize),
    cuts: (usize, usize),
    damage: Vec<(usize, u8)>,
) -> Vec<u8> {
    let sample = |index: usize| fs::read(&files[index % files.len()]).expect("the sample");
    let (mut bytes, tail) = (sample(which.0), sample(which.1));
    bytes.truncate(cuts.0);
    bytes.extend_from_slice(&tail[cuts.1.min(tail.len())..]);
    for (at, byte) in damage {
        if let Some(damaged) = bytes.get_mut(at) {
            *damaged = byte;
        }
    }
    bytes
}
