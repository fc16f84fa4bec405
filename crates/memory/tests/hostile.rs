//! Targets that change, end or hide while they are read, and memory that lies: an answer with problems or a clear
//! error, in bounded time and memory, and never a panic.

use crate::program::{Program, own_peak_bytes, within};
use assay_linux::{AlteredMemory, LinuxError, LiveProcess, MemorySource, OpeningFiles, ProcRoot, Recording};
use assay_memory::{MarkHeap, MemoryError, ReadOptions, SnapshotDepth, read, read_source};
use assay_model::{Area, FigureSource, MemoryEntry, MemoryReport};
use assay_testkit::{Damage, find_java, skip, start_java, testdata};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What one snapshot may take at most on a busy machine, in the debug build: beyond it, it hangs.
const SECONDS_MAX: u64 = 120;

/// As deep as it goes: with a mark of the live objects.
fn marked() -> ReadOptions {
    ReadOptions { mark_heap: MarkHeap::Always, ..ReadOptions::default() }
}

fn both_depths(of: u32) -> [Result<MemoryReport, MemoryError>; 2] {
    [SnapshotDepth::Structures, SnapshotDepth::Owners]
        .map(|depth| within(SECONDS_MAX, move || read(of, &ReadOptions::of_depth(depth))))
}

/// What holds for every report, whatever the target did.
fn check(report: &MemoryReport) {
    let sum: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
    assert_eq!(sum.abs_diff(report.rss_bytes), report.difference_bytes.unsigned_abs());
    assert!(report.difference_bytes.unsigned_abs() <= report.rss_change_during_scan_bytes.unsigned_abs());
    assert_eq!(sum, report.areas.iter().map(|area| area.resident_bytes).sum::<u64>());
}

#[test]
fn a_target_with_65000_mappings_adds_up() {
    let Some(target) = Program::start("mappings", "") else { skip!("no C compiler") };
    assert!(60_000 < target.told);
    for report in both_depths(target.pid()) {
        let report = report.expect("our child");
        check(&report);
        assert_eq!(report.difference_bytes, 0);
        assert!(60_000 * 4096 < report.rss_bytes);
    }
}

#[test]
fn a_target_with_10000_threads_names_their_stacks_together() {
    let Some(target) = Program::start("threads", "") else { skip!("no C compiler") };
    if target.told < 10_000 {
        skip!("this machine allows {} threads", target.told);
    }
    for report in both_depths(target.pid()) {
        let report = report.expect("our child");
        check(&report);
        assert!(report.entries.len() < 1000, "{} entries", report.entries.len());
        assert_eq!(report.threads.len(), 2000, "as many as are listed");
        let of = |area: Area| report.areas.iter().find(|a| a.area == area).map_or(0, |a| a.resident_bytes);
        assert!(10_000 * 8192 <= of(Area::Stacks), "two pages of each stack are touched: {:?}", report.areas);
        assert!(report.outside_rss.threads >= Some(10_000));
    }
}

#[test]
fn a_target_that_allocates_wildly_is_told_with_its_change() {
    let Some(target) = Program::start("churn", "") else { skip!("no C compiler") };
    for _ in 0..5 {
        both_depths(target.pid()).into_iter().for_each(|report| check(&report.expect("our child")));
    }
}

#[test]
fn a_target_that_forks_is_one_process() {
    let Some(target) = Program::start("forks", "") else { skip!("no C compiler") };
    for _ in 0..5 {
        both_depths(target.pid()).into_iter().for_each(|report| check(&report.expect("our child")));
    }
}

