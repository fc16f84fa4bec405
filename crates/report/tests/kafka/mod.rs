//! A made-up snapshot of a Kafka broker on JDK 17, with figures like those of a real one (G1, no native memory tracking).

mod findings;
mod pages;

use assay_model::{FigureSource as By, *};
use findings::findings;
use pages::pages;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Path, KiB, source, count, explanation. An empty explanation is none.
type Row = (&'static [&'static str], u64, By, u64, &'static str);

const ENTRIES: &[Row] = &[
    (
        &["Java heap", "old", "used"],
        121_856,
        By::VmStructs,
        119,
        "regions of the old generation, up to their tops",
    ),
    (
        &["Java heap", "old", "free but resident"],
        6_144,
        By::VmStructs,
        6,
        "above the tops; held objects once",
    ),
    (&["Java heap", "eden", "used"], 62_464, By::VmStructs, 61, ""),
    (&["Java heap", "survivor"], 4_096, By::VmStructs, 4, ""),
    (&["Java heap", "humongous"], 14_336, By::VmStructs, 14, "arrays larger than half a region"),
    (&["Java heap", "free regions"], 10_752, By::VmStructs, 11, "free, but their pages stay resident"),
    (
        &["class metadata", "non-class metaspace", "used"],
        36_188,
        By::Symbols,
        0,
        "methods, constant pools, annotations",
    ),
    (
        &["class metadata", "non-class metaspace", "free chunks"],
        1_212,
        By::Symbols,
        14,
        "resident, kept for later classes",
    ),
    (&["class metadata", "compressed class space", "used"], 4_416, By::Symbols, 0, "class headers, vtables"),
    (&["class metadata", "compressed class space", "waste"], 328, By::Symbols, 0, ""),
    (
        &["class metadata", "class-data archive", "private"],
        2_060,
        By::VmStructs,
        0,
        "pages that this process changed",
    ),
    (
        &["class metadata", "class-data archive", "shared"],
        10_268,
        By::VmStructs,
        0,
        "mapped file, shared with other JVMs",
    ),
    (&["class metadata", "malloc", "hanging off class loaders"], 3_536, By::Pointers, 21_402, ""),
    (&["GC structures", "remembered sets"], 17_412, By::Pointers, 34_120, "which regions point into which"),
    (&["GC structures", "mark bitmaps"], 16_384, By::Symbols, 2, ""),
    (&["GC structures", "card table"], 2_048, By::VmStructs, 1, ""),
    (&["GC structures", "block offset table"], 2_048, By::Symbols, 1, ""),
    (&["GC structures", "task queues"], 2_540, By::Pointers, 18, ""),
    (
        &["retained by malloc", "arena 0 (main)", "bins"],
        8_204,
        By::Allocator,
        2_031,
        "a trim gives back whole pages of it",
    ),
    (&["retained by malloc", "arena 1", "bins"], 7_420, By::Allocator, 911, ""),
    (&["retained by malloc", "arena 1", "top"], 2_912, By::Allocator, 1, "never given back by a trim"),
    (&["retained by malloc", "arenas 2 to 11", "bins"], 1_804, By::Allocator, 640, ""),
    (&["retained by malloc", "thread caches"], 656, By::Allocator, 5_122, ""),
    (&["code", "libjvm.so", "instructions and constants"], 14_160, By::Kernel, 0, ""),
    (&["code", "libjvm.so", "data"], 1_216, By::Kernel, 0, ""),
    (&["code", "libc.so.6"], 1_404, By::Kernel, 0, ""),
    (&["code", "libstdc++.so.6"], 1_120, By::Kernel, 0, ""),
    (&["code", "libzstd-jni.so"], 632, By::Kernel, 0, ""),
    (&["code", "modules (jimage)"], 2_716, By::Kernel, 0, "the JDK's own classes, as a mapped file"),
    (&["code", "22 other files"], 2_304, By::Kernel, 22, ""),
    (&["JIT-compiled code", "non-profiled methods", "used"], 5_508, By::VmStructs, 3_411, ""),
    (&["JIT-compiled code", "profiled methods", "used"], 9_012, By::VmStructs, 5_904, ""),
    (
        &["JIT-compiled code", "non-methods", "used"],
        1_520,
        By::VmStructs,
        812,
        "stubs, adapters, the interpreter",
    ),
    (&["JIT-compiled code", "free"], 756, By::VmStructs, 0, ""),
    (&["JVM internal", "symbols"], 7_012, By::Content, 98_211, "names of classes, methods and fields"),
    (&["JVM internal", "string table"], 2_824, By::Pointers, 1, ""),
    (&["JVM internal", "threads"], 1_604, By::Pointers, 120, ""),
    (&["JVM internal", "JNI libraries", "libzip"], 1_204, By::Pointers, 611, ""),
    (&["JVM internal", "services"], 924, By::Pointers, 4_022, ""),
    (&["stacks", "Java threads", "touched"], 7_104, By::VmStructs, 71, ""),
    (&["stacks", "GC threads"], 488, By::Symbols, 14, ""),
    (&["stacks", "compiler threads"], 352, By::VmStructs, 2, ""),
    (&["stacks", "native threads"], 84, By::Kernel, 5, ""),
    (&["JIT compiler arenas", "compiler arenas"], 2_016, By::Content, 63, "a compilation is under way"),
    (
        &["JIT compiler arenas", "chunk pool"],
        4_816,
        By::Symbols,
        151,
        "kept for the next compilation, at most 5 s",
    ),
    (&["direct and mapped buffers", "direct", "java.nio.DirectByteBuffer"], 4_204, By::Pointers, 88, ""),
    (&["direct and mapped buffers", "mapped", "index files"], 1_948, By::Kernel, 42, ""),
    (&["allocator overhead", "block headers"], 1_936, By::Allocator, 186_204, ""),
    (&["allocator overhead", "page tails"], 112, By::Allocator, 9, ""),
    (&["other", "vdso"], 4, By::Kernel, 1, ""),
    (
        &["malloc, no known owner", "blocks"],
        53,
        By::Allocator,
        611,
        "in use, and nothing known points at them",
    ),
];

