//! Native memory of Java objects is called what it is, and belongs to who holds it, on each release.

use assay_memory::{ReadOptions, read};
use assay_model::{Area, MemoryReport};
use assay_testkit::{Running, each_release, skip, start_java, testdata};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const MIB: u64 = 1 << 20;
const DIRECT: &str = "java.nio.DirectByteBuffer";
const NO_HOLDER: &str = "no object holds it";
const BEHIND: &str = "native memory behind java.nio.DirectByteBuffer";
/// Of what a way holds.
const RIGHT_PERCENT_MIN: u64 = 95;

/// `testdata/linux/handles.c`; `None` where there is no C compiler.
fn library(folder: &Path) -> Option<PathBuf> {
    let to = folder.join("libhandles.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&to).arg(testdata("linux/handles.c"));
    compiler.status().is_ok_and(|status| status.success()).then_some(to)
}

/// Bytes of a way, by the program's own word.
fn planted(jvm: &Running, way: &str) -> u64 {
    let of_way = jvm.said.lines().find_map(|line| line.strip_prefix(way)?.strip_prefix(' '));
    of_way.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("no {way} in {}", jvm.said))
}

const OF_MAIN: &str = "stack of thread main";

fn is_of_any_thread(path: &[String], kind: &str) -> bool {
    path.get(1).is_some_and(|of| of == kind)
        && path.get(2).is_some_and(|holder| holder == "stack of thread java")
}

/// Resident bytes of a kind with this holder, or with none.
fn held(report: &MemoryReport, kind: &str, holder: Option<&str>) -> u64 {
    let path: Vec<&str> = [Area::Buffers.title(), kind].into_iter().chain(holder).collect();
    // Of JDK 8 the kernel's name of the thread is known, which is the program's.
    let is_it = |parts: &[String]| parts == path || holder == Some(OF_MAIN) && is_of_any_thread(parts, kind);
    let of = report.entries.iter().filter(|entry| is_it(&entry.path));
    of.map(|entry| entry.resident_bytes).sum()
}

/// Direct buffers, by the word of the program: who holds them is known to Assay in each way but one.
const DIRECT_WAYS: [(&str, Option<&str>); 3] = [
    ("threads", Some("sun.nio.ch.Util$BufferCache")),
    ("kept", Some("Buffering$Registry")),
    ("local", Some(OF_MAIN)),
];
/// With -Dreferences=true. ZGC corrects such references late, and JDK 8 with tracking does not tell them apart: no holder is named then.
const OF_REFERENCES: (&str, Option<&str>) = ("native", Some("JNI references"));

/// Looks at a JVM that holds memory in all ways. `dead` is what stands in the place of a holder where there is none.
fn look_at(java: &Path, what: &str, options: &[&str], dead: Option<&str>) -> MemoryReport {
    let jvm = start_java(java, options, &[], "Buffering");
    let freeze = Some(Duration::from_secs(30));
    let report = read(jvm.pid(), &ReadOptions { freeze, ..ReadOptions::default() }).expect("our child");
    let of_java: Vec<_> = report.entries.iter().filter(|l| l.path[0] == Area::Buffers.title()).collect();
    let direct_ways = DIRECT_WAYS.into_iter().chain([("dropped", dead)]);
    let ways = direct_ways.map(|(way, holder)| (way, DIRECT, holder));
    for (way, kind, holder) in ways.chain([("handles", BEHIND, Some("Buffering$Connection"))]) {
        let (told, planted) = (held(&report, kind, holder), planted(&jvm, way));
        let case = format!("{what} {way}: {told} of {planted}");
        println!("{case}");
        assert!(planted * RIGHT_PERCENT_MIN <= told * 100, "{case}: {of_java:#?}");
        assert!(told * RIGHT_PERCENT_MIN <= planted * 100 + 2 * MIB, "{case}: {of_java:#?}");
    }
    if dead.is_some() {
        // Nobody can be sure of a process that runs.
        let running = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let of = |holder: &str| held(&running, DIRECT, Some(holder));
        let (sure, unsure) = (of(NO_HOLDER), of("perhaps no object holds it"));
        let planted = planted(&jvm, "dropped");
        assert!(sure == 0 && planted * RIGHT_PERCENT_MIN <= unsure * 100, "{what}: {sure}, {unsure}");
    }
    let direct = report.jvm.as_ref().and_then(|jvm| jvm.direct_used_bytes).expect("owners");
    let of_ways: u64 = DIRECT_WAYS.iter().map(|(way, _)| planted(&jvm, way)).sum();
    let allocated = of_ways + planted(&jvm, "dropped");
    assert!(direct.abs_diff(allocated) <= allocated / 20, "{what}: {direct} {allocated}: {of_java:#?}");
    let inflaters = ["java.util.zip.ZipFile", "Buffering$Reader"]
        .map(|holder| held(&report, "java.util.zip.Inflater", Some(holder)));
    println!("{what}: inflaters {inflaters:?}");
    assert!(inflaters.iter().all(|bytes| 20 * (2 << 10) <= *bytes), "{what} {inflaters:?}: {of_java:#?}");
    report
}

