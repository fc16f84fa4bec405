//! A JVM without symbols.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A JVM of links to the files of another, but with a libjvm of its own. `None` without binutils.
pub fn stripped_java(java: &Path, folder: &Path, with_debug_file: bool) -> Option<PathBuf> {
    let home = java.parent()?.parent()?;
    let copy = Command::new("cp")
        .arg("-rs")
        .arg(std::fs::canonicalize(home).ok()?)
        .arg(folder.join("home"))
        .status();
    assert!(copy.expect("cp runs").success());
    let copy = folder.join("home");
    // The launcher finds its home by its own place, behind links; its library is in a folder of its own in JDK 11.
    let of_launcher =
        ["lib/libjli.so", "lib/jli/libjli.so"].into_iter().find(|file| copy.join(file).exists())?;
    for file in ["bin/java", of_launcher, "lib/server/libjvm.so"] {
        let original = std::fs::canonicalize(copy.join(file)).expect("a link");
        std::fs::remove_file(copy.join(file)).expect("a link");
        std::fs::copy(original, copy.join(file)).expect("a copy");
    }
    let libjvm = copy.join("lib/server/libjvm.so");
    let debug = copy.join("lib/server/libjvm.so.debug");
    let run = |program: &str, arguments: &[&Path]| {
        Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
    };
    if with_debug_file {
        let kept = run("objcopy", &[Path::new("--only-keep-debug"), &libjvm, &debug]);
        let unlinked = run("objcopy", &[Path::new("--remove-section=.gnu_debuglink"), &libjvm]);
        if !kept || !unlinked || !run("strip", &[Path::new("--strip-unneeded"), &libjvm]) {
            return None;
        }
        let link = PathBuf::from(format!("--add-gnu-debuglink={}", debug.display()));
        run("objcopy", &[&link, &libjvm]).then_some(copy.join("bin/java"))
    } else {
        run("strip", &[Path::new("--strip-unneeded"), &libjvm]).then_some(copy.join("bin/java"))
    }
}
