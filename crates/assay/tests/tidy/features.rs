//! Libraries are compiled with the same features whatever crates are selected: what was compiled for the tests of all crates serves those
//! of one.

use super::{metadata, root};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const FEATURES: &str = "assay-features";

/// Libraries that the tests of these crates are built of, with the sets of features of each; macros are built with their own.
fn libraries(selected: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal,build,dev"])
        .args(["--prefix", "none", "--format", "{p}|{f}"])
        .args(selected)
        .current_dir(root())
        .output()
        .expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo tree's text");
    let mut libraries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Behind our own crates stands their folder, and behind those that stand above with all below them `(*)`.
    for line in text.lines().filter(|line| !line.contains("(/")) {
        if let Some((library, features)) = line.trim_end_matches(" (*)").split_once('|') {
            libraries.entry(library.to_owned()).or_default().insert(features.to_owned());
        }
    }
    libraries
}

#[test]
fn each_crate_has_its_libraries_with_the_features_of_all_crates_together() {
    let all = libraries(&["--workspace"]);
    assert!(all.len() > 100, "{} libraries", all.len());
    let mut lacking: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let metadata = metadata();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        for (library, sets) in libraries(&["--package", name]) {
            if !sets.is_subset(&all[&library]) {
                lacking.entry(format!("{library}: {:?}", all[&library])).or_default().insert(name);
            }
        }
    }
    assert!(
        lacking.is_empty(),
        "the tests of one crate would compile these libraries anew, with other features than those of all crates, which are named here. \
         Name the library with these features in crates/features/Cargo.toml.\n{lacking:#?}"
    );
}

#[test]
fn every_crate_asks_for_these_features_in_its_tests_and_the_program_does_not() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().expect("packages") {
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        let kinds: Vec<_> = dependencies
            .filter(|dependency| dependency["name"] == FEATURES)
            .map(|dependency| dependency["kind"].as_str().unwrap_or("normal"))
            .collect();
        let expected: &[&str] = if package["name"] == FEATURES { &[] } else { &["dev"] };
        assert_eq!(kinds, expected, "{}: `{FEATURES}` belongs below [dev-dependencies]", package["name"]);
    }
}

#[test]
fn the_features_name_no_library_that_nobody_else_uses() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata's JSON");
    let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
    let is_ours =
        |node: &&serde_json::Value| node["id"].as_str().expect("an id").contains("/crates/features#");
    let used = |node: &serde_json::Value| -> BTreeSet<String> {
        let used = node["dependencies"].as_array().expect("dependencies").iter();
        used.map(|id| id.as_str().expect("an id").to_owned()).collect()
    };
    let named = used(nodes.iter().find(is_ours).expect("crates/features"));
    let by_others: BTreeSet<String> = nodes.iter().filter(|node| !is_ours(node)).flat_map(used).collect();
    let alone: Vec<_> = named.difference(&by_others).collect();
    assert!(!named.is_empty() && alone.is_empty(), "crates/features/Cargo.toml names {alone:?}");
}
