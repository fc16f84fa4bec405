//! Options that ask for a reference mode, on real JVMs: their logs show the mode.

use assay_jdk::modes::{check, mode_options};
use assay_model::{ModeRead, ReferenceMode};
use assay_testkit::{find_java, skip};

const MIB: u64 = 1 << 20;

/// The mode that a JVM's log shows with these options.
fn read_mode(java: &std::path::Path, options: &[String], heap_mib: u64) -> Option<ModeRead> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("gc.log");
    let mut command = std::process::Command::new(java);
    command.args(["-XX:+UseParallelGC", "-Xms8m", &format!("-Xmx{heap_mib}m")]).args(options);
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

#[test]
fn every_mode_is_the_one_that_the_jvm_s_log_shows() {
    let mut tried = 0;
    for feature in [17, 25] {
        let Some(java) = find_java(feature, 64) else { continue };
        for mode in ReferenceMode::ALL.into_iter().filter(|m| *m != ReferenceMode::Bits32) {
            let full = matches!(mode, ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers);
            // Where references are full, the size changes nothing.
            let sizes: &[u64] = if full { &[1024] } else { &[96, 1024, 2048, 3072, 3500] };
            for mib in sizes {
                let wanted = mode_options(mode, Some(mib * MIB), feature);
                let read = read_mode(&java, &wanted, *mib).unwrap();
                assert_eq!(check(mode, false, &read), Ok(()), "{mode:?} {mib}m on JDK {feature}");
                tried += 1;
            }
        }
    }
    if tried == 0 {
        skip!("no 64-bit JDK 17 or 25");
    }
}

#[test]
fn compact_headers_are_read_from_the_log_of_a_jvm_that_has_them() {
    let Some(java) = find_java(25, 64) else { skip!("no JDK 25") };
    let mode = ReferenceMode::CompressedUnscaled;
    let mut wanted = mode_options(mode, Some(1024 * MIB), 25);
    wanted.push("-XX:+UseCompactObjectHeaders".to_owned());
    let read = read_mode(&java, &wanted, 1024).unwrap();
    assert_eq!(check(mode, true, &read), Ok(()));
    assert!(read.compact_headers != Some(true) || check(mode, false, &read).is_err());
}