fn provenance() -> Provenance {
    Provenance {
        assay_version: "0.1.0".to_owned(),
        kernel: Some("6.1.0".to_owned()),
        os: Some("Debian GNU/Linux 12".to_owned()),
        architecture: "x86_64".to_owned(),
        cpu_model: Some("A processor".to_owned()),
        cpus: Some(2),
        memory_bytes: Some(8 << 30),
    }
}

/// A text that would run, be markup, or turn what follows, if it were shown as it is.
fn hostile_text() -> String {
    format!("<script>alert('1')</script>\"'&|`*\u{202E}\u{1b}[2J\u{5e9}\u{5dc}{}", "x".repeat(300))
}

/// One snapshot.
pub fn snapshot() -> MemoryReport {
    look_at(0, 1.0)
}

/// The same of a heap so large that owners were not searched for.
pub fn snapshot_without_owners() -> MemoryReport {
    let owners_left_out = OwnersLeftOut {
        heap_resident_bytes: 16 << 30,
        heap_read_bytes_max: 3 << 30,
        heap_read_cpu_ns: 8_000_000_000,
        command: "assay memory 4242 --depth owners".to_owned(),
    };
    MemoryReport {
        depth: Some(SnapshotDepth::Structures),
        owners_left_out: Some(owners_left_out),
        ..snapshot()
    }
}

/// Snapshots over ten minutes, in which direct buffers and remembered sets grow.
pub fn snapshots() -> Vec<MemoryReport> {
    (0..41).map(|i| look_at(i, 1.0 + f64::from(i) * 0.05)).collect()
}

/// A snapshot `step` times 15 s after the first, with what leaks `grown` times its size.
fn look_at(step: i32, grown: f64) -> MemoryReport {
    let wave = |row: &Row| match row.0 {
        ["Java heap", "eden", ..] => 0.55 + 0.45 * f64::from((step * 7 + 12) % 13) / 12.0,
        ["direct and mapped buffers", "direct", ..] => 1.0 + (grown - 1.0) * 12.0,
        ["GC structures", "remembered sets"] => grown.sqrt(),
        _ => 1.0,
    };
    let entries: Vec<MemoryEntry> = ENTRIES
        .iter()
        .map(|row| MemoryEntry {
            pages: Some(pages(row.0, (row.1 as f64 * wave(row)) as u64 * KIB)),
            ranges: None,
            path: row.0.iter().map(|&part| part.to_owned()).collect(),
            resident_bytes: (row.1 as f64 * wave(row)) as u64 * KIB,
            memory_bytes: None,
            size_bytes: None,
            count: (row.3 > 0).then_some(row.3),
            source: row.2,
            explanation: (!row.4.is_empty()).then(|| row.4.to_owned()),
        })
        .collect();
    with_sums(entries, step)
}

