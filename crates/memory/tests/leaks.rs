//! Java heaps that leak in a known place, and heaps that do not: what is alive, what holds it, and the verdict.
//!
//! Time is that of the snapshots, one each ten seconds; how long steps really take changes nothing.
//! `cargo test -p assay-memory --test all leaks:: -- --include-ignored --nocapture` prints the figures as a table.

use crate::probes::{Probe, built};
use crate::report::MIB;
use assay_memory::{MarkHeap, ReadOptions, SnapshotDepth, judge_growth, read};
use assay_model::{GrowthKind, HeapLive, MemoryReport};
use assay_testkit::{Running, each_java, each_release, java_command, skip};
use std::path::Path;

const OPTIONS: [&str; 3] = ["-Xmx384m", "-XX:+UseG1GC", "-Xmn32m"];
const COLLECTORS: [&str; 3] = ["-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"];

struct Program(Running);

impl Program {
    fn start(java: &Path, options: &[&str], plant: &str) -> Program {
        let mut command = java_command(java, options, "Leaks");
        command.arg(plant).env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
        Program(Running::start(&mut command, "ready"))
    }

    /// One step; the bytes that the plant holds after it.
    fn step(&mut self) -> u64 {
        self.0.ask("step").trim().parse().expect("a number")
    }

    fn snapshot(&self) -> MemoryReport {
        let options =
            ReadOptions { mark_heap: MarkHeap::Always, ..ReadOptions::of_depth(SnapshotDepth::Owners) };
        read(self.0.pid(), &options).expect("our child")
    }

    /// The same as if nobody had asked for a mark.
    fn plain_snapshot(&self) -> MemoryReport {
        read(self.0.pid(), &ReadOptions::of_depth(SnapshotDepth::Owners)).expect("our child")
    }

    /// Whether the JVM exports what a walk over its heap needs (JDK 8 does not for G1).
    fn tells_classes(&self) -> bool {
        self.snapshot().jvm.is_some_and(|jvm| jvm.heap_classes.is_some())
    }

    fn live(&self) -> HeapLive {
        let snapshot = self.snapshot();
        let live = snapshot.jvm.and_then(|jvm| jvm.heap_live);
        live.unwrap_or_else(|| panic!("a mark: {:?}", snapshot.problems))
    }

    /// Snapshots after so many steps each, as if ten seconds lay between them.
    fn record(&mut self, snapshots: u64) -> Vec<MemoryReport> {
        let mut record = Vec::new();
        for number in 0..snapshots {
            self.step();
            let mut snapshot = self.snapshot();
            snapshot.monotonic_ns = (number + 1) * 10_000_000_000;
            record.push(snapshot);
        }
        record
    }
}

#[test]
#[ignore = "long: four JVMs of each release"]
fn what_is_alive_is_found_and_garbage_is_not() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        println!("JDK {feature}");
        for collector in COLLECTORS {
            let case = format!("JDK {feature} {collector}");
            let mut program = Program::start(&java, &["-Xmx256m", "-Xms256m", collector], "cache");
            let held: u64 = (0..5).map(|_| program.step()).last().expect("steps");
            if !program.tells_classes() {
                // A reason is said, and it is not one of another collector.
                let problems = program.snapshot().problems;
                let why = problems.iter().find(|problem| problem.about == "live objects");
                let why = why.unwrap_or_else(|| panic!("{case}: nothing is said: {problems:?}"));
                println!("{case}: {}", why.text);
                assert!(!why.text.contains("that is done for"), "{case}: {}", why.text);
                continue;
            }
            let live = program.live();
            let cache = live.holders.iter().find(|of| of.name == "Leaks$Cache.ENTRIES");
            let bytes = cache.unwrap_or_else(|| panic!("{case}: {:?}", live.holders)).bytes;
            assert!(held <= bytes && bytes < held + held / 10, "{case}: {bytes} of {held}");
            assert!(live.live_bytes < held + 24 * MIB, "{case}: {} live, {held} held", live.live_bytes);
            assert!(!live.is_partial, "{case}");
        }
        // Room for both steps, 32 MiB each: no collection takes the garbage away.
        let mut program =
            Program::start(&java, &["-Xmx512m", "-Xms512m", "-Xmn300m", COLLECTORS[0]], "churn");
        program.step();
        program.step();
        if !program.tells_classes() {
            continue;
        }
        let live = program.live();
        assert!(live.live_bytes < 24 * MIB, "JDK {feature}: {} of garbage are alive", live.live_bytes);
        assert!(60 * MIB < live.dead_bytes, "JDK {feature}: {}", live.dead_bytes);
    }
}

