//! `.config/nextest.toml` names tests that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn config() -> toml::Table {
    let text = fs::read_to_string(crates().join("../.config/nextest.toml")).expect("a configuration");
    text.parse().expect("TOML")
}

#[test]
fn files_of_tests_that_are_named_are_there() {
    let config = config();
    let overrides = config["profile"]["default"]["overrides"].as_array().expect("overrides");
    assert!(overrides.len() > 5);
    for filter in overrides.iter().filter_map(|one| one["filter"].as_str()) {
        for part in filter.split("package(").skip(1) {
            let (package, rest) = part.split_once(')').expect("package(NAME)");
            let folder = crates().join(package.trim_start_matches("assay-"));
            assert!(folder.is_dir(), "{package} is not there");
            let files = rest.split_once("test(/^").map_or("", |(_, files)| files);
            let files = files.split("::/").next().unwrap_or_default().trim_matches(['(', ')']);
            for file in files.split('|').filter(|file| !file.is_empty()) {
                let paths = ["tests/{}.rs", "tests/{}/mod.rs"].map(|path| path.replace("{}", file));
                assert!(
                    paths.iter().any(|path| folder.join(path).is_file()),
                    "{package}: {file} is not there"
                );
            }
        }
    }
}

/// Adds the tests of a folder that are marked as not to be run, for another reason than that they are long.
fn by_hand(folder: &Path, found: &mut BTreeSet<String>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            by_hand(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            let marked = text.split("\n#[ignore = \"").skip(1).filter(|rest| !rest.starts_with("long: "));
            let name = |rest: &str| Some(rest.split_once("\nfn ")?.1.split_once('(')?.0.to_owned());
            found.extend(marked.filter_map(name));
        }
    }
}

#[test]
fn a_test_that_is_not_run_is_long_or_named() {
    let mut found = BTreeSet::new();
    by_hand(&crates(), &mut found);
    let config = config();
    let filter = config["profile"]["long"]["default-filter"].as_str().expect("a filter");
    let names = filter.split_once("/::(").and_then(|(_, rest)| rest.split_once(")$/")).expect("names").0;
    assert_eq!(found, names.split('|').map(str::to_owned).collect());
}
