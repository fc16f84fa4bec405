//! What a snapshot costs, beside what the JDK has for the same question: `jcmd VM.native_memory` and `System.map`, on the
//! same JVM in the same run. `cargo bench -p assay-memory --bench snapshot`
//!
//! Prints first, once for each way: time, share of the RSS that is explained, and what it did to the target: change of
//! its RSS, and threads that it runs more. Then criterion measures the time. With `ASSAY_BENCH_PID` it looks at that
//! process instead of a small JVM.

use assay_linux::ProcRoot;
use assay_memory::{ReadOptions, SnapshotDepth, read};
use assay_testkit::{Running, find_java, start_java};
use criterion::Criterion;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a way told.
#[derive(Default)]
struct Answer {
    /// Bytes of RSS that have a cause.
    explained_bytes: u64,
    rss_bytes: u64,
    /// CPU time of the reader, where it is this program.
    cpu_ns: Option<u64>,
}

type Way = Box<dyn Fn() -> Answer>;

fn snapshot(pid: u32, depth: SnapshotDepth) -> Answer {
    let report = read(pid, &ReadOptions::of_depth(depth)).expect("a readable process");
    Answer {
        explained_bytes: report.rss_bytes.saturating_sub(report.unknown_bytes),
        rss_bytes: report.rss_bytes,
        cpu_ns: Some(report.scan_cpu_ns),
    }
}

fn jcmd(java: &Path, pid: u32, command: &[&str]) -> String {
    let output = Command::new(java.with_file_name("jcmd")).arg(pid.to_string()).args(command).output();
    String::from_utf8_lossy(&output.expect("jcmd runs").stdout).into_owned()
}

/// `VM.native_memory` and `System.map`; mappings with a tag or a file are explained.
fn ask(java: &Path, pid: u32) -> Answer {
    let summary = jcmd(java, pid, &["VM.native_memory", "summary"]);
    assert!(summary.contains("Total: reserved="), "{summary}");
    let map = jcmd(java, pid, &["System.map"]);
    let rows = map.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut answer = Answer::default();
    for row in rows.filter(|row| row.len() == 8 || row.len() == 9).filter(|row| row[0].starts_with("0x")) {
        let rss_bytes: u64 = row[3].parse().expect("a number of bytes");
        answer.rss_bytes += rss_bytes;
        answer.explained_bytes += if row[7] == "-" { 0 } else { rss_bytes };
    }
    assert_ne!(answer.rss_bytes, 0, "{map}");
    answer
}

/// RSS and threads of the target.
fn target(pid: u32) -> (u64, u64) {
    let proc = ProcRoot::default();
    let rollup = proc.read_smaps_rollup(pid).expect("readable").expect("with memory");
    (rollup.rss_bytes, proc.read_memory_status(pid).expect("readable").threads.unwrap_or(0))
}

fn once(name: &str, pid: u32, way: &dyn Fn() -> Answer) {
    let before = target(pid);
    let began = Instant::now();
    let Answer { explained_bytes, rss_bytes, cpu_ns } = way();
    let took = began.elapsed();
    let after = target(pid);
    let cpu = cpu_ns.map_or_else(String::new, |ns| format!(" ({:.1} ms of CPU)", ns as f64 / 1e6));
    println!(
        "{name}: {:.1} ms{cpu}, {:.3} % of {rss_bytes} bytes explained; RSS {:+} bytes, threads {:+}",
        took.as_secs_f64() * 1e3,
        100.0 * explained_bytes as f64 / rss_bytes as f64,
        after.0.cast_signed() - before.0.cast_signed(),
        after.1.cast_signed() - before.1.cast_signed()
    );
}

/// A JVM at rest that tracks its native memory, without which jcmd has nothing to say.
fn jvm() -> Option<(PathBuf, Running)> {
    let java = find_java(25, 64)?;
    let options = ["-XX:NativeMemoryTracking=summary", "-Xmx256m"];
    let jvm = start_java(&java, &options, &[], "Waiting");
    Some((java, jvm))
}

fn main() {
    let given = std::env::var("ASSAY_BENCH_PID").ok().and_then(|pid| pid.parse().ok());
    let started = if given.is_none() { jvm() } else { None };
    let Some(pid) = given.or(started.as_ref().map(|(_, jvm)| jvm.pid())) else {
        println!("skipped: no 64-bit JDK 25");
        return;
    };
    let mut ways: Vec<(&str, Way)> = vec![
        ("snapshot/structures", Box::new(move || snapshot(pid, SnapshotDepth::Structures))),
        ("snapshot/owners", Box::new(move || snapshot(pid, SnapshotDepth::Owners))),
    ];
    if let Some((java, _)) = &started {
        let java = java.clone();
        ways.push(("jcmd/native_memory+System.map", Box::new(move || ask(&java, pid))));
    }
    // Twice: the first command starts threads of the JVM.
    for _ in 0..2 {
        ways.iter().for_each(|(name, way)| once(name, pid, way));
    }
    let status = ProcRoot::default().read_memory_status(std::process::id()).expect("this process");
    println!("largest RSS of this program so far: {} bytes", status.rss_bytes_max.unwrap_or(0));
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    for (name, way) in &ways {
        criterion.bench_function(name, |bench| bench.iter(way));
    }
    criterion.final_summary();
}
