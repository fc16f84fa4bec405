//! Layouts held against JVMs that run: each field's offset, each class's size, each mirror, of all classes of the JDK, in
//! each mode that the JVM can run in; and the sum of all mirrors in a heap.

use super::truth::{Mode, check, in_every_mode, in_turn, javac, modes};
use assay_heap::layout::Layouts;
use assay_jdk::Release;
use assay_model::{HeapModel, ModelName};
use assay_testkit::{each_java, each_release, find_java, skip, start_java};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// In one mode: all modules take ten times as long as the first, and what they have is more of the same.
fn all_modules_of(jdk: u32, java: &Path) {
    // JDK 8 has all in one file, which stands for any module.
    let all = if jdk == 8 { "java.base".to_owned() } else { modules(java) };
    let all: Vec<&str> = all.split_whitespace().collect();
    every_class_of(jdk, java, &modes(jdk)[0], &all);
}

fn every_class_of(jdk: u32, java: &Path, mode: &Mode, modules: &[&str]) {
    let truth = check(java, jdk, mode, &[], modules);
    assert!(6_000 < truth.classes.len(), "{} classes", truth.classes.len());
    assert_eq!(truth.not_loaded, 0);
}

/// JDKs whose tables are said to be right, if there is a compiler for what asks them.
fn verified(mut javas: BTreeMap<u32, PathBuf>) -> BTreeMap<u32, PathBuf> {
    javas.retain(|jdk, _| Release::of(*jdk).verified.object_tables.is_some() && javac().is_some());
    javas
}

/// Names of all modules that the JDK has.
fn modules(java: &Path) -> String {
    let home = java.parent().and_then(Path::parent).expect("a home");
    let release = fs::read_to_string(home.join("release")).expect("a release file");
    let modules = release.lines().find_map(|line| line.strip_prefix("MODULES="));
    modules.expect("modules").trim_matches('"').to_owned()
}

#[test]
fn every_class_of_each_jdk_in_modes_that_take_turns() {
    let javas = verified(each_release(64));
    if javas.is_empty() {
        skip!("no JDK with a compiler");
    }
    in_turn(&javas).for_each(|(jdk, java, mode)| every_class_of(jdk, java, &mode, &["java.base"]));
}

#[test]
#[ignore = "long: the whole matrix, of which the plain check has every other cell"]
fn every_class_of_each_jdk_in_every_mode() {
    let javas = verified(each_release(64));
    if javas.is_empty() {
        skip!("no JDK with a compiler");
    }
    in_every_mode(&javas).for_each(|(jdk, java, mode)| every_class_of(jdk, java, &mode, &["java.base"]));
}

#[test]
#[ignore = "long: minutes"]
fn every_class_of_all_modules_of_each_jdk() {
    let javas = verified(each_release(64));
    if javas.is_empty() {
        skip!("no JDK with a compiler");
    }
    javas.iter().for_each(|(jdk, java)| all_modules_of(*jdk, java));
}

#[test]
fn every_class_of_a_32_bit_jdk_17() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JDK 17") };
    if javac().is_none() {
        skip!("no compiler");
    }
    check(&java, 17, &Mode { name: ModelName::Bits32, options: Vec::new() }, &[], &["java.base"]);
}

/// Σ of all mirrors in a dump against what the JVM says its mirrors take.
fn mirrors_of(jdk: u32, java: &Path) {
    for mode in modes(jdk) {
        // The archive of JDK 25 brings mirrors of classes that are never loaded: its histogram counts them, a dump has none
        // of them.
        let others = ["-XX:+UseSerialGC", "-Xmx64m", "-Xshare:off"];
        let options: Vec<&str> = mode.options.iter().copied().chain(others).collect();
        let jvm = start_java(java, &options, &[], "Waiting");
        let folder = tempfile::tempdir().expect("a folder");
        let dump = folder.path().join("heap.hprof");
        // The first look loads classes that looking needs.
        jvm.jcmd(&["GC.class_histogram"]);
        jvm.jcmd(&["GC.heap_dump", &dump.display().to_string()]);
        let (count, bytes) = mirrors_in_histogram(&jvm.jcmd(&["GC.class_histogram"]));
        let class_histogram = assay_heap::hprof::read_file(&dump, &|_| {}).expect("a dump");
        let layouts = Layouts::of(&class_histogram, HeapModel { name: mode.name, jdk });
        let class =
            class_histogram.classes.iter().position(|shape| &*shape.name == "java.lang.Class").expect("it");
        let mirrors = (0..class_histogram.classes.len() as u32)
            .filter(|at| class_histogram.classes[*at as usize].has_mirror);
        let sizes: Vec<u64> =
            mirrors.map(|at| layouts.mirror_bytes(&class_histogram, at).expect("a mirror")).collect();
        // Those of `int` and the other types that are no classes.
        let others = class_histogram.classes[class].instances;
        let own = layouts.instance_bytes(class as u32).expect("a class");
        let ours = (sizes.len() as u64 + others, sizes.iter().sum::<u64>() + others * own);
        println!("JDK {jdk} {}: {count} mirrors of {bytes} B", mode.name.name());
        assert_eq!(ours, (count, bytes), "JDK {jdk} {}", mode.name.name());
    }
}

/// Mirrors and their bytes.
fn mirrors_in_histogram(text: &str) -> (u64, u64) {
    let line = text.lines().find(|line| line.split_whitespace().nth(3) == Some("java.lang.Class"));
    let mut cells =
        line.expect("mirrors").split_whitespace().skip(1).map(|cell| cell.parse().expect("a number"));
    (cells.next().expect("a count"), cells.next().expect("bytes"))
}

#[test]
fn mirrors_in_a_heap_of_each_jdk_add_up() {
    if javac().is_none() {
        skip!("no javac");
    }
    for (jdk, java) in each_java(64) {
        mirrors_of(jdk, &java);
    }
}
