//! The commit that the program says it is of.

use std::path::Path;
use std::process::Command;

/// What the build script says in a copy of the crate's folders, in which git has done this.
fn said_below(root: &Path, git: &[&[&str]], commit: Option<&str>) -> String {
    let folder = root.join("crates/assay");
    std::fs::create_dir_all(&folder).expect("folders");
    for words in git {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).args(*words).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
        let status = git.status().expect("git");
        assert!(status.success(), "{words:?}");
    }
    let script = root.join("script");
    let compiled = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs"))
        .status();
    assert!(compiled.expect("a compiler").success());
    let mut script = Command::new(script);
    script.env("CARGO_MANIFEST_DIR", folder).env_remove("ASSAY_COMMIT").current_dir(root);
    script.envs(commit.map(|commit| ("ASSAY_COMMIT", commit)));
    String::from_utf8(script.output().expect("it runs").stdout).expect("text")
}

const ONE_COMMIT: &[&[&str]] = &[
    &["init", "--quiet"],
    &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=x"],
];

#[test]
fn a_checkout_has_its_commit_and_is_built_anew_after_the_next() {
    let root = tempfile::tempdir().expect("a folder");
    let said = said_below(root.path(), ONE_COMMIT, None);
    let commit = said.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=ASSAY_CHECKOUT_COMMIT="));
    assert!(commit.is_some_and(|c| c.len() == 12 && c.bytes().all(|b| b.is_ascii_hexdigit())), "{said}");
    assert!(said.contains("rerun-if-changed") && said.contains("logs/HEAD"), "{said}");
}

#[test]
fn files_without_git_and_files_in_another_repository_have_no_commit() {
    let root = tempfile::tempdir().expect("a folder");
    assert!(!said_below(root.path(), &[], None).contains("COMMIT="));
    let unpacked = root.path().join("unpacked");
    std::fs::create_dir(&unpacked).expect("a folder");
    said_below(root.path(), ONE_COMMIT, None);
    assert!(!said_below(&unpacked, &[], None).contains("COMMIT="));
}

#[test]
fn a_release_has_the_commit_that_it_is_told() {
    let root = tempfile::tempdir().expect("a folder");
    let said = said_below(root.path(), ONE_COMMIT, Some("0123456789ab+changes"));
    assert!(!said.contains("rustc-env"), "{said}");
}

#[test]
fn the_version_has_the_commit_where_there_is_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).arg("--version").output().expect("assay starts");
    let said = String::from_utf8(output.stdout).expect("text");
    let version = format!("assay {}", env!("CARGO_PKG_VERSION"));
    let rest = said.trim().strip_prefix(&version).expect("its version");
    let commit = rest.strip_prefix(" (checkout of ").and_then(|rest| rest.strip_suffix(')'));
    let git = Command::new("git").args(["-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "HEAD"]).output();
    let is_checkout = git.is_ok_and(|output| output.status.success());
    match option_env!("ASSAY_COMMIT").filter(|commit| !commit.is_empty()) {
        Some(commit) => assert_eq!(rest, format!(" ({commit})")),
        None if is_checkout => assert_eq!(commit.map(str::len), Some(12), "{said}"),
        None => assert_eq!(rest, "", "no git"),
    }
}