fn with_sums(mut entries: Vec<MemoryEntry>, step: i32) -> MemoryReport {
    entries.sort_by_key(|l| std::cmp::Reverse(l.resident_bytes));
    let sum = |of: &dyn Fn(&MemoryEntry) -> bool| {
        entries.iter().filter(|l| of(l)).map(|l| l.resident_bytes).sum::<u64>()
    };
    let mut areas: Vec<AreaBytes> = Area::ALL
        .into_iter()
        .map(|area| AreaBytes { area, resident_bytes: sum(&|l| l.path[0] == area.title()) })
        .filter(|a| a.resident_bytes > 0)
        .collect();
    areas.sort_by_key(|a| std::cmp::Reverse(a.resident_bytes));
    let sources = [By::Kernel, By::VmStructs, By::Symbols, By::Allocator, By::Content, By::Pointers];
    let rss_bytes = sum(&|_| true);
    MemoryReport {
        schema: schema::MEMORY.to_owned(),
        provenance: provenance(),
        pid: 4242,
        program: "java".to_owned(),
        start_ticks: Some(123_456),
        boot_id: Some("0e0c6b3a-1d5f-4c7e-9a51-5c6a1b2c3d4e".to_owned()),
        taken_at: format!("2026-03-01T10:{:02}:{:02}Z", step / 4, step % 4 * 15),
        monotonic_ns: 900_000_000_000 + step as u64 * 15_000_000_000,
        scan_ns: 612_000_000,
        scan_cpu_ns: 574_000_000,
        depth: Some(SnapshotDepth::Owners),
        owners_left_out: None,
        main: Some("kafka.Kafka".to_owned()),
        frozen_ns: None,
        copy: None,
        rss_bytes,
        rss_change_during_scan_bytes: 12_288,
        difference_bytes: 0,
        unknown_bytes: sum(&|l| l.path[0] == Area::MallocHeap.title()),
        inferred_bytes: sum(&|l| l.source.is_inference()),
        areas,
        sources: sources
            .map(|source| SourceBytes { source, resident_bytes: sum(&|l| l.source == source) })
            .into_iter()
            .collect(),
        unknown: unknown(),
        jvm: Some(jvm()),
        allocator: Some(allocator()),
        threads: threads(),
        outside_rss: beside(rss_bytes),
        cgroup: Some(cgroup(rss_bytes)),
        findings: findings(),
        growth: None,
        end: None,
        problems: vec![],
        entries,
    }
}

fn unknown() -> Vec<UnknownPiece> {
    let piece = |what: &str, contents: &str, kib: u64, count| UnknownPiece {
        kind: PieceKind::Block,
        what: what.to_owned(),
        contents: contents.to_owned(),
        resident_bytes: kib * KIB,
        count: Some(count),
    };
    vec![piece("blocks of 4,112 bytes", "text", 33, 8), piece("blocks of 32 bytes", "mixed", 20, 603)]
}

fn jvm() -> JvmMemoryFacts {
    let flags = [("MaxHeapSize", "1073741824"), ("UseG1GC", "true"), ("MaxDirectMemorySize", "0")];
    JvmMemoryFacts {
        has_trim_command: None,
        version: Some("17.0.15+6-Debian-1deb12u1".to_owned()),
        feature: Some(17),
        collector: Some("G1".to_owned()),
        native_memory_tracking: Some("off".to_owned()),
        layout: Some("layout pack 17".to_owned()),
        heap_committed_bytes: Some(512 * MIB),
        heap_used_bytes: Some(198 * MIB),
        heap_bytes_max: Some(1024 * MIB),
        gc_tables_bytes: Some(38 * MIB),
        heap_classes: None,
        heap_live: None,
        metaspace_used_bytes: Some(40 * MIB),
        metaspace_bytes_max: None,
        class_space_bytes_max: Some(1024 * MIB),
        code_cache_used_bytes: Some(16 * MIB),
        code_cache_bytes_max: Some(240 * MIB),
        thread_stack_bytes: Some(MIB),
        direct_bytes_max: Some(1024 * MIB),
        direct_used_bytes: Some(4 * MIB),
        compiling: vec![],
        java_threads: Some(71),
        classes: Some(7_204),
        container: None,
        flags: flags.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
    }
}

