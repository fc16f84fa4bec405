//! The program of a guest: where it lies, whether a guest can run it, which Java runtime it belongs to.

use assay_launch::find_program;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files that show that a folder is the home of a Java runtime: its classes, since JDK 9 and before.
const RUNTIME_FILES: [&str; 3] = ["lib/modules", "lib/rt.jar", "jre/lib/rt.jar"];

/// The program of a command by its whole path, behind all links.
///
/// # Errors
/// It is not there, or is a script.
pub(super) fn find(program: &str, cwd: &Path) -> Result<PathBuf, String> {
    let found = if program.contains('/') { Some(cwd.join(program)) } else { find_program(program, &[]) };
    let found = found.filter(|path| path.is_file());
    let path =
        found.ok_or_else(|| format!("there is no program `{program}`; is it installed, and on the path?"))?;
    let path = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
    let mut start = [0; 2];
    let read = fs_err::File::open(&path).and_then(|mut file| file.read_exact(&mut start));
    if read.is_ok() && start == *b"#!" {
        return Err(format!(
            "`{program}` is a script, and a guest has no programs but the server: give the command that it runs, such as java -jar"
        ));
    }
    Ok(path)
}

/// The home of the Java runtime that a program belongs to.
pub(super) fn runtime_home(program: &Path) -> Option<PathBuf> {
    let home = program.parent().filter(|bin| bin.file_name().is_some_and(|name| name == "bin"))?.parent()?;
    let is_home = RUNTIME_FILES.iter().any(|file| home.join(file).is_file());
    is_home.then(|| home.to_owned())
}

/// A program without what only debuggers read, kept in `cache`; the program itself where there is no `strip`.
///
/// # Errors
/// When the cache cannot be written.
pub fn stripped(program: &Path, cache: &Path) -> Result<PathBuf, String> {
    let about = fs_err::metadata(program).map_err(|e| e.to_string())?;
    let mut hasher = DefaultHasher::new();
    (program, about.len(), about.modified().ok()).hash(&mut hasher);
    let kept = cache.join(format!("program-{:016x}", hasher.finish()));
    if kept.is_file() {
        return Ok(kept);
    }
    // One program at a time is worth keeping: each build makes another.
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten();
    for old in entries.filter(|e| e.file_name().to_string_lossy().starts_with("program-")) {
        let _ = std::fs::remove_file(old.path());
    }
    let work = tempfile::tempdir_in(cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    let made = work.path().join("program");
    let done = Command::new("strip").arg("-o").arg(&made).arg(program).status();
    if !done.is_ok_and(|status| status.success()) {
        return Ok(program.to_owned());
    }
    fs_err::rename(&made, &kept).map_err(|e| e.to_string())?;
    Ok(kept)
}
