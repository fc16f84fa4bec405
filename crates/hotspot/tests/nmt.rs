//! Native memory tracking: headers found in memory against the JVM's counters, and these against its own report.

use crate::support;
use crate::support::javas;
use assay_hotspot::{Hotspot, Nmt, NmtLevel, Scanned};
use assay_linux::{LiveProcess, Mapping, MemorySource, ProcRoot};
use assay_testkit::{
    Running, TrackedMemory, each_release, find_java, find_library, skip, start_java, tracked_memory,
    tracking_report,
};
use std::path::Path;

/// How often the frozen comparison is repeated; more by `ASSAY_TEST_NMT_REPEATS`.
const REPEATS: u32 = 3;
/// Stops that one comparison may take. A thread that is stopped between counting a block and writing its header (or freeing it) makes
/// the JVM's own books differ by that block; what a reader gets wrong is there in every stop.
const STOPS_MAX: u32 = 5;

fn process(jvm: &Running) -> LiveProcess {
    LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child's memory")
}

/// What is said of native memory tracking that it could not be read.
fn problems(hotspot: &Hotspot<'_>) -> Vec<String> {
    let own = hotspot.problems().into_iter().filter(|problem| problem.about == "native memory tracking");
    own.map(|problem| problem.text).collect()
}

/// Writable anonymous memory: wherever an allocator may have its blocks, and all that is not one as well.
fn is_writable_anonymous(mapping: &&Mapping) -> bool {
    let is_anonymous =
        mapping.name.is_empty() || mapping.name == "[heap]" || mapping.name.starts_with("[anon");
    mapping.permissions.starts_with(b"rw") && is_anonymous
}

/// Blocks and bytes by tag, by the headers in memory.
fn scan(nmt: &Nmt, source: &dyn MemorySource) -> (Vec<(u64, u64)>, Scanned) {
    let mut found = vec![(0, 0); nmt.tags.len()];
    let mut all = Scanned::default();
    for mapping in source.mappings().iter().filter(is_writable_anonymous) {
        let scanned = nmt.scan(source, mapping.addresses.clone(), |_, header| {
            let (blocks, bytes) = &mut found[usize::from(header.tag)];
            *blocks += 1;
            *bytes += header.asked_bytes;
        });
        let scanned = scanned.expect("headers with canaries");
        all.bytes += scanned.bytes;
        all.unreadable_bytes += scanned.unreadable_bytes;
        all.refused += scanned.refused;
    }
    (found, all)
}

/// What differs between headers and counters of a frozen JVM, tag by tag; and the number of blocks.
fn differences(jvm: &Running) -> (Vec<String>, u64) {
    jvm.freeze();
    let source = process(jvm);
    let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
    let nmt = hotspot.nmt();
    assert!(nmt.is_tracking());
    assert_eq!(problems(&hotspot), [""; 0]);
    let (found, scanned) = scan(&nmt, &source);
    jvm.thaw();
    assert_eq!(scanned.unreadable_bytes, 0);
    assert_eq!(nmt.counters.len(), nmt.tags.len());
    let differ = nmt.counters.iter().zip(&found).filter_map(|(counted, (blocks, bytes))| {
        let is_equal = (counted.malloc_count, counted.malloc_bytes) == (*blocks, *bytes);
        (!is_equal).then(|| format!("{counted:?}, found {blocks} blocks with {bytes} bytes"))
    });
    (differ.collect(), found.iter().map(|(blocks, _)| blocks).sum())
}

fn check(java: &Path, options: &[&str], preload: Option<&str>, program: &str) {
    let environment: Vec<_> = preload.map(|library| ("LD_PRELOAD", library)).into_iter().collect();
    let jvm = start_java(java, options, &environment, program);
    let repeats = std::env::var("ASSAY_TEST_NMT_REPEATS").ok().and_then(|n| n.parse().ok());
    let mut blocks_min = u64::MAX;
    let mut failed = Vec::new();
    let repeats = repeats.unwrap_or(REPEATS);
    for repeat in 0..repeats {
        let mut differ = Vec::new();
        for _ in 0..STOPS_MAX {
            let blocks;
            (differ, blocks) = differences(&jvm);
            blocks_min = blocks_min.min(blocks);
            std::thread::sleep(std::time::Duration::from_millis(10));
            if differ.is_empty() {
                break;
            }
            println!("a stop that differs: {differ:?}");
        }
        if !differ.is_empty() {
            failed.push(format!("repeat {repeat}: {differ:?}"));
        }
    }
    println!(
        "{} {preload:?} {program}: {} of {repeats} equal, at least {blocks_min} blocks",
        java.display(),
        repeats as usize - failed.len()
    );
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(1_000 < blocks_min, "a JVM has more blocks than {blocks_min}");
}

