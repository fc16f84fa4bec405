//! `assay setup` of a program without a checkout: in a made-up repository, since the real one takes minutes to build.

use assay_testkit::{output_of_copy, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program in an empty folder, a home, and a repository to fetch from.
struct Alone {
    folder: tempfile::TempDir,
}

impl Alone {
    fn new() -> Alone {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["work", "home", "sources"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        fs::copy(env!("CARGO_BIN_EXE_assay"), folder.path().join("work/assay")).expect("copied");
        Alone { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exit code and what was said.
    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        self.run_in("work", words)
    }

    /// The same in another folder.
    fn run_in(&self, folder: &str, words: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(self.path("work/assay"));
        command.args(words).current_dir(self.path(folder)).env("XDG_DATA_HOME", self.path("home"));
        said(&output_of_copy(&mut command))
    }

    /// Makes a git repository in `sources` that has one server of a study. Returns false if git is not installed.
    fn has_repository(&self) -> bool {
        let sources = self.path("sources");
        put(&sources.join("scripts/prepare-studies"), "#!/bin/sh\necho prepared >\"${0%/*}/../prepared\"\n");
        for file in ["workloads/brokerage/workload.toml", "workloads/brokerage/scenario-standard.toml"] {
            put(
                &sources.join(file),
                &fs::read_to_string(assay_testkit::checkout().join(file)).expect("a text"),
            );
        }
        let git = |words: &[&str]| {
            let name = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
            let mut command = Command::new("git");
            command
                .arg("-C")
                .arg(&sources)
                .args(name)
                .args(words)
                .output()
                .is_ok_and(|it| it.status.success())
        };
        git(&["init", "--quiet"]) && git(&["add", "."]) && git(&["commit", "--quiet", "-m", "one"])
    }
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

fn put(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("its owner's");
}

#[test]
fn the_sources_are_fetched_once_and_then_found_by_every_study() {
    let alone = Alone::new();
    let (code, said) = alone.run(&["run", "compressed-references", "--plan"]);
    assert!(code == Some(3) && said.contains("`assay setup` fetches and builds it"), "{said}");
    if !alone.has_repository() {
        skip!("no git");
    }
    let from = alone.path("sources").display().to_string();
    let (code, said) = alone.run(&["setup", "--from", &from]);
    let fetched = alone.path("home/assay").join(env!("CARGO_PKG_VERSION"));
    assert!(code == Some(0) && fetched.join("prepared").is_file(), "{said}");
    // No half of a clone is left beside it.
    assert_eq!(fs::read_dir(alone.path("home/assay")).expect("a folder").count(), 1);
    fs::remove_file(fetched.join("prepared")).expect("it was there");
    let (code, said) = alone.run(&["setup"]);
    assert!(code == Some(0) && !said.contains("cloning") && fetched.join("prepared").is_file(), "{said}");
    // The server that the made-up script did not build is looked for there.
    let (code, said) = alone.run(&["run", "compressed-references", "--plan"]);
    let wanted = fetched.canonicalize().expect("a folder").join(".assay");
    assert!(code == Some(3) && said.contains(&wanted.display().to_string()), "{said}");
    assert!(said.contains(": `assay setup` makes it"), "{said}");
}

#[test]
fn what_a_clone_lacks_is_made_by_the_clone_s_own_set_up_wherever_the_program_lies() {
    let alone = Alone::new();
    if !alone.has_repository() {
        skip!("no git");
    }
    let study = ["run", "compressed-references", "--plan"];
    let (code, said) = alone.run_in("sources", &study);
    assert!(
        code == Some(3) && said.contains("is missing") && !said.contains("makes it"),
        "no launcher: {said}"
    );
    put(&alone.path("sources/assay"), "#!/bin/sh\n");
    let (code, said) = alone.run_in("sources", &study);
    assert!(code == Some(3) && said.contains(": `./assay setup` makes it"), "{said}");
    let (code, said) = alone.run_in("sources/workloads", &study);
    let launcher = alone.path("sources").canonicalize().expect("a folder").join("assay");
    let wanted = format!(": `{} setup` makes it", launcher.display());
    assert!(code == Some(3) && said.contains(&wanted), "{said}");
}

#[test]
fn what_cannot_be_fetched_leaves_nothing_behind_and_says_what_to_do() {
    let alone = Alone::new();
    let (code, said) = alone.run(&["setup"]);
    assert!(code == Some(3) && said.contains("--from URL") && said.contains("./assay setup"), "{said}");
    let missing = alone.path("none-such").display().to_string();
    let (code, said) = alone.run(&["setup", "--from", &missing]);
    assert!(code == Some(3) && said.contains("none-such") && said.contains("cannot be cloned"), "{said}");
    if !alone.has_repository() {
        skip!("no git");
    }
    fs::remove_dir_all(alone.path("sources/scripts")).expect("it was there");
    let removed =
        Command::new("git").arg("-C").arg(alone.path("sources")).args(["rm", "-rq", "scripts"]).status();
    assert!(removed.expect("git").success());
    let commit = ["-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "two"];
    let committed = Command::new("git").arg("-C").arg(alone.path("sources")).args(commit).status();
    assert!(committed.expect("git").success());
    let (code, said) = alone.run(&["setup", "--from", &alone.path("sources").display().to_string()]);
    assert!(code == Some(2) && said.contains("does not hold the sources of Assay"), "{said}");
    assert_eq!(fs::read_dir(alone.path("home/assay")).expect("a folder").count(), 0);
}
