//! Our texts are read once: README, documentation, help, messages, findings and pages keep to plain sentences. A pattern on which
//! readers stumbled is a [`patterns::Pattern`]; none of them may come back.
//!
//! Help, rules and metrics are checked by the pages that are generated from them, and once more where they are written.

mod literals;
mod markdown;
mod patterns;

use crate::tidy::rust_files;
use assay_testkit::checkout;
use patterns::faults;
use std::fs;
use std::path::{Path, PathBuf};

/// Texts of the past, and of others.
const NOT_OURS_OF_NOW: [&str; 3] = ["CHANGELOG.md", "CODE_OF_CONDUCT.md", "supported-jvms.md"];

/// Crates whose texts only developers read.
const FOR_DEVELOPERS: [&str; 3] = ["check", "features", "testkit"];

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_left_out = ["target", "node_modules", "runs", "golden"].contains(&name.as_str());
        if path.is_dir() && !is_left_out && !name.starts_with('.') {
            markdown_files(&path, found);
        } else if name.ends_with(".md") && !NOT_OURS_OF_NOW.contains(&name.as_str()) {
            found.push(path);
        }
    }
}

/// `file: fault` of each paragraph of these files.
fn faults_of(files: Vec<PathBuf>, paragraphs: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        let name = file.strip_prefix(checkout()).unwrap_or(&file).display().to_string();
        let faults = paragraphs(&text).into_iter().flat_map(|paragraph| faults(&paragraph));
        all.extend(faults.map(|fault| format!("{name}: {fault}")));
    }
    all
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} sentences to mend:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn documentation_reads_plainly() {
    let mut files = Vec::new();
    markdown_files(&checkout(), &mut files);
    assert!(files.len() > 60, "{} files", files.len());
    assert_none(&faults_of(files, markdown::paragraphs));
}

#[test]
fn messages_findings_and_pages_read_plainly() {
    let mut files = Vec::new();
    for folder in fs::read_dir(checkout().join("crates")).expect("crates").flatten() {
        if !FOR_DEVELOPERS.iter().any(|name| folder.file_name() == *name) {
            rust_files(&folder.path().join("src"), &mut files);
        }
    }
    let is_of_tests = |path: &Path| path.components().any(|part| part.as_os_str() == "tests");
    files.retain(|path| path.file_stem().is_some_and(|stem| !stem.to_string_lossy().ends_with("tests")));
    files.retain(|path| !is_of_tests(path.strip_prefix(checkout()).unwrap_or(path)));
    assert!(files.len() > 500, "{} files", files.len());
    assert_none(&faults_of(files, literals::paragraphs));
}