/// As `GarbageHeap`: little is alive in a large heap.
#[test]
#[ignore = "long: a heap of a GiB"]
fn a_large_heap_of_garbage_is_marked_without_being_asked_and_a_live_one_is_not() {
    let Some((_, java)) = each_java(64).into_iter().next_back() else { skip!("no 64-bit JDK") };
    let options = ["-Xms1200m", "-Xmx1200m", "-Xmn1000m"];
    let mut garbage = Program::start(&java, &options, "churn");
    (0..16).for_each(|_| assert_ne!(garbage.step(), 0));
    let live = |snapshot: &MemoryReport| snapshot.jvm.as_ref().and_then(|jvm| jvm.heap_live.clone());
    let snapshot = garbage.plain_snapshot();
    let found = live(&snapshot).unwrap_or_else(|| panic!("a mark: {:?}", snapshot.problems));
    println!(
        "{} ms of CPU time, {} alive, {} garbage",
        snapshot.scan_cpu_ns / 1_000_000,
        found.live_bytes,
        found.dead_bytes
    );
    assert!(found.live_bytes < 32 * MIB && 300 * MIB < found.dead_bytes, "{found:?}");
    let mut held = Program::start(&java, &["-Xmx600m"], "cache");
    (0..60).for_each(|_| assert_ne!(held.step(), 0));
    let snapshot = held.plain_snapshot();
    println!("{} ms of CPU time for what is alive", snapshot.scan_cpu_ns / 1_000_000);
    println!("{} ms with a mark", held.snapshot().scan_cpu_ns / 1_000_000);
    assert_eq!(live(&snapshot), None, "too much is alive");
}

struct Leak {
    plant: &'static str,
    /// How the first of what grows is called.
    holder: &'static str,
}

const LEAKS: [Leak; 3] = [
    Leak { plant: "cache", holder: "static field Leaks$Cache.ENTRIES" },
    Leak { plant: "thread-local", holder: "thread-local Leaks$Locals.CONTEXT of request-worker" },
    Leak { plant: "queue", holder: "thread slow-consumer" },
];

