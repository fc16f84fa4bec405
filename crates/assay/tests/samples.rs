//! Samples of output in README and book are excerpts of what the program prints of stored results: above such a block stands, as a comment
//! that no page shows, `<!-- assay report testdata/gallery/... --format table -->`.

use assay_testkit::checkout;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Columns of samples: what a page shows without scrolling.
const COLUMNS: &str = "104";
/// The same of the README, as repositories show it.
const COLUMNS_OF_README: &str = "88";
/// Stands for lines that a sample leaves out.
const LEFT_OUT: &str = "...";

/// A command and the block below it.
#[derive(Debug, PartialEq)]
struct Sample<'a> {
    command: &'a str,
    lines: Vec<&'a str>,
}

/// The samples of a text.
fn samples(text: &str) -> Vec<Sample<'_>> {
    let parts = text.split("<!-- assay ").skip(1);
    parts
        .map(|part| {
            let (command, rest) = part.split_once(" -->").expect("a comment that ends");
            let block =
                rest.trim_start_matches('\n').strip_prefix("```\n").expect("a block below the comment");
            let (block, _) = block.split_once("\n```").expect("a block that ends");
            Sample { command, lines: block.lines().collect() }
        })
        .collect()
}

/// The first line of a sample that is not where it should be: behind those before it, and next to them unless `...` stands between.
fn first_foreign<'a>(sample: &[&'a str], printed: &str) -> Option<&'a str> {
    let mut rest = printed.lines().map(str::trim_end);
    let mut may_skip = true;
    for &line in sample {
        if line.trim() == LEFT_OUT {
            may_skip = true;
            continue;
        }
        let found = if may_skip { rest.any(|printed| printed == line) } else { rest.next() == Some(line) };
        if !found {
            return Some(line);
        }
        may_skip = false;
    }
    None
}

fn texts(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    files.chain(folders.iter().flat_map(|folder| texts(folder))).collect()
}

#[test]
fn samples_are_what_the_program_prints_of_stored_results() {
    let root = checkout();
    let mut count = 0;
    for path in texts(&root.join("docs")).into_iter().chain([root.join("README.md")]) {
        let text = fs::read_to_string(&path).expect("a text");
        let columns = if path.ends_with("README.md") && path.parent() == Some(&*root) {
            COLUMNS_OF_README
        } else {
            COLUMNS
        };
        for sample in samples(&text) {
            let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"));
            assay
                .args(sample.command.split(' '))
                .current_dir(&root)
                .env("COLUMNS", columns)
                .env("NO_COLOR", "1");
            let output = assay.output().expect("assay starts");
            let printed = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {}: {said}", path.display(), sample.command);
            let foreign = first_foreign(&sample.lines, &printed);
            assert_eq!(foreign, None, "{}: {}\n{printed}", path.display(), sample.command);
            count += 1;
        }
    }
    assert!(count >= SAMPLES_MIN, "{count} samples were found");
}

/// Those of the README at least: a marker that is not found any more would pass otherwise.
const SAMPLES_MIN: usize = 8;

#[test]
fn a_sample_that_was_changed_by_hand_is_found() {
    let printed = "a\nb  \nc\nd\n";
    assert_eq!(first_foreign(&["b", "c"], printed), None);
    assert_eq!(first_foreign(&["a", "...", "d"], printed), None);
    assert_eq!(first_foreign(&["a", "c"], printed), Some("c"), "left out without a sign");
    assert_eq!(first_foreign(&["b", "a"], printed), Some("a"), "the order is another");
    assert_eq!(first_foreign(&["x"], printed), Some("x"));
    let text = "x\n<!-- assay report a.json --format table -->\n```\na\n...\n```\n";
    assert_eq!(samples(text), [Sample { command: "report a.json --format table", lines: vec!["a", "..."] }]);
}
