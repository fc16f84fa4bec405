//! Programs of `testdata/` that tests run: each is compiled once for all tests, and again where source or compiler has changed.

use crate::{beside_tests, find_tool, short_run, testdata, turn};
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that every release runs, for tests about `each_release`.
const OF_EVERY_RELEASE: [&str; 14] = [
    "java/Audited.java",
    "allocators/Buffers.java",
    "java/Allocates.java",
    "java/Allocating.java",
    "java/Buffering.java",
    "java/Collected.java",
    "java/Counted.java",
    "java/Growing.java",
    "java/Impostor.java",
    "java/Leaks.java",
    "java/Objects.java",
    "java/Recorded.java",
    "java/Waiting.java",
    "java/Working.java",
];

/// The folder with the compiled classes of a program in `testdata`: a JVM that compiles it itself starts ten times as slowly.
///
/// # Panics
/// When there is no `javac`, when it refuses the program, or when the folder cannot be written.
pub fn java_classes(source: &str) -> PathBuf {
    let release = if OF_EVERY_RELEASE.contains(&source) { "8" } else { "17" };
    java_classes_of(&testdata(source), &["-Xlint:-options", "--release", release])
}

/// The folder with the compiled classes of any program, made with these options of javac.
///
/// # Panics
/// As [`java_classes`].
pub fn java_classes_of(source: &Path, options: &[&str]) -> PathBuf {
    let javac = find_tool("javac").expect("a compiler");
    let key = (source, &javac, options, fs::read(source).expect("a source"));
    let made = made_once("java-classes", &key, |folder| {
        let mut compiler = short_run(&javac);
        compiler.args(options).arg("-d").arg(folder).arg(source).status().expect("javac runs").success()
    });
    made.unwrap_or_else(|| panic!("{} does not compile", source.display()))
}

/// A C program of `testdata`, compiled by `cc` with these arguments; `None` where there is no C compiler, or where it cannot.
///
/// # Panics
/// When the folder cannot be written.
pub fn c_program(source: &str, arguments: &[OsString]) -> Option<PathBuf> {
    let path = testdata(source);
    let name = path.file_stem().expect("a file");
    let key = (source, arguments, fs::read(&path).expect("a source"));
    let folder = made_once("c-programs", &key, |folder| {
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-pthread", "-o"]).arg(folder.join(name)).arg(&path).args(arguments);
        compiler.status().is_ok_and(|status| status.success())
    });
    Some(folder?.join(name))
}

/// A folder that `make` fills, unless another test has made it for the same key. It lies beside the test programs. `None`: it could not
/// be made.
fn made_once(kind: &str, key: &impl Hash, make: impl FnOnce(&Path) -> bool) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let folders = beside_tests(kind);
    let folder = folders.join(format!("{:016x}", hasher.finish()));
    if folder.is_dir() {
        return Some(folder);
    }
    // Tests that need the same, at the same time, wait for the first of them.
    let _turn = turn(kind);
    if folder.is_dir() {
        return Some(folder);
    }
    fs::create_dir_all(&folders).expect("a folder that can be written");
    let new = tempfile::tempdir_in(&folders).expect("a temporary folder");
    make(new.path()).then(|| fs::rename(new.path(), &folder).expect("a folder that can be written"))?;
    Some(folder)
}
