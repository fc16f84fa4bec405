//! JVMs found by their files, in fake homes and on this machine.

use assay_jdk::jvm_at;
use assay_testkit::{FakeTree, each_java, skip};
use std::path::Path;

const ELF_32: &[u8] = b"\x7fELF\x01\x01";
const ELF_64: &[u8] = b"\x7fELF\x02\x01";
const RELEASE: &str =
    "IMPLEMENTOR=\"Debian\"\nJAVA_RUNTIME_VERSION=\"17.0.15+6-Debian-1deb12u1\"\nJAVA_VERSION=\"17.0.15\"\n";

fn home(release: &str, library: &[u8]) -> FakeTree {
    let tree = FakeTree::with(&[("release", release), ("bin/java", "#!/bin/sh\n")]);
    tree.write("lib/server/libjvm.so", library);
    tree
}

#[test]
fn a_home_gives_version_vendor_and_word_size() {
    let tree = home(RELEASE, ELF_32);
    let facts = jvm_at(tree.path()).unwrap();
    assert_eq!((facts.version.as_str(), facts.feature, facts.bits), ("17.0.15+6-Debian-1deb12u1", 17, 32));
    assert_eq!(facts.vendor.as_deref(), Some("Debian"));
    assert_eq!(facts.home, tree.path().canonicalize().unwrap().display().to_string());
}

#[test]
fn the_path_of_java_leads_to_its_home() {
    let tree = home(RELEASE, ELF_64);
    assert_eq!(jvm_at(&tree.path().join("bin/java")), jvm_at(tree.path()));
}

#[test]
fn jdk_8_and_early_access_builds_have_a_feature_release() {
    let old = FakeTree::with(&[("release", "JAVA_VERSION=\"1.8.0_412\"\n")]);
    old.write("jre/lib/amd64/server/libjvm.so", ELF_64);
    assert_eq!(jvm_at(old.path()).unwrap().feature, 8);
    // The JDK's `java` may be a link to that of its `jre`.
    assert_eq!(jvm_at(&old.path().join("jre")), jvm_at(old.path()));
    assert_eq!(jvm_at(home("JAVA_VERSION=\"27-ea\"\n", ELF_64).path()).unwrap().feature, 27);
}

#[test]
fn bad_homes_give_a_problem_that_names_the_file() {
    for (tree, file, what) in [
        (FakeTree::with(&[]), "release", "no such file"),
        (home("JAVA_VERSION=\n", ELF_64), "release", "no JAVA_VERSION"),
        (home("JAVA_VERSION=\"next\"\n", ELF_64), "release", "no feature release"),
        (home(RELEASE, b"\x7fEL"), "libjvm.so", "failed to fill"),
        (home(RELEASE, b"hello world"), "libjvm.so", "not an ELF library"),
        (FakeTree::with(&[("release", RELEASE)]), "", "no libjvm.so"),
    ] {
        let problem = jvm_at(tree.path()).unwrap_err();
        assert!(problem.about.ends_with(file) && problem.text.contains(what), "{problem:?}");
    }
}

#[test]
fn a_release_file_that_is_no_text_gives_a_problem() {
    let tree = FakeTree::with(&[]);
    tree.write("release", &[0xff, 0xfe, 0x00]);
    assert!(jvm_at(tree.path()).unwrap_err().text.contains("UTF-8"));
}

#[test]
fn what_a_real_java_says_of_itself_is_what_its_files_say() {
    if each_java(64).is_empty() {
        skip!("no JDK");
    }
    each_java(64).into_values().for_each(|java| is_what_it_says(&java));
}

fn is_what_it_says(java: &Path) {
    let facts = jvm_at(java).expect("a JVM");
    let output = std::process::Command::new(java)
        .args(["-XshowSettings:properties", "-version"])
        .output()
        .expect("java starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&format!("java.runtime.version = {}\n", facts.version)), "{facts:?} {said}");
    assert!(said.contains(&format!("sun.arch.data.model = {}\n", facts.bits)), "{facts:?} {said}");
    assert!(said.contains(&format!("java.specification.version = {}\n", facts.feature)), "{facts:?} {said}");
}