fn allocator() -> AllocatorFacts {
    let arena = |index, system: u64, used: u64, bins: u64, top: u64, gain: u64| ArenaFacts {
        index,
        system_bytes: system * KIB,
        used_bytes: used * KIB,
        bins_bytes: Some(bins * KIB),
        fast_bins_bytes: Some(12 * KIB),
        thread_cache_bytes: Some(600 / (u64::from(index) + 1) * KIB),
        top_bytes: Some(top * KIB),
        freed_resident_bytes: Some((bins * 9 / 10 + top) * KIB),
        trim_gain_bytes: Some(gain * KIB),
    };
    AllocatorFacts {
        name: Allocator::Glibc,
        version: Some("2.36".to_owned()),
        used_bytes: Some(44 * MIB),
        used_blocks: Some(186_204),
        freed_bytes: Some(22 * MIB),
        trim_gain_bytes: Some(15_904 * KIB),
        arenas: vec![
            arena(0, 40_120, 31_000, 8_400, 100, 7_900),
            arena(1, 23_004, 12_100, 7_800, 2_912, 7_004),
            arena(2, 3_004, 1_200, 1_700, 80, 1_000),
        ],
    }
}

fn threads() -> Vec<ThreadMemory> {
    let thread = |tid, name: &str, kind, kib: u64, stale| ThreadMemory {
        tid,
        name: name.to_owned(),
        kind,
        stack_bytes: Some(MIB),
        stack_resident_bytes: kib * KIB,
        stack_stale_bytes: Some(stale * KIB),
    };
    vec![
        thread(4243, "main", ThreadKind::Java, 412, 380),
        thread(4260, "C2 CompilerThread0", ThreadKind::Compiler, 260, 244),
        thread(4301, "data-plane-kafka-request-handler-0", ThreadKind::Java, 148, 112),
        thread(4302, "data-plane-kafka-request-handler-1", ThreadKind::Java, 144, 112),
        thread(4248, "G1 Conc#0", ThreadKind::Gc, 64, 40),
    ]
}

fn beside(rss_bytes: u64) -> OutsideRss {
    OutsideRss {
        vm_rss_bytes: Some(rss_bytes - 4 * KIB),
        rss_peak_bytes: Some(rss_bytes + 9 * MIB),
        pss_bytes: Some(rss_bytes - 11 * MIB),
        uss_bytes: Some(rss_bytes - 14 * MIB),
        shared_bytes: Some(14 * MIB),
        swap_bytes: Some(0),
        page_tables_bytes: Some(1_412 * KIB),
        kernel_stacks_bytes: Some(92 * 16 * KIB),
        huge_pages_bytes: Some(0),
        hugetlb_bytes: None,
        locked_bytes: Some(0),
        threads: Some(92),
    }
}

fn cgroup(rss_bytes: u64) -> CgroupMemory {
    CgroupMemory {
        path: "/system.slice/kafka.service".to_owned(),
        current_bytes: Some(rss_bytes + 190 * MIB),
        limit_bytes: Some(1536 * MIB),
        peak_bytes: Some(rss_bytes + 240 * MIB),
        anonymous_bytes: Some(rss_bytes - 33 * MIB),
        file_bytes: Some(218 * MIB),
        inactive_file_bytes: Some(160 * MIB),
        shmem_bytes: Some(0),
        kernel_stacks_bytes: Some(92 * 16 * KIB),
        page_tables_bytes: Some(1_412 * KIB),
        slab_bytes: Some(2 * MIB),
        sockets_bytes: Some(40 * KIB),
        kernel_bytes: None,
        processes_rss_bytes: Some(rss_bytes),
        processes: Some(1),
        unexplained_bytes: Some(124 * 1024),
        oom_kills: Some(0),
        limit_hits: Some(0),
    }
}

