//! The entries add up to the kernel's RSS: to the byte on a frozen process, whatever JVM, collector and allocator; and
//! nothing is left in no known region, where the release has a layout pack.

use assay_jdk::Release;
use assay_linux::ProcRoot;
use assay_memory::{ReadOptions, read};
use assay_model::{Allocator, Area, MemoryReport};
use assay_testkit::{each_java, each_release, find_java, find_library, skip, start_java};
use std::path::{Path, PathBuf};

const COLLECTORS: [&str; 6] = [
    "-XX:+UseG1GC",
    "-XX:+UseSerialGC",
    "-XX:+UseParallelGC",
    "-XX:+UseConcMarkSweepGC",
    "-XX:+UseZGC",
    "-XX:+UseShenandoahGC",
];
/// The libraries that replace glibc's malloc; the first is none.
const ALLOCATORS: [&str; 3] = ["", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"];

fn sum(report: &MemoryReport) -> u64 {
    report.entries.iter().map(|entry| entry.resident_bytes).sum()
}

fn of(report: &MemoryReport, area: Area) -> u64 {
    report.areas.iter().find(|a| a.area == area).map_or(0, |a| a.resident_bytes)
}

/// What the layout pack of a release does not tell stays unknown, and is in the sum all the same.
fn has_pack(java: &Path, collector: &str) -> bool {
    let jvm = assay_jdk::jvm_at(java).expect("a JVM");
    let Some(release) = Release::exactly(jvm.feature) else { return false };
    let pack = if jvm.bits == 64 { &release.pack } else { &release.pack_32 };
    let has = |type_name| pack.as_ref().is_some_and(|pack| pack.types.contains_key(type_name));
    match collector {
        "-XX:+UseZGC" => has("ZHeap"),
        "-XX:+UseShenandoahGC" => has("ShenandoahHeap"),
        _ => pack.is_some(),
    }
}

/// A stopped process, read between two equal sums of the kernel: a machine that is short of memory takes pages of files even from such a
/// process.
fn read_at_rest(pid: u32) -> (MemoryReport, u64) {
    let kernel_sum_bytes = || {
        let rollup = ProcRoot::default().read_smaps_rollup(pid).expect("readable").expect("a rollup");
        rollup.rss_bytes
    };
    for _ in 0..10 {
        let before_bytes = kernel_sum_bytes();
        let report = read(pid, &ReadOptions::default()).expect("our child");
        if kernel_sum_bytes() == before_bytes {
            return (report, before_bytes);
        }
    }
    panic!("the kernel's sum changes from look to look");
}

/// Every collector of a JVM with one allocator; the collectors that this JVM has, by name.
fn closes(java: &Path, collectors: &[&'static str], allocator: &str) -> Vec<&'static str> {
    let mut ran = Vec::new();
    for collector in collectors.iter().copied() {
        // A JVM without this collector ends at once; one that has it says "waiting".
        let options =
            ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockExperimentalVMOptions", "-Xmx256m", collector];
        let jvm = start_java(java, &options, &[("LD_PRELOAD", allocator)], "Waiting");
        jvm.freeze();
        let what = format!("{} {collector} {allocator}", java.display());
        let (report, rss_bytes) = read_at_rest(jvm.pid());
        let taken = report.jvm.as_ref().and_then(|jvm| jvm.collector.as_ref());
        if taken.is_none_or(|taken| collector != format!("-XX:+Use{taken}GC")) {
            println!("{what}: this JVM has none");
            continue;
        }
        assert_eq!(report.rss_bytes, rss_bytes, "{what}");
        assert_eq!(sum(&report), rss_bytes, "{what}");
        assert_eq!(report.areas.iter().map(|a| a.resident_bytes).sum::<u64>(), rss_bytes, "{what}");
        assert_eq!((report.difference_bytes, report.rss_change_during_scan_bytes), (0, 0), "{what}");
        let nameless = of(&report, Area::NativeAnonymous);
        println!(
            "{what}: {} RSS, {nameless} in no known region, {} in blocks without an owner, {:.2} % unknown",
            report.rss_bytes,
            of(&report, Area::MallocHeap),
            report.unknown_bytes as f64 / report.rss_bytes as f64 * 100.0
        );
        assert!(nameless == 0 || !has_pack(java, collector), "{what}: {nameless} {:?}", report.unknown);
        ran.push(collector);
    }
    ran
}

fn closes_with(feature: u32, allocator: &str) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let library = if allocator.is_empty() { Some(PathBuf::new()) } else { find_library(allocator) };
    let Some(library) = library else { skip!("no {allocator}") };
    assert!(3 <= closes(&java, &COLLECTORS, &library.to_string_lossy()).len());
}

#[test]
fn entries_add_up_on_jdk_17_with_glibc() {
    closes_with(17, ALLOCATORS[0]);
}

#[test]
fn entries_add_up_on_jdk_25_with_glibc() {
    closes_with(25, ALLOCATORS[0]);
}

#[test]
fn entries_add_up_on_every_other_release_with_glibc() {
    let others: Vec<u32> =
        each_release(64).into_keys().filter(|feature| ![17, 25].contains(feature)).collect();
    if others.is_empty() {
        skip!("no 64-bit JDK 8 or other release");
    }
    others.into_iter().for_each(|feature| closes_with(feature, ALLOCATORS[0]));
}

#[test]
fn entries_add_up_on_a_32_bit_jdk_17_with_glibc() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JDK 17") };
    // A 32-bit JVM has no ZGC.
    let collectors: Vec<_> = COLLECTORS.into_iter().filter(|name| !name.contains("UseZGC")).collect();
    assert!(3 <= closes(&java, &collectors, ALLOCATORS[0]).len());
}

#[test]
fn entries_add_up_on_jdk_17_with_jemalloc() {
    closes_with(17, ALLOCATORS[1]);
}

#[test]
fn entries_add_up_on_jdk_21_with_jemalloc() {
    closes_with(21, ALLOCATORS[1]);
}

#[test]
fn entries_add_up_on_jdk_25_with_jemalloc() {
    closes_with(25, ALLOCATORS[1]);
}

#[test]
fn entries_add_up_on_jdk_17_with_tcmalloc() {
    closes_with(17, ALLOCATORS[2]);
}

#[test]
fn entries_add_up_on_jdk_21_with_tcmalloc() {
    closes_with(21, ALLOCATORS[2]);
}

#[test]
fn entries_add_up_on_jdk_25_with_tcmalloc() {
    closes_with(25, ALLOCATORS[2]);
}

#[test]
fn on_a_running_process_the_difference_is_no_larger_than_the_change_that_is_shown() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no 64-bit JDK") };
    // It allocates as fast as it can, and frees.
    let jvm = start_java(&java, &["-Xmx256m", "-XX:+UseParallelGC"], &[], "Churning");
    for _ in 0..10 {
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let difference = sum(&report).abs_diff(report.rss_bytes);
        assert_eq!(difference, report.difference_bytes.unsigned_abs());
        assert!(difference <= report.rss_change_during_scan_bytes.unsigned_abs(), "{difference}");
    }
}

#[test]
fn a_process_that_is_no_jvm_gets_the_part_that_holds_for_it() {
    let mut command = std::process::Command::new("sh");
    let shell = assay_testkit::Running::start(command.args(["-c", "echo ready; read line"]), "ready");
    let report = read(shell.pid(), &ReadOptions::default()).expect("our child");
    assert_eq!(sum(&report), report.rss_bytes);
    assert!(report.jvm.is_none());
    assert!(0 < of(&report, Area::Code) && 0 < of(&report, Area::Stacks));
    assert_eq!(report.allocator.map(|a| a.name), Some(Allocator::Glibc));
}
