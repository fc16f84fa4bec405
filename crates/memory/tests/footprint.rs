//! Looking leaves no footprints: the target is as large afterwards as it was before, runs no thread more, was never
//! traced, and none of its files was touched.

use assay_linux::{LiveProcess, MemorySource, ProcRoot};
use assay_memory::{ReadOptions, SnapshotDepth, read};
use assay_testkit::{Running, each_java, find_java, skip, start_java};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Snapshots of each depth.
const LOOKS: usize = 10;
const UNTOUCHED_BYTES: u64 = 64 << 20;

/// What a snapshot might change.
#[derive(Debug, PartialEq)]
struct State {
    rss_bytes: u64,
    anonymous_bytes: Option<u64>,
    swap_bytes: Option<u64>,
    page_tables_bytes: Option<u64>,
    threads: Vec<u32>,
    mappings: String,
    /// Names in its folder with the times of access, of change of content and of change of facts.
    files: BTreeMap<String, [i64; 6]>,
    /// Names in /tmp that hold its number: sockets and triggers of the attach mechanism, counters.
    of_its_number: Vec<String>,
}

fn state(pid: u32, folder: &Path) -> State {
    let proc = ProcRoot::default();
    let status = proc.read_memory_status(pid).expect("our child");
    // What is shared depends on other JVMs that come and go; what is dirty, on the kernel's writing back.
    let rollup = proc.read_smaps_rollup(pid).expect("our child").expect("with memory");
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let times = |name: &String| {
        let facts = fs::metadata(folder.join(name)).expect("a file of the target");
        let [a, m, c] = [
            (facts.atime(), facts.atime_nsec()),
            (facts.mtime(), facts.mtime_nsec()),
            (facts.ctime(), facts.ctime_nsec()),
        ];
        [a.0, a.1, m.0, m.1, c.0, c.1]
    };
    let mut threads: Vec<u32> = names(Path::new(&format!("/proc/{pid}/task")))
        .iter()
        .map(|tid| tid.parse().expect("a number"))
        .collect();
    threads.sort_unstable();
    let mut of_its_number = names(Path::new("/tmp"));
    of_its_number.retain(|name| name.contains(&pid.to_string()));
    of_its_number.sort();
    State {
        rss_bytes: rollup.rss_bytes,
        anonymous_bytes: rollup.anonymous_bytes,
        swap_bytes: rollup.swap_bytes,
        page_tables_bytes: status.page_tables_bytes,
        threads,
        mappings: fs::read_to_string(format!("/proc/{pid}/maps")).expect("our child"),
        files: names(folder)
            .into_iter()
            .chain([".".to_owned()])
            .map(|name| (name.clone(), times(&name)))
            .collect(),
        of_its_number,
    }
}

fn tracer(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("our child");
    status.lines().find_map(|line| line.strip_prefix("TracerPid:\t")).expect("a line").to_owned()
}

/// Looks ten times while another thread watches who traces the target.
fn snapshot_untraced(pid: u32, depth: SnapshotDepth) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut snapshots = 0;
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(tracer(pid), "0");
                snapshots += 1;
            }
            snapshots
        });
        for _ in 0..LOOKS {
            let report = read(pid, &ReadOptions::of_depth(depth)).expect("our child");
            assert!(report.jvm.is_some());
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(LOOKS < watch.join().expect("never traced"));
    });
}

fn start(java: &Path, folder: &Path) -> Running {
    let mapped = format!("-Dmapped={}", folder.join("mapped").display());
    let jvm = start_java(java, &["-Xmx64m", &mapped], &[], "Untouched");
    // Of a file that was read since it was written, most file systems do not note the next time of access. The loader of
    // files looks into this one, since a page of it is resident.
    let touched = fs::File::options().write(true).open(folder.join("mapped.touched")).expect("its file");
    let now = SystemTime::now();
    let times = fs::FileTimes::new().set_modified(now).set_accessed(now - Duration::from_secs(3600));
    touched.set_times(times).expect("our file");
    jvm
}

/// Mappings of at least 64 MiB of which nothing is resident: the file, and the block of malloc.
fn untouched(pid: u32) -> (usize, usize) {
    let source = LiveProcess::open(&ProcRoot::default(), pid).expect("our child");
    let large = source.mappings().iter().filter(|m| UNTOUCHED_BYTES <= m.size_bytes());
    // malloc writes the block's size in front of it: one page.
    let cold: Vec<_> = large.filter(|m| m.rss_bytes <= 4096 && m.permissions[1] == b'w').collect();
    let files = cold.iter().filter(|m| m.name.ends_with("/mapped")).count();
    (files, cold.iter().filter(|m| m.name.is_empty() && m.size_bytes() < 2 * UNTOUCHED_BYTES).count())
}

/// On a JVM that stands still, nothing at all may change.
fn leaves_no_footprints(feature: u32) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let jvm = start(&java, folder.path());
    jvm.freeze();
    let (files, blocks) = untouched(jvm.pid());
    assert!(files == 1 && 1 <= blocks, "{files} files, {blocks} blocks");
    for depth in [SnapshotDepth::Structures, SnapshotDepth::Owners] {
        let before = state(jvm.pid(), folder.path());
        snapshot_untraced(jvm.pid(), depth);
        let after = state(jvm.pid(), folder.path());
        assert_eq!(before, after, "{depth:?}");
    }
    assert_eq!(untouched(jvm.pid()), (files, blocks));
}

#[test]
fn a_frozen_jvm_17_is_the_same_after_twenty_looks() {
    leaves_no_footprints(17);
}

#[test]
fn a_frozen_jvm_25_is_the_same_after_twenty_looks() {
    leaves_no_footprints(25);
}

/// A JVM at rest works a little on its own; what is asserted is what no idle JVM does.
#[test]
fn a_running_jvm_gets_no_thread_and_no_page_of_what_it_never_touched() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no 64-bit JDK") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let jvm = start(&java, folder.path());
    let before = (state(jvm.pid(), folder.path()), untouched(jvm.pid()));
    for depth in [SnapshotDepth::Structures, SnapshotDepth::Owners] {
        snapshot_untraced(jvm.pid(), depth);
    }
    let after = (state(jvm.pid(), folder.path()), untouched(jvm.pid()));
    println!(
        "RSS {} before, {} after; page tables {:?}, {:?}",
        before.0.rss_bytes, after.0.rss_bytes, before.0.page_tables_bytes, after.0.page_tables_bytes
    );
    assert!(after.0.threads.iter().all(|tid| before.0.threads.contains(tid)), "threads were started");
    assert_eq!((before.0.files, before.0.of_its_number), (after.0.files, after.0.of_its_number));
    assert_eq!(before.1, after.1);
}