const SUMMARY: &str = "-XX:NativeMemoryTracking=summary";

#[test]
fn headers_equal_counters_of_a_frozen_jvm() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        check(java, &["-Xmx256m", SUMMARY], None, "Waiting");
        check(java, &["-Xmx256m", "-XX:NativeMemoryTracking=detail", "-XX:+UseSerialGC"], None, "Waiting");
    }
}

#[test]
fn headers_equal_counters_while_memory_is_churned() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        check(java, &["-Xmx256m", SUMMARY], None, "Churning");
    }
}

#[test]
fn headers_equal_counters_with_other_allocators() {
    let javas = javas(64);
    let libraries = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"];
    let libraries: Vec<_> = libraries.into_iter().filter_map(find_library).collect();
    if javas.is_empty() || libraries.is_empty() {
        skip!("no 64-bit JDK, or neither jemalloc nor tcmalloc");
    }
    for (_, java) in &javas {
        for library in &libraries {
            check(java, &["-Xmx256m", SUMMARY], library.to_str(), "Waiting");
        }
    }
}

#[test]
fn headers_of_a_32_bit_jvm_equal_its_counters() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JVM") };
    check(&java, &["-Xmx256m", SUMMARY], None, "Waiting");
}

/// What several looks in a row find alike: the JVM has done with what it was asked for.
fn at_rest(memory: impl Fn() -> LiveProcess) -> Nmt {
    let look = || Hotspot::open(&memory()).expect("a readable JVM").expect("a JVM").nmt();
    let (mut nmt, mut alike) = (look(), 0);
    for _ in 0..600 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let next = look();
        alike = if next.counters == nmt.counters { alike + 1 } else { 0 };
        nmt = next;
        if alike == 3 {
            break;
        }
    }
    nmt
}

#[test]
fn counters_equal_what_jcmd_reports() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        // The interpreter alone, so that the JVM has nothing of its own to do between the two looks.
        let jvm = support::Jvm::start(java, &["-Xint", SUMMARY]).expect("a JVM");
        // The first command starts a thread in the JVM.
        jvm.jcmd(&["VM.native_memory", "summary", "scale=1"]);
        let nmt = at_rest(|| jvm.process());
        assert_eq!(nmt.level, NmtLevel::Summary);
        let by_tag = tracked_memory(&jvm.jcmd(&["VM.native_memory", "summary", "scale=1"]));
        assert!(12 < by_tag.len(), "{by_tag:?}");
        let mut equal = 0;
        for counted in &nmt.counters {
            let Some(tracked) = by_tag.get(&counted.tag).copied() else {
                // A tag with nothing in it is not printed.
                assert_eq!(counted.malloc_count, 0, "{counted:?}");
                continue;
            };
            let TrackedMemory { malloc_bytes: bytes, reserved_bytes, committed_bytes, .. } = tracked;
            let said = [bytes, tracked.malloc_count, tracked.arena_bytes, tracked.arena_count];
            // What of the stacks is committed is looked up while the report is made.
            if counted.tag != "Thread Stack" {
                let mapped = (counted.reserved_bytes, counted.committed_bytes);
                assert_eq!(mapped, (Some(reserved_bytes), Some(committed_bytes)), "{}", counted.tag);
            }
            let malloc_bytes = match counted.tag.as_str() {
                // Less what lies in live arenas, which the JVM books to the arenas' owners.
                "Arena Chunk" => {
                    let in_arenas = nmt.counters.iter().map(|counters| counters.arena_bytes).sum();
                    counted.malloc_bytes.checked_sub(in_arenas).expect("chunks hold arenas")
                }
                _ => counted.malloc_bytes,
            };
            let read = [malloc_bytes, counted.malloc_count, counted.arena_bytes, counted.arena_count];
            match counted.tag.as_str() {
                // The report's own buffer, and the baseline from which it is printed.
                "Internal" => assert!(bytes.abs_diff(malloc_bytes) <= 2 << 20, "{said:?} {read:?}"),
                "Native Memory Tracking" => {
                    assert!(bytes.abs_diff(malloc_bytes) <= 64 << 10, "{said:?} {read:?}");
                }
                // The command's thread allocates while it prints, and the command has arguments.
                "Thread" | "Arena Chunk" | "Serviceability" => {
                    assert!(bytes.abs_diff(malloc_bytes) <= 64 << 10, "{}: {said:?} {read:?}", counted.tag);
                }
                tag => {
                    assert_eq!(said, read, "{tag}: what jcmd says, and what is read");
                    equal += 1;
                }
            }
        }
        assert!(10 <= equal, "only {equal} tags");
        assert!(nmt.thread_stacks.is_some_and(|stacks| 12 <= stacks), "{:?}", nmt.thread_stacks);
    }
}