#[test]
fn buffers_belong_to_who_holds_them_and_memory_behind_a_handle_is_no_direct_buffer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(library) = library(folder.path()) else { skip!("no C compiler") };
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let handles = format!("-Dhandles={}", library.display());
    for (feature, java) in javas {
        for tracking in ["-XX:NativeMemoryTracking=off", "-XX:NativeMemoryTracking=summary"] {
            // No collection but the one that the program asks for.
            let options = ["-XX:+UseSerialGC", "-Xmx256m", "-Xmn128m", tracking, handles.as_str()];
            let report = look_at(&java, &format!("JDK {feature} {tracking}"), &options, Some(NO_HOLDER));
            let steps: Vec<&str> = report.findings.iter().flat_map(|found| found.ways()).collect();
            assert!(steps.iter().any(|step| step.contains("maxCachedBufferSize")), "{steps:?}");
            assert!(
                steps.iter().any(|step| step.contains("MaxDirectMemorySize")),
                "some are dead: {steps:?}"
            );
        }
    }
}

/// Looks at JVMs of some releases with ZGC. Whether buffers are dead is not said.
fn look_at_z(what: &str, features: Range<u32>, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(library) = library(folder.path()) else { skip!("no C compiler") };
    let handles = format!("-Dhandles={}", library.display());
    let z = ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseZGC", "-Xmx256m", &handles];
    let mut ran = false;
    for (feature, java) in each_release(64).into_iter().filter(|(feature, _)| features.contains(feature)) {
        look_at(&java, &format!("JDK {feature} with ZGC, {what}"), &[&z[..], more].concat(), None);
        ran = true;
    }
    if !ran {
        skip!("no JVM of the releases {features:?}");
    }
}

/// Releases in which ZGC can do without generations: each object has three addresses then.
const WITHOUT_GENERATIONS: Range<u32> = 17..24;

#[test]
fn holders_are_found_among_objects_that_zgc_without_generations_has_moved() {
    look_at_z("objects moved", WITHOUT_GENERATIONS, &["-XX:-ZGenerational"]);
}

/// Pages are emptied only where more than this percentage of them is garbage: none. The table of moved objects was never written then,
/// and references that were written before the collection look old.
#[test]
fn holders_are_found_where_no_object_was_ever_moved() {
    let options = ["-XX:-ZGenerational", "-XX:+UnlockDiagnosticVMOptions", "-XX:ZFragmentationLimit=100"];
    look_at_z("none moved", WITHOUT_GENERATIONS, &options);
}

/// A reference to the heap's start has a class pointer's bits where a compact header has one. JDK 27 and later have such headers if nobody
/// asks for others.
#[test]
fn holders_are_found_where_headers_are_compact_and_references_coloured() {
    let options = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"];
    look_at_z("compact headers", 24..u32::MAX, &options);
}

/// Collectors, and the options that choose them; a JVM that lacks one does not start.
const COLLECTORS: [(&str, &[&str]); 7] = [
    ("Serial", &["-XX:+UseSerialGC"]),
    ("Parallel", &["-XX:+UseParallelGC"]),
    ("CMS", &["-XX:+UseConcMarkSweepGC"]),
    ("G1", &["-XX:+UseG1GC"]),
    ("Shenandoah", &["-XX:+UseShenandoahGC"]),
    ("ZGC", &["-XX:+UseZGC"]),
    ("ZGC with generations", &["-XX:+UseZGC", "-XX:+ZGenerational"]),
];

/// Of all bytes that ways hold. Dead buffers are not asked for: some collectors do not let them be recognized.
#[test]
#[ignore = "long: a JVM of each release with each collector"]
fn holders_of_native_memory_are_right_on_each_release_with_each_collector() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(library) = library(folder.path()) else { skip!("no C compiler") };
    let handles = format!("-Dhandles={}", library.display());
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for (feature, java) in each_release(64) {
        for (collector, chosen) in COLLECTORS {
            let options =
                [chosen, &["-XX:+UnlockExperimentalVMOptions", "-Xmx320m", "-Dreferences=true", &handles]]
                    .concat();
            let version = Command::new(&java).args(&options).arg("-version").output().expect("a JVM");
            if !version.status.success() {
                continue;
            }
            let jvm = start_java(&java, &options, &[], "Buffering");
            let freeze = Some(Duration::from_secs(30));
            let report =
                read(jvm.pid(), &ReadOptions { freeze, ..ReadOptions::default() }).expect("our child");
            let ways = DIRECT_WAYS.into_iter().chain([OF_REFERENCES]);
            let ways = ways.map(|(way, holder)| (way, DIRECT, holder));
            for (way, kind, holder) in ways.chain([("handles", BEHIND, Some("Buffering$Connection"))]) {
                let (told, planted) = (held(&report, kind, holder), planted(&jvm, way));
                println!("JDK {feature} {collector} {way}: {told} of {planted}");
                (right, all) = (right + told.min(planted), all + planted);
                if told * 100 < planted * RIGHT_PERCENT_MIN {
                    wrong.push(format!("JDK {feature} {collector} {way}: {told} of {planted}"));
                }
            }
        }
    }
    println!("{right} of {all} bytes, {:.2} %", right as f64 * 100.0 / all.max(1) as f64);
    assert!(all * RIGHT_PERCENT_MIN <= right * 100, "{right} of {all}: {wrong:#?}");
}
