//! Finding the programs of a process where distributions put them, beside the path.

use crate::launch::Launch;
use std::path::{Path, PathBuf};

/// Versions of a folder that are looked at.
const VERSIONS_MAX: usize = 1000;

/// Puts folders before the path of a launch, and finds its program there.
pub(crate) fn add_to_path(launch: &mut Launch, folders: &[String]) {
    let found = expand(folders);
    if found.is_empty() {
        return;
    }
    if let Some(program) = launch.argv.first_mut()
        && let Some(path) = find(program, folders)
    {
        *program = path.to_string_lossy().into_owned();
    }
    let own = launch.env.get("PATH").map(Into::into).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let all = found.into_iter().chain(std::env::split_paths(&own).collect::<Vec<_>>());
    if let Ok(path) = std::env::join_paths(all) {
        launch.env.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    }
}

/// A program, given by its name, in these folders or on the path.
pub fn find(name: &str, folders: &[String]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    expand(folders).into_iter().chain(on_path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The folders that are there. `*` in place of one name stands for a version: of several the newest comes first.
fn expand(folders: &[String]) -> Vec<PathBuf> {
    let of = |folder: &String| match folder.split_once("/*") {
        None => vec![PathBuf::from(folder)],
        Some((above, below)) => versions(Path::new(above), below.trim_start_matches('/')),
    };
    folders.iter().flat_map(of).filter(|folder| folder.is_dir()).collect()
}

fn versions(above: &Path, below: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten().take(VERSIONS_MAX);
    let numbers = |name: &str| -> Option<Vec<u32>> { name.split('.').map(|n| n.parse().ok()).collect() };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| Some((numbers(entry.file_name().to_str()?)?, entry.path().join(below))))
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_and_the_path_last() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9.6", "15", "100", "common"] {
            let bin = folder.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("assay-test-program"), "").unwrap();
        }
        let folders = [format!("{}/*/bin", folder.path().display()), "/no/such/folder".to_owned()];
        let want: Vec<PathBuf> = ["100", "15", "9.6"].map(|v| folder.path().join(v).join("bin")).into();
        assert_eq!(expand(&folders), want);
        assert_eq!(find("assay-test-program", &folders), Some(want[0].join("assay-test-program")));
        assert_eq!(find("assay-test-program", &[]), None);
        assert!(find("sh", &folders).is_some());

        let env = [("PATH".to_owned(), "/own".to_owned())].into();
        let mut launch = Launch { argv: vec!["sh".to_owned()], env, cwd: "/".into() };
        add_to_path(&mut launch, &folders);
        let first = want[0].to_string_lossy();
        assert!(launch.env["PATH"].starts_with(&*first) && launch.env["PATH"].ends_with(":/own"));
    }
}
