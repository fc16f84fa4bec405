//! The reference mode as the log shows it, for every mode that a JVM can have, and the clock of the log.

use assay_gclog::{Records, xlog_option};
use assay_model::ReferenceMode;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

fn read_log(path: &Path) -> Records {
    Records::read(path.display().to_string(), File::open(path).expect("the log is there"))
}

/// `mode`, `mode+compact`, or `unknown`; with `+?` where the log does not tell the headers.
fn name(log: &Records) -> String {
    let Some(mode) = &log.jvm.mode else { return "unknown".to_owned() };
    let headers = match mode.compact_headers {
        Some(true) => "+compact",
        Some(false) => "",
        None => "+?",
    };
    format!("{}{headers}", mode.mode.name())
}

/// Holds every log of a folder against its file name, `RELEASE-MODE.log`; returns how many there are.
fn check_folder(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder of logs");
    let check = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let file = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let (_release, mode) = file.split_once('-').expect("RELEASE-MODE");
        let log = read_log(&path);
        assert_eq!(name(&log), mode, "{file}: {:?}", log.jvm.mode);
        check_details(&log, &file);
    };
    entries.map(check).count()
}

#[test]
fn recorded_logs_show_the_mode_that_their_name_gives() {
    assert_eq!(check_folder(&assay_testkit::testdata("gclog/modes")), 15);
}

#[test]
fn logs_of_the_jvms_at_hand_show_the_mode_that_was_asked_for() {
    let Some(homes) = assay_testkit::homes_with_compiler_first() else {
        assay_testkit::skip!("no JDK with javac")
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = Command::new(assay_testkit::testdata("gclog/generate"))
        .arg(folder.path())
        .args(&homes)
        .output()
        .expect("the script starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let logs = check_folder(&folder.path().join("modes"));
    println!("{logs} modes of {} JVMs", homes.len());
    assert!(logs >= 6);
}

fn check_details(log: &Records, file: &str) {
    let mode = log.jvm.mode.as_ref().expect("a mode");
    let heap = log.jvm.heap.expect("a heap");
    let shift_bits = match mode.mode {
        ReferenceMode::Bits32 | ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers => None,
        ReferenceMode::CompressedUnscaled => Some(0),
        _ => Some(3),
    };
    assert_eq!(mode.shift_bits, shift_bits, "{file}");
    let reserved_mib = if mode.mode == ReferenceMode::CompressedDisjointBase { 31 << 10 } else { 64 };
    assert_eq!(heap.reserved_bytes >> 20, reserved_mib, "{file}");
    assert_eq!(mode.heap_base_address, Some(heap.start_address), "{file}");
    assert_eq!((log.problems.len(), log.lines_not_understood), (0, 0), "{file}: {:?}", log.problems);
    assert!(!mode.evidence.is_empty(), "{file}");
    assert_eq!(log.pauses().count(), 1, "{file}");
}

/// Without the page-size lines and the compressed-oops line, the drawing of the heap still tells where it is.
#[test]
fn the_heap_is_found_from_its_spaces_alone() {
    for file in ["17-64-bit.log", "25-compressed-zero-based.log", "17-32-bit.log"] {
        let text = fs::read_to_string(assay_testkit::testdata("gclog/modes").join(file)).expect("the log");
        let whole = Records::read(file, text.as_bytes());
        let drawing: String = text
            .lines()
            .filter(|line| !line.contains("pagesize") && !line.contains("coops"))
            .map(|line| format!("{line}\n"))
            .collect();
        let log = Records::read(file, drawing.as_bytes());
        assert_eq!(log.jvm.heap, whole.jvm.heap, "{file}");
        assert_eq!(name(&log), name(&whole), "{file}");
    }
}

/// Full references and full class pointers are claimed from evidence, never from lines that are not there.
#[test]
fn a_log_that_does_not_tell_the_mode_gives_none() {
    let init = "[0.007s][info][gc,init] Version: 17.0.15+6 (release)\n[0.007s][info][gc,init] Compressed Oops: Disabled\n";
    let heap =
        "[0.007s][info][pagesize] Heap:  min=8M max=64M base=0x00007f56f4200000 page_size=4K size=64M\n";
    assert_eq!(name(&Records::read("x", init.as_bytes())), "unknown");
    assert_eq!(name(&Records::read("x", format!("{init}{heap}").as_bytes())), "unknown");
    let old_metaspace = "[0.1s][info][gc,metaspace] GC(0) Metaspace: 5678K->5678K(1056768K)\n";
    assert_eq!(name(&Records::read("x", format!("{init}{heap}{old_metaspace}").as_bytes())), "unknown");
    assert_eq!(name(&Records::read("x", "[0.1s][info][gc] Using G1\n".as_bytes())), "unknown");
}

/// Whether references are compressed is known where the mode is not: a 32-bit JVM says the same as a 64-bit one without them.
#[test]
fn a_log_that_says_that_references_are_not_compressed_is_taken_at_its_word() {
    for (said, is_compressed) in [("Disabled", "false"), ("Enabled (Zero based)", "true")] {
        let text = format!("[0.007s][info][gc,init] Compressed Oops: {said}\n");
        let log = Records::read("x", text.as_bytes());
        assert_eq!(
            log.jvm.settings.get("compressed references").map(String::as_str),
            Some(is_compressed),
            "{said}"
        );
    }
    let log = Records::read("x", b"[0.007s][info][gc,init] Version: 17.0.15+6 (release)\n".as_slice());
    assert_eq!(log.jvm.settings.get("compressed references"), None, "what is not said is not known");
}

#[test]
fn the_clock_of_the_log_is_the_monotonic_clock_of_the_kernel() {
    let mut runs = 0;
    for (feature, bits) in [(17, 64), (25, 64), (17, 32)] {
        let Some(java) = assay_testkit::find_java(feature, bits) else {
            println!("skipped: no JDK {feature} of {bits} bits");
            continue;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("gc.log");
        let before_ns = monotonic_ns();
        let run = Command::new(&java)
            .args(["-Xmx64m", "-XX:+UseSerialGC"])
            .arg(xlog_option(path.to_str().expect("a path in UTF-8")))
            .arg("-version")
            .output()
            .expect("java starts");
        let after_ns = monotonic_ns();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = fs::read_to_string(&path).expect("the log");
        for line in text.lines().filter(|line| line.starts_with('[')) {
            let ns = line.split("][").nth(1).and_then(|d| d.strip_suffix("ns"));
            let ns: u64 =
                ns.and_then(|digits| digits.parse().ok()).expect("timenanos is the second decorator");
            assert!(
                (before_ns..=after_ns).contains(&ns),
                "JDK {feature}, {bits} bits: {before_ns} {ns} {after_ns}"
            );
        }
        runs += 1;
    }
    println!("{runs} JVMs");
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).expect("after the boot") * 1_000_000_000
        + u64::try_from(now.tv_nsec).expect("below 1e9")
}
