//! Which files of this machine a guest needs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Components of a path, the root included, below which it is not taken for something to copy: `/`, `/usr`, `/proc`.
const COMPONENTS_MIN: usize = 3;
/// A guest's own files.
const NOT_COPIED: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Files and folders that are here and that a command or its variables name: as a word, or in one, as class paths and options have them.
pub fn named_files<'a>(argv: &'a [String], env: impl IntoIterator<Item = &'a String>) -> Vec<PathBuf> {
    let texts = argv.iter().chain(env);
    let words = texts.flat_map(|text| text.split([':', '=', ',', ';', '\"', '@']));
    let paths = words.map(|word| Path::new(word.strip_suffix("/*").unwrap_or(word)));
    let is_plain = |path: &Path| {
        let mut parts = path.components();
        parts.next() == Some(Component::RootDir)
            && COMPONENTS_MIN <= path.components().count()
            && parts.all(|part| matches!(part, Component::Normal(_)))
            && !NOT_COPIED.iter().any(|own| path.starts_with(own))
    };
    let mut named: Vec<PathBuf> =
        paths.filter(|p| is_plain(p) && p.exists()).map(Path::to_path_buf).collect();
    named.sort();
    named.dedup();
    named
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_words_and_variables_and_system_folders_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("a.jar");
        std::fs::write(&jar, "").unwrap();
        let path = jar.to_str().unwrap();
        let argv =
            ["/", "/usr", "/proc/self", "-cp", &format!("/nowhere/b.jar:{path}"), "x=../..", "/tmp/../etc"];
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let own = folder.path().to_str().unwrap();
        let env = [format!("-Dhome={own}/*"), path.to_owned()];
        assert_eq!(named_files(&argv, &env), [folder.path().to_owned(), jar.clone()]);
    }
}