#[test]
#[ignore = "long: seven snapshots of each leak on each JDK"]
fn planted_leaks_of_the_heap_are_named_first_within_a_minute() {
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let mut wrong = Vec::new();
    for (feature, java) in &javas {
        for leak in &LEAKS {
            let record = Program::start(java, &OPTIONS, leak.plant).record(7);
            let verdict = judge_growth(&record);
            let first = verdict.growing.first();
            let path = first.map_or_else(String::new, |first| first.path.join(" > "));
            let rate = first.map_or(0.0, |first| first.rate_bytes_per_s.estimate / MIB as f64);
            println!("JDK {feature} | {:12} | {} | {rate:.2} MiB/s | {path}", leak.plant, verdict.kind);
            if verdict.kind != GrowthKind::Growing || !path.ends_with(leak.holder) {
                wrong.push(format!("JDK {feature}, {}: {verdict:#?}", leak.plant));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs that do not leak: churn, warm-up, caches and pools that fill, garbage that a collection has yet to free.
const HEALTHY: [&str; 8] =
    ["bounded-cache", "filling-cache", "pool", "warm-up", "dying", "churn", "dead-buffers", "bursts"];

/// Twenty minutes.
const HEALTHY_SNAPSHOTS: u64 = 121;

#[test]
#[ignore = "long: 121 snapshots of each program"]
fn healthy_programs_do_not_grow_after_they_have_levelled_off() {
    let Some((feature, java)) = each_java(64).into_iter().next_back() else { skip!("no 64-bit JDK") };
    let mut wrong = Vec::new();
    for plant in HEALTHY {
        let record = Program::start(&java, &OPTIONS, plant).record(HEALTHY_SNAPSHOTS);
        // Six steps fill the largest of them; a third as long again, and nothing may seem to grow.
        let claimed: Vec<usize> = (12..=record.len())
            .filter(|end| judge_growth(&record[..*end]).kind == GrowthKind::Growing)
            .collect();
        let verdict = judge_growth(&record);
        println!("JDK {feature} | {plant:13} | {} | growing at {claimed:?}", verdict.kind);
        let alive = |snapshot: &MemoryReport| {
            snapshot.jvm.as_ref()?.heap_live.as_ref().map(|live| live.live_bytes >> 10)
        };
        println!("alive (KiB): {:?}", record.iter().map(alive).collect::<Vec<_>>());
        let of_malloc = |snapshot: &MemoryReport| {
            let entries = snapshot.entries.iter().filter(|of| of.path[0] == "retained by malloc");
            entries.map(|of| of.resident_bytes).sum::<u64>() >> 10
        };
        println!("retained by malloc (KiB): {:?}", record.iter().map(of_malloc).collect::<Vec<_>>());
        println!("{:?}", verdict.evidence);
        // "Too short" is said of what is not told yet: not wrong, and printed above.
        if !claimed.is_empty() {
            let claims: Vec<_> = claimed.iter().map(|end| judge_growth(&record[..*end]).growing).collect();
            wrong.push(format!("{plant}: {verdict:#?} {claims:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Native leaks of the probes: what is asked for, by how much it grows with each snapshot, and how the first of what grows begins.
const NATIVE: [(&str, u32, &[&str]); 11] = [
    (
        "direct 0 64k",
        80,
        &["direct and mapped buffers", "java.nio.DirectByteBuffer", "assay.probes.buffers.DirectBuffers"],
    ),
    ("malloc 0 40000", 150, &["native libraries", "libprobe.so"]),
    (
        "deflaters 0",
        20,
        &["direct and mapped buffers", "java.util.zip.Deflater", "assay.probes.zip.Deflaters"],
    ),
    (
        "inflaters 0",
        130,
        &["direct and mapped buffers", "java.util.zip.Inflater", "assay.probes.zip.Inflaters"],
    ),
    ("loaders 0 20", 60, &["class metadata"]),
    ("mapped 0 1m", 6, &["direct and mapped buffers", "mapped files"]),
    ("threads 0 200k", 30, &["stacks", "Java"]),
    ("arenas 0 500 8k", 2, &["retained by malloc"]),
    ("peers 0 40000", 150, &["direct and mapped buffers", "assay.probes.malloc.PeerBlocks$Peer"]),
    ("references 0 1000", 4000, &["Java heap", "JVM or native code (JNI references)"]),
    (
        FOREIGN,
        80,
        &["direct and mapped buffers", "java.lang.foreign.MemorySegment", "assay.probes.malloc.Segments"],
    ),
];
/// Foreign memory: that of JDK 22 and later.
const FOREIGN: &str = "segments 0 64k";
const FOREIGN_SINCE: u32 = 22;

#[test]
#[ignore = "long: seven snapshots of each leak on each JDK"]
fn planted_native_leaks_are_named_first_within_a_minute() {
    let Some(folder) = built() else { skip!("the probes are not built: workloads/probes/build") };
    let mut wrong = Vec::new();
    for (feature, java) in each_java(64) {
        for (kind, grow, path) in NATIVE {
            if kind == FOREIGN && feature < FOREIGN_SINCE {
                continue;
            }
            let mut probe = Probe::start(&java, &folder, kind, &[]);
            let mut record = Vec::new();
            for number in 1..=7 {
                probe.ask(&format!("grow {grow}"));
                let mut snapshot = probe.marked_snapshot();
                snapshot.monotonic_ns = number * 10_000_000_000;
                record.push(snapshot);
            }
            let verdict = judge_growth(&record);
            let first = verdict.growing.first().map_or_else(Vec::new, |first| first.path.clone());
            println!("JDK {feature} | {kind:15} | {} | {}", verdict.kind, first.join(" > "));
            if verdict.kind != GrowthKind::Growing || !first.iter().zip(path).all(|(a, b)| a == b) {
                wrong.push(format!("JDK {feature}, {kind}: {verdict:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