/// Tags that the command leaves alone, of which something differs, of a JVM at rest.
fn differing_tags(feature: u32, java: &Path, options: &[&str]) -> Vec<String> {
    let jvm = start_java(java, &[options, &["-Xint", SUMMARY]].concat(), &[], "Impostor");
    let (report, unit_bytes) = tracking_report(feature);
    jvm.jcmd(&report);
    let nmt = at_rest(|| process(&jvm));
    let by_tag = tracked_memory(&jvm.jcmd(&report));
    let in_unit = |bytes: u64| (bytes + unit_bytes / 2) / unit_bytes;
    let tags = ["Java Heap", "Class", "Code", "GC", "Compiler", "Symbol"];
    let differs = |tag: &&str| {
        let Some(read) = nmt.counters_of(tag) else { return true };
        // What is less than half a unit is not printed, nor how many it is.
        let said = by_tag.get(*tag).copied().unwrap_or_default();
        let of = |bytes: u64, count: u64| (in_unit(bytes), if in_unit(bytes) == 0 { 0 } else { count });
        let malloc = of(read.malloc_bytes, read.malloc_count) == (said.malloc_bytes, said.malloc_count);
        let arenas = of(read.arena_bytes, read.arena_count) == (said.arena_bytes, said.arena_count);
        let mapped = (read.reserved_bytes.map(in_unit), read.committed_bytes.map(in_unit));
        !malloc || !arenas || mapped != (Some(said.reserved_bytes), Some(said.committed_bytes))
    };
    let differing = tags.into_iter().filter(differs);
    differing.map(|tag| format!("{tag}: {:?}, said {:?}", nmt.counters_of(tag), by_tag.get(tag))).collect()
}

/// JDK 8 comes without symbols.
#[test]
fn counters_are_found_by_their_shape_where_no_symbol_names_them() {
    let Some(java) = find_java(8, 64) else { skip!("no JDK 8") };
    for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseConcMarkSweepGC", "-XX:+UseG1GC"] {
        assert_eq!(differing_tags(8, &java, &[collector]), [""; 0], "{collector}");
    }
}

#[test]
fn the_file_behind_a_heap_is_counted_as_the_jvm_reports_it() {
    let mut ran = 0;
    for (feature, java) in each_release(64).into_iter().filter(|(feature, _)| 25 <= *feature) {
        assert_eq!(differing_tags(feature, &java, &["-XX:+UseZGC"]), [""; 0], "JDK {feature}");
        ran += 1;
    }
    if ran == 0 {
        skip!("no JDK 25");
    }
}

#[test]
fn the_level_of_each_release_is_the_one_that_was_asked_for() {
    let javas: Vec<_> = [64, 32].into_iter().flat_map(each_release).collect();
    if javas.is_empty() {
        skip!("no JDK");
    }
    for (feature, java) in javas {
        for (asked, level) in
            [("off", NmtLevel::Off), ("summary", NmtLevel::Summary), ("detail", NmtLevel::Detail)]
        {
            let asked = format!("-XX:NativeMemoryTracking={asked}");
            let jvm = start_java(&java, &["-Xmx128m", "-Xint", &asked], &[], "Waiting");
            let source = process(&jvm);
            let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
            assert_eq!(hotspot.nmt().level, level, "JDK {feature}, {}: {asked}", java.display());
            // Without symbols, as JDK 8 comes, the flag tells, and that is said.
            if hotspot.symbols().has_symtab() {
                assert_eq!(problems(&hotspot), [""; 0], "JDK {feature}: {asked}");
            }
        }
    }
}

#[test]
fn a_jvm_that_tracks_nothing_says_so() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        let jvm = support::Jvm::start(java, &[]).expect("a JVM");
        let source = jvm.process();
        let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
        let nmt = hotspot.nmt();
        assert_eq!(nmt, Nmt::off());
        assert_eq!(nmt.scan(&source, 0..u64::MAX, |_, _| unreachable!("no headers")), None);
        assert_eq!(problems(&hotspot), [""; 0]);
    }
}
