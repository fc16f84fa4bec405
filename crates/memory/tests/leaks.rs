//! Java heaps that leak in a known place, and heaps that do not: what is alive, what holds it, and the verdict.
//!
//! Time is that of the snapshots, one each ten seconds; how long steps really take changes nothing.
//! `cargo test -p assay-memory --test all leaks:: -- --include-ignored --nocapture` prints the figures as a table.

use crate::report::MIB;
use assay_memory::{ReadOptions, SnapshotDepth, judge_growth, read};
use assay_model::{GrowthKind, HeapLive, MemoryReport};
use assay_testkit::{Running, each_java, java_command, skip};
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
        let options = ReadOptions { mark_heap: true, ..ReadOptions::of_depth(SnapshotDepth::Owners) };
        read(self.0.pid(), &options).expect("our child")
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
fn what_is_alive_is_found_and_garbage_is_not() {
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        for collector in COLLECTORS {
            let case = format!("JDK {feature} {collector}");
            let mut program = Program::start(&java, &["-Xmx256m", "-Xms256m", collector], "cache");
            let held: u64 = (0..5).map(|_| program.step()).last().expect("steps");
            let live = program.live();
            let cache = live.holders.iter().find(|of| of.name == "Leaks$Cache.ENTRIES");
            let bytes = cache.unwrap_or_else(|| panic!("{case}: {:?}", live.holders)).bytes;
            assert!(held <= bytes && bytes < held + held / 10, "{case}: {bytes} of {held}");
            assert!(live.live_bytes < held + 24 * MIB, "{case}: {} live, {held} held", live.live_bytes);
            assert!(!live.is_partial, "{case}");
        }
        let mut program = Program::start(&java, &["-Xmx256m", "-Xms256m", COLLECTORS[0]], "churn");
        program.step();
        program.step();
        let live = program.live();
        assert!(live.live_bytes < 24 * MIB, "JDK {feature}: {} of garbage are alive", live.live_bytes);
        assert!(8 * MIB < live.dead_bytes, "JDK {feature}: {}", live.dead_bytes);
    }
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

#[test]
#[ignore = "long: 120 snapshots of each program"]
fn healthy_programs_do_not_grow_after_they_have_levelled_off() {
    let Some((feature, java)) = each_java(64).into_iter().next_back() else { skip!("no 64-bit JDK") };
    let mut wrong = Vec::new();
    for plant in ["bounded-cache", "dying", "churn", "warm-up"] {
        let record = Program::start(&java, &OPTIONS, plant).record(120);
        // Six steps fill the largest of them; a third as long again, and nothing may seem to grow.
        let claimed: Vec<usize> = (12..=record.len())
            .filter(|end| judge_growth(&record[..*end]).kind == GrowthKind::Growing)
            .collect();
        let verdict = judge_growth(&record);
        println!("JDK {feature} | {plant:13} | {} | growing at {claimed:?}", verdict.kind);
        if !claimed.is_empty() || verdict.kind == GrowthKind::TooShort {
            let claims: Vec<_> = claimed.iter().map(|end| judge_growth(&record[..*end]).growing).collect();
            wrong.push(format!("{plant}: {verdict:#?} {claims:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
