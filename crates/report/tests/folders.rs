//! The reports do not know each other, and the kit knows nothing of what is reported.

use std::path::{Path, PathBuf};

const FOLDERS: [&str; 15] = [
    "ab", "bisect", "capacity", "compare", "fit", "flags", "gc", "heap", "host", "judge", "load", "memory",
    "study", "time", "why",
];

/// Reports of studies, of two commands, which are a study, of flags, which are commands, and of all readers together show parts of others, which they offer as values.
const EMBEDDING: [&str; 4] = ["ab", "judge", "study", "why"];

fn crate_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("readable folder").flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

#[test]
fn what_is_at_the_root_only_ties_the_folders_together() {
    let src = crate_folder("report").join("src");
    let mut found: Vec<String> = std::fs::read_dir(&src)
        .expect("readable folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut wanted: Vec<&str> = FOLDERS.to_vec();
    wanted.push("lib.rs");
    wanted.sort_unstable();
    assert_eq!(found, wanted, "a report has a folder; what several share is in crates/kit");
}

#[test]
fn no_report_uses_another_but_a_study_which_shows_parts_of_them() {
    for folder in FOLDERS.into_iter().filter(|folder| !EMBEDDING.contains(folder)) {
        let files = rust_files(&crate_folder("report").join("src").join(folder));
        assert!(!files.is_empty(), "{folder}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a Rust file");
            // `crate::` in a folder could only lead to the root or to another folder.
            assert!(!text.contains("crate::"), "{} uses what is outside its folder", file.display());
        }
    }
}

#[test]
fn the_kit_does_not_know_the_model() {
    let manifest = std::fs::read_to_string(crate_folder("kit").join("Cargo.toml")).expect("a manifest");
    assert!(
        !manifest.contains("assay-model"),
        "crates/kit knows no stored type: hand over numbers and texts"
    );
}