/// What limit the broker needs.
pub fn advice() -> Advice {
    let line = |name: &str, now: u64, bound: u64, from: &str, is_hard| AdviceLine {
        name: name.to_owned(),
        now_bytes: now * KIB,
        peak_bytes: Some(now * KIB + now * 16),
        bound_bytes: bound * KIB,
        bound_from: from.to_owned(),
        is_hard,
        certainty: Some(if is_hard { Certainty::Known } else { Certainty::Unknown }),
    };
    let lines = vec![
        line("Java heap", 219_648, 1_048_576, "MaxHeapSize", true),
        line("direct and mapped buffers", 6_152, 1_048_576, "MaxDirectMemorySize (the heap's limit)", true),
        line("JIT-compiled code", 16_796, 245_760, "ReservedCodeCacheSize", true),
        line("class metadata", 58_008, 69_610, "now + 20 %", false),
        line("stacks", 8_028, 9_634, "now + 20 %", false),
        line("everything else", 99_000, 118_800, "now + 20 %", false),
        line("page tables and kernel stacks", 2_884, 3_461, "now + 20 %", false),
    ];
    let limit = lines.iter().map(|l| l.bound_bytes).sum::<u64>().div_ceil(MIB) * MIB;
    Advice {
        observed_limit_bytes: Some(504 * MIB),
        observed_peak_bytes: Some(420 * MIB),
        group_bytes: Some(611 * MIB),
        direct_beyond_bytes: Some(1_018 * MIB),
        schema: schema::MEMORY_ADVICE.to_owned(),
        provenance: provenance(),
        pid: 4242,
        program: "java".to_owned(),
        limit_bytes: limit,
        now_bytes: lines.iter().map(|l| l.now_bytes).sum(),
        current_limit_bytes: Some(1536 * MIB),
        lines,
        settings: vec![Finding {
            gain_bytes: Some(960 * MIB),
            ..Finding::measured(
                RuleId::of("direct-limit-above-use"),
                Severity::Warning,
                "Direct buffers may grow to the size of the heap",
                "MaxDirectMemorySize is not set; 4.1 MiB are in use",
            )
            .to_do("Set -XX:MaxDirectMemorySize=64m")
        }],
        problems: vec![],
    }
}

/// What changed from the first snapshot to the last.
pub fn change() -> MemoryChange {
    let snapshots = snapshots();
    let (before, after) = (&snapshots[0], &snapshots[snapshots.len() - 1]);
    let mut causes: Vec<Cause> = before
        .entries
        .iter()
        .filter_map(|entry| {
            let later = after.entries.iter().find(|l| l.path == entry.path)?;
            (later.resident_bytes != entry.resident_bytes).then(|| Cause {
                path: entry.path.clone(),
                before_bytes: entry.resident_bytes,
                after_bytes: later.resident_bytes,
                count_change: (entry.path[0] == "direct and mapped buffers").then_some(211),
                source: entry.source,
                explanation: "look at who allocates it, and who keeps it".to_owned(),
            })
        })
        .collect();
    causes.sort_by_key(|c| std::cmp::Reverse(c.change_bytes()));
    let explained: i64 = causes.iter().map(Cause::change_bytes).sum();
    MemoryChange {
        schema: schema::MEMORY_CHANGE.to_owned(),
        pid: Some(4242),
        elapsed_ns: Some(after.monotonic_ns - before.monotonic_ns),
        before_bytes: before.rss_bytes,
        after_bytes: after.rss_bytes,
        explained_bytes: explained,
        explained_share: Some(1.0),
        causes,
        growth: None,
        problems: vec![],
    }
}

/// A snapshot in which all that comes from the process is hostile, and the entries do not add up.
pub fn hostile_snapshot() -> MemoryReport {
    let mut snapshot = snapshot();
    let hostile = hostile_text();
    snapshot.program.clone_from(&hostile);
    for entry in snapshot.entries.iter_mut().step_by(5) {
        entry.path.insert(1, hostile.clone());
        entry.path.extend(std::iter::repeat_n(hostile.clone(), 40));
        entry.explanation = Some(hostile.clone());
    }
    snapshot.entries[7].path.clear();
    snapshot.entries[8].resident_bytes = u64::MAX / 2;
    snapshot.entries[9].resident_bytes = u64::MAX;
    snapshot.threads[0].name.clone_from(&hostile);
    snapshot.unknown[0].what.clone_from(&hostile);
    snapshot.findings[0].claim.clone_from(&hostile);
    snapshot.findings[0].evidence.push(hostile.clone());
    snapshot.findings[0].change = Some(Change { command: hostile.clone(), ..Change::default() });
    snapshot.findings[1].gain_bytes = Some(u64::MAX);
    snapshot.problems.push(Problem::new(hostile.clone(), hostile));
    snapshot
}
