//! Options that ask for a reference mode, on real JVMs: their logs show the mode.

use assay_jdk::Release;
use assay_jdk::modes::{WantedMode, check};
use assay_jdk::release::OptionState;
use assay_model::{ModeRead, ReferenceMode, RequestedMode};
use assay_testkit::{each_release, skip};
use std::path::PathBuf;

const MIB: u64 = 1 << 20;

/// The mode that a JVM's log shows with these options.
fn read_mode(java: &std::path::Path, options: &[String], heap_mib: u64) -> Option<ModeRead> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("gc.log");
    let mut command = std::process::Command::new(java);
    command.args(["-Xms8m", &format!("-Xmx{heap_mib}m")]).args(options);
    command.arg(assay_gclog::xlog_option(log.to_str().expect("UTF-8")));
    // Whether class pointers are compressed is told by the log's first collection.
    let program = folder.path().join("Collect.java");
    let text = "class Collect { public static void main(String[] words) { System.gc(); } }";
    std::fs::write(&program, text).expect("a program");
    if options.iter().any(|o| o == "-XX:-UseCompressedOops") {
        command.arg(&program);
    } else {
        command.arg("-version");
    }
    let output = command.output().expect("a JVM");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let file = std::fs::File::open(log).expect("a log");
    assay_gclog::read_jvm(file).mode
}

/// JVMs that are here, whose modes are computed, and which say theirs in a log of this kind.
fn javas() -> impl Iterator<Item = (u32, PathBuf)> {
    let says = |release: &Release| release.modes.are_rules_known && release.jvm.has_unified_logging;
    each_release(64).into_iter().filter(move |(feature, _)| says(Release::of(*feature)))
}

fn options(feature: u32, mode: ReferenceMode, mib: u64, own: &[String]) -> Option<Vec<String>> {
    let wanted = WantedMode {
        mode: Some(RequestedMode::Exactly(mode)),
        max_heap_bytes: Some(mib * MIB),
        has_compact_headers: own.iter().any(|option| option.contains("Compact")),
        options: own,
    };
    Some([own, &wanted.jvm_options(feature).ok()?].concat())
}

/// Collectors whose logs show the mode.
const COLLECTORS: [&str; 2] = ["G1", "Serial"];

/// Starts JVMs in every mode, with the heaps at which it must change its base; says how many.
fn every_mode_of(javas: impl Iterator<Item = ((u32, PathBuf), &'static str)>) -> u32 {
    let mut tried = 0;
    for ((feature, java), collector) in javas {
        for mode in ReferenceMode::ALL.into_iter().filter(|m| *m != ReferenceMode::Bits32) {
            let full = matches!(mode, ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers);
            if full && !Release::of(feature).modes.class_pointers_stay_compressed {
                // Its log does not tell; `computed_is_what_the_jvms_say_at_every_threshold` asks the flags.
                continue;
            }
            // Where references are full, the size changes nothing. Otherwise it is on both sides of where the base must change.
            let sizes: &[u64] = if full {
                &[1024]
            } else {
                &[96, 2048, 2049, 4032, 24576, 24577, 30721, 31745, 32600, 32736]
            };
            for mib in sizes {
                let own = [format!("-XX:+Use{collector}GC")];
                let Some(wanted) = options(feature, mode, *mib, &own) else { continue };
                let read = read_mode(&java, &wanted, *mib).expect("a mode in the log");
                assert_eq!(
                    check(RequestedMode::Exactly(mode), false, &read),
                    Ok(()),
                    "{mode:?} {mib}m on JDK {feature}: {wanted:?}"
                );
                tried += 1;
            }
        }
    }
    println!("{tried} starts");
    tried
}

/// The collectors take turns from release to release; each release has each mode, with each heap.
#[test]
fn every_mode_is_the_one_that_the_jvm_s_log_shows() {
    if every_mode_of(javas().zip(COLLECTORS.into_iter().cycle())) == 0 {
        skip!("no 64-bit JDK whose modes are computed");
    }
}

#[test]
#[ignore = "long: the other collector of each release"]
fn every_mode_is_the_one_that_the_jvm_s_log_shows_with_each_collector() {
    if every_mode_of(javas().flat_map(|java| COLLECTORS.map(|collector| (java.clone(), collector)))) == 0 {
        skip!("no 64-bit JDK whose modes are computed");
    }
}

#[test]
fn compact_headers_are_read_from_the_log_of_a_jvm_that_has_them() {
    let since = Release::product_since("UseCompactObjectHeaders");
    let Some((feature, java)) = javas().find(|(feature, _)| since <= *feature) else {
        skip!("no JDK {since} or later");
    };
    let mode = ReferenceMode::CompressedUnscaled;
    let wanted = options(feature, mode, 1024, &["-XX:+UseCompactObjectHeaders".to_owned()]);
    let read = read_mode(&java, &wanted.expect("possible"), 1024).unwrap();
    assert_eq!(check(RequestedMode::Exactly(mode), true, &read), Ok(()));
    assert!(read.compact_headers != Some(true) || check(RequestedMode::Exactly(mode), false, &read).is_err());
}

/// The reader of logs knows by itself which releases have no compact headers; it must know it as the releases' data do.
#[test]
fn a_log_without_a_word_of_compact_headers_has_none_where_the_release_has_no_such_option() {
    for release in Release::all().iter().filter(|release| release.jvm.has_unified_logging) {
        let log = format!(
            "[0.004s][info][gc,init] Version: {}.0.1+2 (release)\n\
             [0.004s][info][gc,heap,coops] Heap address: 0x0000000709000000, size: 3952 MB, \
             Compressed Oops mode: Zero based, Oop shift amount: 3\n",
            release.feature
        );
        let read = assay_gclog::read_jvm(log.as_bytes()).mode.expect("a mode");
        let is_absent = release.option("UseCompactObjectHeaders") == OptionState::Absent;
        assert_eq!(read.compact_headers, is_absent.then_some(false), "JDK {}", release.feature);
    }
}
