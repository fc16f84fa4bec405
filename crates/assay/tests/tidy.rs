//! Rules of the house that a machine can hold: arrows between crates, folders and files, features of libraries, file headers, sizes of files.

mod features;
mod imports;

use imports::Imports;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_LINES_MAX: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("checkout root")
}

/// Arrows that ARCHITECTURE.md lists, as crate -> crates it may use.
fn listed_arrows() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let begin = text.find("<!-- arrows: begin -->").expect("begin mark in ARCHITECTURE.md");
    let end = text.find("<!-- arrows: end -->").expect("end mark in ARCHITECTURE.md");
    text[begin..end]
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase()))
        .map(|(name, uses)| (name.to_owned(), uses.split_whitespace().map(str::to_owned).collect()))
        .collect()
}

/// What Cargo says of our crates.
fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    serde_json::from_slice(&output.stdout).expect("cargo metadata's JSON")
}

/// Arrows that the manifests have, development dependencies left out.
fn built_arrows() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let short = |name: &str| name.strip_prefix("assay-").unwrap_or(name).to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let uses = package["dependencies"].as_array().expect("dependencies").iter();
            let uses = uses.filter(|d| d["kind"].as_str() != Some("dev"));
            let uses = uses.filter_map(|d| d["name"].as_str()).filter(|n| ours.contains(n)).map(short);
            (short(package["name"].as_str().expect("name")), uses.collect())
        })
        .collect()
}

fn crates() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders
}

#[test]
fn crates_use_only_what_the_architecture_lists() {
    let listed = listed_arrows();
    for (name, uses) in built_arrows() {
        let Some(allowed) = listed.get(&name) else {
            panic!(
                "crates/{name} is not in ARCHITECTURE.md: add a line for it, and say in the table what is in it"
            );
        };
        let extra: Vec<_> = uses.difference(allowed).collect();
        assert!(
            extra.is_empty(),
            "crates/{name} now uses {extra:?}.\n  Arrows go one way: readers know nothing of analysis, the report \
             renders stored values only.\n  Put what you need into crates/model, or propose the new arrow in \
             ARCHITECTURE.md and say why."
        );
    }
}

#[test]
fn the_architecture_lists_no_crate_or_arrow_that_is_not_there() {
    let built = built_arrows();
    for (name, uses) in listed_arrows() {
        let there = built
            .get(&name)
            .unwrap_or_else(|| panic!("ARCHITECTURE.md lists crates/{name}, which is not there"));
        let unused: Vec<_> = uses.difference(there).collect();
        assert!(
            unused.is_empty(),
            "ARCHITECTURE.md lists {name}: {unused:?}, which the manifest does not have"
        );
    }
}

/// Adds the Rust files below a folder, build folders left out.
pub fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_rust_file_says_what_it_is_for_and_stays_readable() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a Rust file");
        let name = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        assert!(text.starts_with("//!"), "{name} does not open with a `//!` line that says what it is for");
        let lines = text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{name} has {lines} lines: split it by question (limit {FILE_LINES_MAX})"
        );
        for banned in ["utils", "helpers", "manager", "common"] {
            assert!(
                file.file_stem().is_none_or(|s| s != banned),
                "{name}: name the file after what it is about"
            );
        }
    }
}

#[test]
fn every_file_of_tests_is_compiled() {
    for folder in crates().into_iter().filter(|folder| folder.join("tests/all.rs").exists()) {
        let all = std::fs::read_to_string(folder.join("tests/all.rs")).expect("a Rust file");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        for entry in std::fs::read_dir(folder.join("tests")).expect("readable folder").flatten() {
            let path = entry.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_source = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").exists();
            let is_named =
                all.contains(&format!("mod {name};")) || manifest.contains(&format!("name = \"{name}\""));
            assert!(!is_source || is_named, "{}: tests/all.rs does not name it", path.display());
        }
    }
}

/// What is wrong with the imports below the source folder whose root is this file: cycles, each with the imports that make it up.
fn import_cycles(start: &Path) -> Vec<String> {
    let source = start.parent().expect("a folder");
    let files = Imports::of(start).by_file();
    let folders = imports::by_entry(&files, source);
    let mut found = Vec::new();
    for uses in std::iter::once(&files).chain(folders.values()) {
        for cycle in imports::cycles(uses) {
            found.push(format!("{} of {}:", cycle.len(), source.display()));
            for (file, used) in uses.iter().filter(|(file, _)| cycle.contains(*file)) {
                for (other, names) in used.iter().filter(|(other, _)| cycle.contains(*other)) {
                    let short = |file: &Path| file.strip_prefix(source).unwrap_or(file).display().to_string();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    found.push(format!("  {} uses {} ({})", short(file), short(other), names.join(", ")));
                }
            }
        }
    }
    found
}

#[test]
fn files_and_folders_of_a_crate_do_not_import_each_other_in_a_circle() {
    let sources = crates().into_iter().map(|folder| folder.join("src"));
    let starts = sources.flat_map(|source| ["lib.rs", "main.rs"].map(|name| source.join(name)));
    let found: Vec<String> =
        starts.filter(|start| start.exists()).flat_map(|start| import_cycles(&start)).collect();
    let found = found.join("\n");
    assert!(found.is_empty(), "import cycles: move what both need into a file of its own\n{found}");
}

#[test]
fn a_circle_of_folders_is_found_where_no_files_are_in_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("its folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    let start = folder.path().join("lib.rs");
    write("lib.rs", "mod check; mod rules; mod snapshot;");
    write("check/mod.rs", "mod rule; mod view; pub use rule::Rule; use crate::rules::all;");
    write("check/rule.rs", "pub struct Rule;");
    write("check/view.rs", "use super::rule::Rule; use crate::snapshot::PID;");
    write("snapshot/mod.rs", "mod files; pub use files::PID;");
    write("snapshot/files.rs", "pub const PID: u32 = 1;");
    write("rules.rs", "pub fn all() {}");
    assert_eq!(import_cycles(&start), Vec::<String>::new());
    // Directly.
    write("snapshot/mod.rs", "mod files; pub use files::PID; use crate::check::Rule;");
    let found = import_cycles(&start);
    assert!(found.len() == 3 && found[0].starts_with("2 of "), "{found:?}");
    assert_eq!(
        found[1..],
        ["  check uses snapshot (crate::snapshot::PID)", "  snapshot uses check (crate::check::Rule)"]
    );
    // By way of a file beside them.
    write("snapshot/mod.rs", "mod files; pub use files::PID; use crate::rules::all;");
    write("rules.rs", "use crate::check::Rule; pub fn all() {}");
    let found = import_cycles(&start);
    assert!(found[0].starts_with("3 of "), "{found:?}");
}

/// A link to a folder of one machine was committed once: every fresh clone then ended at `mkdir .assay`.
#[test]
fn nothing_that_a_build_makes_is_tracked() {
    let listed = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root()).args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(ignored) = listed(&["ls-files", "--cached", "--ignored", "--exclude-standard"]) else {
        assay_testkit::skip!("not a git repository");
    };
    assert_eq!(ignored, "", "tracked although .gitignore names it");
    let links: Vec<String> = listed(&["ls-files", "--stage"])
        .expect("listed above")
        .lines()
        .filter(|line| line.starts_with("120000"))
        .map(str::to_owned)
        .collect();
    assert!(links.is_empty(), "symbolic links do not work on every file system: {links:?}");
}
