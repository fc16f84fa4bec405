//! Passes the commit of a checkout to the compiler, for `assay --version`. A release gets its commit from `ASSAY_COMMIT`; a build without
//! git, or of files unpacked into another repository, has none.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    if std::env::var("ASSAY_COMMIT").is_ok_and(|commit| !commit.is_empty()) {
        return;
    }
    let manifest = std::env::var("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let root = manifest.join("../..");
    let is_ours = git(&root, &["rev-parse", "--show-toplevel"])
        .is_some_and(|top| Path::new(&top).canonicalize().ok() == root.canonicalize().ok());
    let Some(commit) = git(&root, &["rev-parse", "--short=12", "HEAD"]).filter(|_| is_ours) else { return };
    println!("cargo::rustc-env=ASSAY_CHECKOUT_COMMIT={commit}");
    // Each commit, and each change to another one, writes one of these; only this crate is built anew.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&root, &["rev-parse", "--git-path", file]).map(|path| root.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// What git answers, on its first line; none without git or where it refuses.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // Git sets these for a hook; a build that a hook starts must still look at this folder's repository.
    git.arg("-C").arg(folder).args(words).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let output = git.output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned).filter(|line| !line.is_empty())
}
