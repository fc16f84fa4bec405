//! Comments that name the test that holds what they say: the test is there.

use crate::tidy::rust_files;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The comments of a file as one text, without marks and line ends.
fn comments(text: &str) -> String {
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim().to_owned())
    };
    // What is no comment ends a sentence.
    text.lines().map(|line| comment(line).unwrap_or_else(|| ". ".to_owned())).collect::<Vec<_>>().join(" ")
}

/// For each "held by" or "(test" what its sentence has between backticks; none where nothing is named in either way.
fn named(comments: &str) -> Vec<Vec<&str>> {
    let mut named = Vec::new();
    for mark in ["Held by", "held by", "(test `"] {
        for (at, _) in comments.match_indices(mark) {
            let rest = &comments[at..];
            let end = rest.find(". ").unwrap_or(rest.len());
            let names: Vec<&str> = rest[..end].split('`').skip(1).step_by(2).collect();
            // In the middle of a sentence it may be anything that holds something.
            if mark == "Held by" || !names.is_empty() {
                named.push(names);
            }
        }
    }
    named
}

/// Names of functions, and the ends of paths of files.
struct Known {
    functions: BTreeSet<String>,
    files: Vec<PathBuf>,
}

impl Known {
    fn has(&self, name: &str) -> bool {
        match name.split("::").last() {
            _ if name.ends_with(".rs") => {
                self.files.iter().any(|file| file.ends_with(name.trim_start_matches("crates/")))
            }
            Some(function) => self.functions.contains(function),
            None => false,
        }
    }
}

#[test]
fn every_test_that_a_comment_names_is_there() {
    let mut files = Vec::new();
    rust_files(&crates(), &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| (file.clone(), fs::read_to_string(file).expect("a Rust file")))
        .collect();
    let functions = texts.iter().flat_map(|(_, text)| text.split("fn ").skip(1));
    let functions = functions.filter_map(|rest| rest.split(['(', '<']).next()).map(str::to_owned).collect();
    let known = Known { functions, files: texts.iter().map(|(file, _)| file.clone()).collect() };
    let (mut count, mut wrong) = (0, Vec::new());
    for (file, text) in &texts {
        for names in named(&comments(text)) {
            count += 1;
            let is_test = |name: &&&str| name.contains('_') || name.ends_with(".rs");
            let gone: Vec<_> = names.iter().filter(is_test).filter(|name| !known.has(name)).collect();
            if names.is_empty() || !gone.is_empty() {
                wrong.push(format!("{}: {names:?}, of which {gone:?} are not there", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count > 30, "{count}: the comments are still read");
}

#[test]
fn a_comment_that_names_no_test_or_one_that_is_gone_is_found() {
    let text = "/// It is so. Held by: `a_test` and\n/// `tests/x.rs`. Another `matter`.\nfn f() {}\n// Held by nothing.\n";
    let all = comments(text);
    assert_eq!(named(&all), [vec!["a_test", "tests/x.rs"], vec![]]);
    let known = Known {
        functions: BTreeSet::from(["a_test".to_owned()]),
        files: vec![PathBuf::from("/w/crates/y/tests/x.rs")],
    };
    assert!(known.has("a_test") && known.has("tests/x.rs") && known.has("tests::a_test"));
    assert!(!known.has("b_test") && !known.has("tests/z.rs"));
}
