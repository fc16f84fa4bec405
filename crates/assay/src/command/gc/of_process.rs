//! The log that a running JVM writes.

use crate::command::process::options_of;
use crate::failure::Failure;
use assay_gclog::log_file_of;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files of the log of a JVM: the one that it writes, and those that it rotated away.
pub fn logs_of(pid: u32) -> Result<Vec<PathBuf>, Failure> {
    let Some(found) = options_of(pid)? else {
        return Err(Failure::input(format!(
            "{pid} is neither a file nor a JVM, but another process\n  to list the running JVMs: assay memory"
        )));
    };
    let Some(written) = log_file_of(&found.options) else {
        return Err(Failure::input(format!(
            "JVM {pid} was not started with an option that writes its GC log to a file\n  \
             turn it on until it ends: jcmd {pid} VM.log output=/tmp/gc.log what=gc*=info decorators=uptime,level,tags\n  \
             then: assay gc /tmp/gc.log"
        )));
    };
    let pattern = written.replace("%p", &pid.to_string());
    let place = place_of(pid, Path::new(&pattern));
    let files = files_of(&place);
    if files.is_empty() {
        let place = place.display();
        return Err(Failure::input(format!(
            "JVM {pid} writes its GC log to {written}, and no file {place} can be seen from here\n  \
             assay gc FILE, where the file has another name or place"
        )));
    }
    for file in &files {
        say!("note: JVM {pid} writes {}", file.display());
    }
    Ok(files)
}

/// Where a path of a process lies for us: its folder may be another one, and so may its file system, in a container.
fn place_of(pid: u32, path: &Path) -> PathBuf {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let folder = fs::read_link(process.join("cwd")).unwrap_or_else(|_| PathBuf::from("/"));
    let path = folder.join(path);
    let is_same = |link: &str| {
        let of = |base: &Path| fs::read_link(base.join(link)).ok();
        of(&process).is_some() && of(&process) == of(Path::new("/proc/self"))
    };
    if is_same("ns/mnt") && is_same("root") {
        return path;
    }
    process.join("root").join(path.strip_prefix("/").unwrap_or(&path))
}

/// The newest file of a name in which `%t` stands for the time of a start, with its rotated parts.
fn files_of(place: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (place.parent(), place.file_name().and_then(|name| name.to_str()))
    else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let written_at = |name: &str| folder.join(name).metadata().and_then(|of| of.modified()).ok();
    let Some(base) = newest(name, &names, written_at) else { return Vec::new() };
    let is_part = |name: &str| {
        let number = name.strip_prefix(&base).and_then(|rest| rest.strip_prefix('.'));
        let number = number.map(|number| number.trim_end_matches(".current"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    names.iter().filter(|name| **name == base || is_part(name)).map(|name| folder.join(name)).collect()
}

/// The name without its rotation: of those that fit the pattern that which was written last.
fn newest(
    pattern: &str,
    names: &[String],
    written_at: impl Fn(&str) -> Option<SystemTime>,
) -> Option<String> {
    let Some((before, behind)) = pattern.split_once("%t") else {
        // Before JDK 9 the parts of a rotation have numbers, and no file has the plain name.
        let is_of_it = |name: &&String| *name == pattern || name.starts_with(&format!("{pattern}."));
        return names.iter().any(|name| is_of_it(&name)).then(|| pattern.to_owned());
    };
    let fits = |name: &&String| {
        let time = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
        time.is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit() || b"-_".contains(&byte)))
    };
    names.iter().filter(fits).max_by_key(|name| written_at(name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_parts_and_starts_are_found_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| fs::write(folder.path().join(name), "x").expect("written");
        for name in
            ["gc.log", "gc.log.0", "gc.log.1", "gc.log.old", "gc.log.gz", "other.log", "a.log.0.current"]
        {
            write(name);
        }
        let found = |pattern: &str| {
            let files = files_of(&folder.path().join(pattern));
            let mut names: Vec<String> =
                files.iter().filter_map(|f| Some(f.file_name()?.to_str()?.to_owned())).collect();
            names.sort();
            names
        };
        assert_eq!(found("gc.log"), ["gc.log", "gc.log.0", "gc.log.1"]);
        assert_eq!(found("a.log"), ["a.log.0.current"]);
        assert!(found("none.log").is_empty() && found("gc-%t.log").is_empty());
        write("gc-2026-01-02_03-04-05.log");
        write("gc-backup.log");
        assert_eq!(found("gc-%t.log"), ["gc-2026-01-02_03-04-05.log"]);
    }

    #[test]
    fn a_path_is_seen_from_the_folder_of_the_process() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(place_of(std::process::id(), Path::new("gc.log")), here.join("gc.log"));
        assert_eq!(place_of(std::process::id(), Path::new("/a/gc.log")), Path::new("/a/gc.log"));
    }
}
