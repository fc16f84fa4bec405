//! The files that rules name, with their wildcards.

use crate::check::PID;
use assay_model::FileRead;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The longest is `/proc/softirqs` or `/proc/stat` of a machine with thousands of processors.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Files that one pattern may name: `cpu*` of a machine with 4,096 processors.
const MATCHES_MAX: usize = 5000;

/// Reads what the patterns name below a root, by the path without that root. A pattern that names nothing stands for itself, absent.
pub(crate) fn read<'a>(
    root: &Path,
    patterns: impl Iterator<Item = &'a String>,
    pids: &[u32],
) -> BTreeMap<String, FileRead> {
    let mut files = BTreeMap::new();
    for pattern in patterns.flat_map(|pattern| of_processes(pattern, pids)) {
        if files.contains_key(&pattern) {
            continue;
        }
        let paths = matches(root, &pattern);
        if paths.is_empty() {
            files.insert(pattern, FileRead::Absent);
            continue;
        }
        for path in paths {
            let read = read_file(&root.join(path.trim_start_matches('/')));
            files.insert(path, read);
        }
    }
    files
}

fn of_processes(pattern: &str, pids: &[u32]) -> Vec<String> {
    if !pattern.contains(PID) {
        return vec![pattern.to_owned()];
    }
    pids.iter().map(|pid| pattern.replace(PID, &pid.to_string())).collect()
}

/// The paths that a pattern names, without the root, in their order.
fn matches(root: &Path, pattern: &str) -> Vec<String> {
    if !pattern.contains('*') {
        return vec![pattern.to_owned()];
    }
    let below = root.to_string_lossy();
    let whole = format!("{}{pattern}", glob::Pattern::escape(below.trim_end_matches('/')));
    let found = glob::glob(&whole).into_iter().flatten().filter_map(Result::ok);
    let without_root = |path: std::path::PathBuf| {
        let below = path.strip_prefix(root).ok()?;
        Some(format!("/{}", below.to_str()?))
    };
    found.filter_map(without_root).take(MATCHES_MAX).collect()
}

fn read_file(path: &Path) -> FileRead {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)) {
        Ok(_) if FILE_BYTES_MAX < bytes.len() as u64 => {
            FileRead::Unreadable(format!("larger than {FILE_BYTES_MAX} bytes"))
        }
        Ok(_) => FileRead::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => FileRead::Absent,
        Err(error) => FileRead::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_and_processes_are_replaced_and_what_is_not_there_is_absent() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().expect("its folder")).expect("made");
            fs_err::write(path, text).expect("written");
        };
        write("sys/cpu/cpu0/governor", "performance\n");
        write("sys/cpu/cpu10/governor", "powersave\n");
        write("proc/42/status", "Name:\tjava\n");
        let patterns = ["/sys/cpu/cpu*/governor", "/proc/{pid}/status", "/sys/none*/x", "/proc/none"];
        let read = read(root.path(), patterns.map(str::to_owned).iter(), &[42, 43]);
        let text = |text: &str| FileRead::Text(text.to_owned());
        let expected = [
            ("/proc/42/status", text("Name:\tjava\n")),
            ("/proc/43/status", FileRead::Absent),
            ("/proc/none", FileRead::Absent),
            ("/sys/cpu/cpu0/governor", text("performance\n")),
            ("/sys/cpu/cpu10/governor", text("powersave\n")),
            ("/sys/none*/x", FileRead::Absent),
        ];
        assert_eq!(read, expected.map(|(path, read)| (path.to_owned(), read)).into());
    }
}