#[test]
fn a_target_that_becomes_another_program_again_and_again_gives_reports_or_errors() {
    let Some(target) = Program::start("execs", "") else { skip!("no C compiler") };
    let (mut reports, mut told) = (0, 0);
    for _ in 0..20 {
        for report in both_depths(target.pid()) {
            match report {
                // Its memory was gone when something was looked at: the sum is of what was seen.
                Ok(report) => {
                    reports += 1;
                    told += usize::from(!report.problems.is_empty());
                    let sum: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
                    assert_eq!(sum.abs_diff(report.rss_bytes), report.difference_bytes.unsigned_abs());
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    println!("{reports} reports, {told} of them with problems");
}

#[test]
fn a_target_that_ends_meanwhile_gives_what_was_seen_or_an_error() {
    let (mut reports, mut errors) = (0, 0);
    for number in 0..60 {
        let micros = number / 2 * 2500;
        let Some(target) = Program::start("exits", &micros.to_string()) else { skip!("no C compiler") };
        // Half of them stay as zombies, the others are gone.
        let pid = (number % 2 == 0).then(|| Pid::from_raw(target.pid().cast_signed())).flatten();
        let parent = pid.map(|pid| std::thread::spawn(move || waitpid(Some(pid), WaitOptions::empty())));
        let freeze = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
        // A parent that waits in this process would take the stops that the freeze waits for.
        let stopped = (number % 4 == 1).then(|| within(SECONDS_MAX, || read(target.pid(), &freeze)));
        for report in stopped.into_iter().chain(both_depths(target.pid())) {
            match report {
                Ok(report) => {
                    reports += 1;
                    let sum: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
                    assert_eq!(sum.abs_diff(report.rss_bytes), report.difference_bytes.unsigned_abs());
                    // Not in the kernel's numbers.
                    let told = report.problems.iter().find(|problem| problem.text.contains("os error"));
                    assert_eq!(told, None);
                }
                Err(error) => {
                    errors += 1;
                    let text = error.to_string();
                    assert!(text.contains(&target.pid().to_string()), "{text}");
                    assert!(!text.contains("os error"), "{text}");
                    assert!(text.contains("has ended"), "{text}");
                }
            }
        }
        if let Some(parent) = parent {
            parent.join().expect("it only waits").expect("our child");
        }
    }
    println!("{reports} reports, {errors} errors");
}

#[test]
fn a_zombie_a_kernel_thread_and_nobody_are_clear_errors() {
    let mut child = Command::new("true").spawn().expect("a child");
    let stat = format!("/proc/{}/stat", child.id());
    while !fs::read_to_string(&stat).expect("not waited for yet").contains(") Z ") {
        std::thread::yield_now();
    }
    let is_no_memory = |error: &MemoryError, pid: u32| {
        let text = error.to_string();
        println!("{text}");
        assert!(text.contains(&pid.to_string()), "{text}");
        matches!(error, MemoryError::Linux(LinuxError::NoMemory { .. }))
    };
    for report in both_depths(child.id()) {
        assert!(is_no_memory(&report.expect_err("it has no memory"), child.id()));
    }
    child.wait().expect("our child");
    for report in both_depths(child.id()) {
        let text = report.expect_err("it is gone").to_string();
        assert!(text.contains(&child.id().to_string()), "{text}");
    }
    // In a PID namespace of its own, a container sees no threads of the kernel.
    let stats = ProcRoot::default().read_processes().expect("processes");
    let Some(kernel) = stats.iter().find(|stat| stat.pid != 2 && stat.parent_pid == 2) else {
        skip!("no thread of the kernel to be seen")
    };
    for report in both_depths(kernel.pid) {
        assert!(is_no_memory(&report.expect_err("it has no memory"), kernel.pid));
    }
}

/// A debugger that holds the target, and lets go when it ends.
struct Debugger(Child);

impl Drop for Debugger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stopped_target_and_one_that_somebody_traces_are_read_as_they_stand() {
    let Some(target) = Program::start("recorded", "") else { skip!("no C compiler") };
    target.stop();
    let mut seen = Vec::new();
    for report in both_depths(target.pid()) {
        let report = report.expect("our child");
        check(&report);
        assert_eq!((report.difference_bytes, report.rss_change_during_scan_bytes), (0, 0));
        seen.push(report.rss_bytes);
    }
    target.go_on();
    let strace = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-p", &target.pid().to_string()])
        .stderr(Stdio::null())
        .spawn();
    let Ok(strace) = strace else { skip!("no strace") };
    let _debugger = Debugger(strace);
    let tracer = || {
        let status = fs::read_to_string(format!("/proc/{}/status", target.pid())).expect("our child");
        status.lines().find_map(|line| line.strip_prefix("TracerPid:\t")).map(str::to_owned)
    };
    within(SECONDS_MAX, || {
        while tracer().as_deref() == Some("0") {
            std::thread::yield_now();
        }
    });
    for report in both_depths(target.pid()) {
        check(&report.expect("our child"));
    }
}

/// Where words are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Everywhere but in code.
    Anywhere,
    /// Memory of no file: malloc's heap, metaspace, the Java heap.
    Anonymous,
    /// Variables of libraries: the JVM's own among them.
    Data,
}

const PLACES: [Place; 3] = [Place::Anywhere, Place::Anonymous, Place::Data];

/// Memory in which some words read differently, the same ones each time.
fn corrupt(source: &dyn MemorySource, damage: Damage, place: Place) -> impl MemorySource + '_ {
    let is_spared = move |address: u64| {
        let mappings = source.mappings();
        let at = mappings.partition_point(|mapping| mapping.addresses.end <= address);
        mappings.get(at).is_none_or(|mapping| match place {
            Place::Anywhere => mapping.is_executable() && mapping.is_file(),
            Place::Anonymous => mapping.is_file(),
            Place::Data => !mapping.is_file() || mapping.permissions[1] != b'w',
        })
    };
    AlteredMemory::new(source, move |address, buffer| {
        if !is_spared(address) {
            damage.apply(address, buffer, |at| source.u64(at).map(u64::to_le_bytes));
        }
    })
}

/// A JVM's memory with damage, at nine times as many places as there are seeds: the report still adds up, and costs about what the sound one
/// costs.
fn damaged(java: &Path, options: &[&str], seeds: Range<u64>) {
    let jvm = start_java(java, options, &[], "Waiting");
    jvm.freeze();
    let live = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
    let recording = Recording::capture(&live, |m| m.name != "[vsyscall]", 512 << 20).expect("small");
    drop(jvm);
    // Our own: libjvm is the one that the child maps.
    let recording = OpeningFiles(&recording);
    let sound = read_source(&recording, &marked());
    check(&sound);
    assert!(sound.jvm.is_some(), "{:?}", sound.problems);
    let peak_before = own_peak_bytes();
    for seed in seeds {
        for one_in in [20, 1000, 100_000] {
            for place in PLACES {
                let what = format!("seed {seed}, one word in {one_in}, {place:?}");
                let source = corrupt(&recording, Damage::new(seed, one_in), place);
                let report = within(SECONDS_MAX, || read_source(&source, &marked()));
                assert_eq!(report.rss_bytes, sound.rss_bytes, "{what}");
                check(&report);
            }
        }
    }
    // The recording itself is in this figure already; tests beside this one may add to it.
    let grown = own_peak_bytes().saturating_sub(peak_before);
    println!("{} {options:?}: grew by {grown} bytes", java.display());
    assert!(grown < 512 << 20, "{grown}");
}

fn damaged_17(seeds: Range<u64>) {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    damaged(&java, &["-Xmx64m", "-XX:+UseSerialGC", "-XX:NativeMemoryTracking=summary"], seeds);
}

fn damaged_25(seeds: Range<u64>) {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25") };
    damaged(&java, &["-Xmx128m"], seeds);
}

#[test]
fn a_damaged_jvm_17_is_read_without_panic_hang_or_growth() {
    damaged_17(0..2);
}

#[test]
fn a_damaged_jvm_25_is_read_without_panic_hang_or_growth() {
    damaged_25(0..2);
}

#[test]
#[ignore = "long: 54 more damages of each JVM"]
fn damaged_jvms_are_read_without_panic_hang_or_growth() {
    damaged_17(2..8);
    damaged_25(2..8);
}

#[test]
fn seeds_of_the_fuzz_target_are_read_without_panic() {
    let folder = testdata("../fuzz/corpus/memory_snapshot");
    let (mut seeds, mut with_blocks) = (0, 0);
    for entry in fs::read_dir(folder).expect("the seeds").flatten() {
        let bytes = fs::read(entry.path()).expect("a seed");
        let Ok(recording) = Recording::read(bytes.as_slice(), 64 << 20) else { continue };
        seeds += 1;
        for depth in [SnapshotDepth::Structures, SnapshotDepth::Owners] {
            let options = ReadOptions::of_depth(depth);
            let report = within(SECONDS_MAX, || read_source(&recording, &options));
            check(&report);
            let has_blocks =
                |entry: &MemoryEntry| entry.source == FigureSource::Allocator && entry.count.is_some();
            with_blocks += usize::from(report.entries.iter().any(has_blocks));
            println!("{}: {:?} {:?}", entry.path().display(), report.areas, report.problems);
        }
        for seed in 0..50 {
            let source = corrupt(&recording, Damage::new(seed, 50), Place::Anywhere);
            check(&within(SECONDS_MAX, || read_source(&source, &marked())));
        }
    }
    assert!(2 <= seeds && 2 <= with_blocks, "seeds whose malloc blocks are found, not only read past");
}
