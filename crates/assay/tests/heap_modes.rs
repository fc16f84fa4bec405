//! `assay heap modes` as it is typed, and the computed modes held against JVMs that are started.
//!
//! The whole, 14 sizes for each JVM at hand and each collector, is a check of its own since it starts some 200 JVMs:
//! `cargo test -p assay --test all heap_modes:: -- --ignored`.

use assay_jdk::Release;
use assay_model::{HeapModes, ModeCell, ReferenceMode};
use assay_testkit::{each_java, each_release, find_java, find_tool, jcmd, skip, start_java};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn assay(arguments: &[&str]) -> Output {
    Command::new(ASSAY)
        .args(["heap", "modes"])
        .args(arguments)
        // They would change every JVM; Assay keeps them away.
        .env("JAVA_TOOL_OPTIONS", "-XX:ObjectAlignmentInBytes=32")
        .env("JDK_JAVA_OPTIONS", "-XX:-UseCompressedOops")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .expect("assay starts")
}

fn modes(arguments: &[&str]) -> HeapModes {
    let output = assay(&[arguments, &["--json"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    serde_json::from_slice(&output.stdout).expect("JSON of modes")
}

fn java(feature: u32) -> Option<PathBuf> {
    find_java(feature, 64)
}

/// JVMs whose modes are computed, as words.
fn javas() -> Vec<String> {
    let is_computed = |feature: &u32| Release::of(*feature).modes.are_rules_known;
    let found =
        each_release(64).into_iter().filter(|(feature, _)| is_computed(feature)).map(|(_, java)| java);
    found.flat_map(|java| ["--java".to_owned(), java.display().to_string()]).collect()
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Fails on every cell that says otherwise than computed; counts those that say the same.
fn check(report: &HeapModes) -> (usize, Vec<&ModeCell>) {
    let mut equal = 0;
    let mut not_verified = Vec::new();
    for cell in &report.cells {
        let at = format!(
            "JDK {} {} -Xmx{}m {:?}",
            cell.jdk,
            cell.collector,
            cell.max_heap_bytes / MIB,
            cell.options
        );
        match cell.verified_mode {
            Some(found) => {
                assert_eq!(cell.computed_mode, Some(found), "{at}: {}", cell.decided_by);
                if cell.computed_base_address.is_some() {
                    assert_eq!(cell.computed_base_address, cell.base_address, "{at}: {}", cell.decided_by);
                }
                equal += 1;
            }
            None => {
                assert!(cell.not_verified_because.as_ref().is_some_and(|why| !why.is_empty()), "{at}");
                not_verified.push(cell);
            }
        }
    }
    (equal, not_verified)
}

#[test]
fn computed_is_what_the_jvms_say_at_every_threshold() {
    let javas = javas();
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let mut equal = 0;
    for (collector, sizes) in [
        ("Serial", "2g,2049m,30g,30721m,32766m,32767m"),
        ("Parallel", "32766m,32767m"),
        ("G1", "2g,2049m,30g,30721m,32736m,32737m"),
        ("Shenandoah", "2047m,30721m,32736m,32737m"),
        ("Z", "2g,40g"),
    ] {
        let option = format!("-XX:+Use{collector}GC");
        let mut arguments = words(&javas);
        arguments.extend(["--verify", "--max-heap", sizes, "--options", &option]);
        let report = modes(&arguments);
        let (same, not_verified) = check(&report);
        // Not every build has the first, and no JVM of 8 the second.
        let may_lack =
            |cell: &&ModeCell| cell.collector == "Shenandoah" || (cell.collector == "Z" && cell.jdk == 8);
        assert!(not_verified.iter().all(may_lack), "{not_verified:?}");
        equal += same;
    }
    println!("{equal} cells computed as verified");
    assert!(equal >= 16 * (javas.len() / 2), "{equal}");
}

#[test]
fn options_that_decide_are_computed_as_the_jvms_say() {
    for (feature, options, sizes) in [
        (17, "-XX:+UseG1GC -XX:ObjectAlignmentInBytes=16", "40g,62g,63489m,65505m"),
        (25, "-XX:+UseParallelGC -XX:ObjectAlignmentInBytes=32", "100g,126g,129025m"),
        (17, "-XX:+UseG1GC -XX:HeapBaseMinAddress=40g", "8g"),
        (25, "-XX:+UseSerialGC -XX:HeapBaseMinAddress=31g", "512m,2g"),
        (25, "-XX:+UseSerialGC -XX:HeapBaseMinAddress=96g", "32700m"),
        (17, "-XX:+UseG1GC -XX:HeapBaseMinAddress=1g", "31g"),
        (17, "-XX:+UseG1GC -Xshare:off", "3g,29696m,29712m"),
        (25, "-XX:+UseG1GC -Xshare:off", "3g"),
        (25, "-XX:+UseG1GC -XX:+UseCompactObjectHeaders", "2g,30g,31g,33g"),
        (25, "-XX:+UseZGC -XX:+UseCompactObjectHeaders", "2g"),
        (17, "-XX:+UseSerialGC -XX:-UseCompressedOops", "1g"),
        (17, "-XX:+UseSerialGC -XX:-UseCompressedOops -XX:-UseCompressedClassPointers", "1g"),
        (25, "-XX:+UseZGC -XX:-UseCompressedClassPointers", "1g"),
        (25, "-XX:+UseG1GC -XX:G1HeapRegionSize=1m", "32256m,32257m"),
        (17, "-XX:+UseG1GC -XX:G1HeapRegionSize=1m", "32736m"),
        (25, "-XX:+UseSerialGC -XX:GCCardSizeInBytes=128", "32767m"),
        (17, "-XX:+UseParallelGC -XX:+UseTransparentHugePages", "2047m,32766m"),
    ] {
        let Some(java) = java(feature) else { continue };
        let java = java.display().to_string();
        let report = modes(&["--java", &java, "--verify", "--max-heap", sizes, "--options", options]);
        let (equal, not_verified) = check(&report);
        assert!(not_verified.is_empty(), "{options}: {not_verified:?}");
        assert_eq!(equal, sizes.split(',').count());
    }
}

#[test]
fn a_32_bit_jvm_has_its_mode_or_says_why_it_does_not_start() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JVM") };
    let java = java.display().to_string();
    let report =
        modes(&["--java", &java, "--verify", "--max-heap", "64m,1g,4g", "--options", "-XX:+UseSerialGC"]);
    let (equal, not_verified) = check(&report);
    assert_eq!((equal, not_verified.len()), (2, 1));
    let refused = not_verified[0];
    assert_eq!((refused.max_heap_bytes, refused.computed_mode), (4 * GIB, None));
    assert!(refused.not_verified_because.as_deref().is_some_and(|why| why.contains("Invalid maximum heap")));
    assert!(report.thresholds.is_empty());
}

#[test]
fn both_sides_of_each_threshold_are_started() {
    let Some(java) = java(25) else { skip!("no JDK 25") };
    let java = java.display().to_string();
    let report = modes(&["--java", &java, "--verify", "--max-heap", "1g", "--options", "-XX:+UseG1GC"]);
    let found: Vec<_> = report
        .thresholds
        .iter()
        .map(|threshold| (threshold.mode, threshold.largest_max_heap_bytes / MIB, threshold.is_verified))
        .collect();
    let expected = [
        (ReferenceMode::CompressedUnscaled, 2048, true),
        (ReferenceMode::CompressedZeroBased, 30720, true),
        (ReferenceMode::CompressedDisjointBase, 32736, true),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.cells.len(), 1, "the sides are asked about, not shown");
}

#[test]
fn the_map_is_whole_below_64_gib_and_the_heap_is_in_it() {
    let Some(java) = java(17) else { skip!("no JDK 17") };
    let java = java.display().to_string();
    let report = modes(&["--java", &java, "--max-heap", "30g", "--options", "-XX:+UseG1GC"]);
    let below: Vec<_> = report.address_map.iter().filter(|r| r.start_address < 64 * GIB).collect();
    assert!(below.windows(2).all(|pair| pair[0].end_address == pair[1].start_address), "{below:?}");
    assert_eq!((below[0].start_address, below.last().map(|r| r.end_address)), (0, Some(64 * GIB)));
    let heap = report.address_map.iter().find(|r| r.what == "heap").expect("a heap");
    assert_eq!((heap.start_address, heap.end_address, heap.may_hold_heap), (2 * GIB, 32 * GIB, true));
    let libraries = report.address_map.iter().any(|r| r.what.contains("libraries") && !r.may_hold_heap);
    assert!(libraries, "{:?}", report.address_map);
    assert!(report.cells[0].verified_mode.is_none(), "nothing was asked to be verified");
}

#[test]
fn advice_names_what_can_be_done_on_this_host() {
    let Some(java) = java(25) else { skip!("no JDK 25") };
    let java = java.display().to_string();
    let report = modes(&["--java", &java, "--want", "31g", "--max-heap", "31g", "--options", "-XX:+UseG1GC"]);
    let rules: Vec<&str> = report.advice.iter().map(|advice| advice.rule.as_str()).collect();
    assert_eq!(rules, ["below-threshold", "lower-base", "compact-headers"]);
    assert_eq!(report.advice[0].command(), "-Xmx30g");
}

#[test]
fn a_jvm_is_named_by_its_release_and_one_that_is_missing_by_what_provides_it() {
    let Some((feature, _)) = each_java(64).pop_first() else { skip!("no 64-bit JDK") };
    let report =
        modes(&["--java", &feature.to_string(), "--max-heap", "1g", "--options", "-XX:+UseSerialGC"]);
    assert_eq!(report.cells.iter().map(|cell| cell.jdk).collect::<Vec<_>>(), [feature]);
    let output = assay(&["--java", "999"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("workloads/jvm/fetch 999 provides it"), "{told}");
}

#[test]
fn wrong_words_are_wrong_use() {
    for (arguments, part) in [
        (&["--options", "-Xmx31g"][..], "--max-heap"),
        (&["--java", "/nowhere"], "no JVM here"),
        (&["--log", "/nowhere/gc.log"], "cannot read"),
        (&["--log", "/tmp"], "is a folder"),
        (&["--want", "0"], "more than 0"),
        (&["--max-heap", "1g,0"], "more than 0"),
        (&["--options", "-XX:+UseG1GC -XX:+UseZGC"], "two collectors"),
        (&["--pid", "4194305"], "no process"),
    ] {
        let output = assay(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
}

#[test]
fn what_was_named_and_has_no_mode_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let (empty, log) = (folder.path().join("empty.log"), folder.path().join("g1.log"));
    fs_err::write(&empty, "").expect("written");
    fs_err::write(&log, "[0.004s][info][gc,heap,coops] Heap address: 0x0000000709000000, size: 3952 MB, Compressed Oops mode: Zero based, Oop shift amount: 3\n").expect("written");
    let (empty, log) = (empty.display().to_string(), log.display().to_string());
    let own = std::process::id().to_string();
    for none in [["--log", &empty], ["--pid", &own]] {
        let output = assay(&none);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{none:?}: {told}");
        assert!(told.contains("no mode could be read"), "{told}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("\nMode of "), "{none:?}");
    }
    let output = assay(&["--log", &empty, "--log", &log]);
    let told = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains(" Mode of ") && told.contains("g1.log: compressed-zero-based."), "{told}");
}

#[test]
fn nothing_verified_is_no_success() {
    let Some(java) = java(25) else { skip!("no JDK 25") };
    let java = java.display().to_string();
    let options = "-XX:+UseSerialGC -XX:+NoSuch";
    let output = assay(&["--java", &java, "--verify", "--max-heap", "1g", "--options", options]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("no heap size could be verified") && told.contains("NoSuch"), "{told}");
}

#[test]
fn the_headline_and_the_lines_below_the_matrix_tell_bases_too() {
    let Some(java) = java(25) else { skip!("no JDK 25") };
    let java = java.display().to_string();
    let told = |options: &str| {
        let output = assay(&["--java", &java, "--options", options, "--all"]);
        assert!(output.status.success());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = told("-XX:+UseSerialGC -XX:HeapBaseMinAddress=8g");
    assert!(text.contains("with a base up to -Xmx32766m"), "{text}");
    assert!(text.contains("an address that the kernel chooses at each start"), "{text}");
    let text = told("-XX:+UseG1GC");
    assert!(text.contains("-Xmx30g zero-based: heap at 0x80000000, 2 GiB (HeapBaseMinAddress)"), "{text}");
    assert!(text.contains("addresses of a JVM on this host"), "{text}");
    let text = told("-XX:+UseG1GC -XX:+UseLargePages");
    assert!(text.contains("not known: what -XX:+UseLargePages changes is not computed (G1)"), "{text}");
}

#[test]
fn the_mode_of_a_running_jvm_is_read_from_outside() {
    use ReferenceMode as M;
    if find_tool("javac").is_none() {
        skip!("no javac");
    }
    let mut tried = 0;
    for (feature, bits, options, mode, shift) in [
        (17, 64, &["-Xmx1g"][..], M::CompressedUnscaled, Some(0)),
        (25, 64, &["-Xmx4g"], M::CompressedZeroBased, Some(3)),
        (17, 64, &["-Xmx31g"], M::CompressedDisjointBase, Some(3)),
        (25, 64, &["-Xmx31g"], M::CompressedDisjointBase, Some(3)),
        (25, 64, &["-Xmx1g", "-XX:HeapBaseMinAddress=40g"], M::CompressedNonZeroBase, Some(3)),
        (17, 64, &["-Xmx40g", "-XX:ObjectAlignmentInBytes=16"], M::CompressedZeroBased, Some(4)),
        (17, 64, &["-Xmx1g", "-XX:+UseZGC"], M::Full64CompressedClassPointers, None),
        (25, 64, &["-Xmx33g"], M::Full64CompressedClassPointers, None),
        (17, 64, &["-Xmx1g", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"], M::Full64, None),
        (17, 32, &["-Xmx64m"], M::Bits32, None),
    ] {
        let Some(java) = find_java(feature, bits) else { continue };
        let collector = ["-XX:+UseSerialGC"].into_iter().filter(|_| !options.contains(&"-XX:+UseZGC"));
        let options: Vec<&str> =
            ["-Xms8m"].into_iter().chain(collector).chain(options.iter().copied()).collect();
        let jvm = start_java(&java, &options, &[], "Waiting");
        let report = modes(&["--pid", &jvm.pid().to_string()]);
        drop(jvm);
        let read =
            report.read[0].mode.as_ref().unwrap_or_else(|| panic!("{options:?}: {:?}", report.problems));
        assert_eq!(
            (read.mode, read.shift_bits),
            (mode, shift),
            "JDK {feature} {options:?}: {}",
            read.evidence
        );
        assert!(read.heap_base_address.is_some(), "JDK {feature} {options:?}");
        assert!(report.cells.is_empty(), "nothing else was asked");
        tried += 1;
    }
    if tried == 0 {
        skip!("no JVM");
    }
}

#[test]
fn advice_rests_on_the_objects_of_a_dump() {
    let Some(java) = java(25) else { skip!("no JDK 25") };
    if find_tool("javac").is_none() {
        skip!("no javac");
    }
    // It has no arrays of its own, which would be most of the heap and as large in each mode.
    let jvm = start_java(&java, &["-Xmx64m", "-XX:+UseSerialGC"], &[], "Impostor");
    let folder = tempfile::tempdir().expect("a folder");
    let dump = folder.path().join("a.hprof").display().to_string();
    let said = jcmd(jvm.pid(), &["GC.heap_dump", &dump]);
    assert!(said.contains("Heap dump file created"), "{said}");
    drop(jvm);
    let java = java.display().to_string();
    let asked = ["--java", &java, "--options", "-XX:+UseG1GC", "--max-heap", "40g", "--want", "40g"];
    let by_dump = modes(&[&asked[..], &["--dump", &dump]].concat());
    let rules: Vec<&str> = by_dump.advice.iter().map(|advice| advice.rule.as_str()).collect();
    assert_eq!(
        rules,
        ["below-threshold", "alignment-16", "above-threshold", "compact-headers"],
        "{:?}",
        by_dump.advice
    );
    assert!(by_dump.advice.iter().all(|advice| advice.claim.contains("the dump's objects")));
    assert!(modes(&asked).advice.iter().all(|advice| advice.claim.contains("typical objects")));
}

#[test]
fn ctrl_c_ends_the_jvms_too() {
    let Some(java) = java(17) else { skip!("no JDK 17") };
    let mark = format!("-Dassay.test={}", std::process::id());
    let mut child = Command::new(ASSAY)
        .args(["heap", "modes", "--verify", "--java"])
        .arg(&java)
        .args(["--options", &mark])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("assay starts");
    let mut told = [0; 8];
    child.stderr.as_mut().expect("a pipe").read_exact(&mut told).expect("it says that it starts JVMs");
    assert_eq!(&told, b"starting");
    std::thread::sleep(Duration::from_millis(300));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(kill.success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    let left = fs_err::read_dir("/proc").expect("processes").flatten().filter(|process| {
        std::fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&mark))
    });
    assert_eq!(left.count(), 0, "a JVM was left behind");
}

/// The whole table, as `assay heap modes --verify` makes it.
#[test]
#[ignore = "long: starts some 200 JVMs"]
fn every_default_cell_is_computed_as_the_jvms_say() {
    let javas = javas();
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let mut arguments = words(&javas);
    arguments.push("--verify");
    let report = modes(&arguments);
    let (equal, not_verified) = check(&report);
    println!("{equal} of {} cells computed as verified", report.cells.len());
    for cell in &not_verified {
        println!(
            "not verified: JDK {} {} -Xmx{}m: {:?}",
            cell.jdk,
            cell.collector,
            cell.max_heap_bytes / MIB,
            cell.not_verified_because
        );
    }
    assert!(equal >= 30 * javas.len() / 2, "{equal}");
    // Of a collector that a JVM lacks, such as Shenandoah on most builds of 8, nothing can be verified.
    let lacks = |java: &str, collector: &str| {
        let mut cells =
            not_verified.iter().filter(|cell| (&*cell.java, &*cell.collector) == (java, collector));
        let unknown = |why: &String| why.contains("Unrecognized VM option");
        cells.any(|cell| cell.not_verified_because.as_ref().is_some_and(unknown))
    };
    let unverified = report.thresholds.iter().filter(|threshold| !threshold.is_verified);
    let unverified = unverified.filter(|threshold| !lacks(&threshold.java, &threshold.collector));
    assert_eq!(unverified.count(), 0, "{:?}", report.thresholds);
}
