//! Growth by cause: seeded leaks in pairs of snapshots, each with the noise of a living server beside it.

use crate::report::{MIB, Snapshot};
use assay_memory::explain_change;
use assay_model::{Cause, FigureSource, MemoryChange, MemoryEntry, MemoryReport, ThreadKind};
use proptest::prelude::*;

/// A server at work: everything moves a little between two snapshots.
fn server(second: u64) -> Snapshot {
    let wave = |bytes: u64| bytes + second % 7 * (40 << 10);
    Snapshot::plain_jvm()
        .entry("JVM internal/strings", wave(4 * MIB))
        .entry("JVM internal/libraries of the JDK/libzip.so", wave(MIB))
        .entry("code/libzip.so/code", MIB)
        .entry("JIT compiler arenas/idle chunk pool", wave(2 * MIB))
        .entry("allocator overhead/headers", wave(MIB))
        .entry("retained by malloc/main arena/bins", wave(3 * MIB))
        .entry("malloc, no known owner", 30 << 10)
        .after_s(second)
}

fn change(before: &Snapshot, after: &Snapshot) -> MemoryChange {
    let change = explain_change(&before.0, &after.0);
    let sum: i64 = change.causes.iter().map(Cause::change_bytes).sum();
    assert_eq!(sum, after.0.rss_bytes.cast_signed() - before.0.rss_bytes.cast_signed(), "{change:#?}");
    change
}

/// The first cause explains at least 95 % of the growth, and has this path.
#[track_caller]
fn first_cause(before: &Snapshot, after: &Snapshot, path: &str) -> Cause {
    let change = change(before, after);
    let first = change.causes[0].clone();
    assert_eq!(first.path.join("/"), path, "{change:#?}");
    let growth = change.after_bytes - change.before_bytes;
    assert!(growth as f64 * 0.95 <= first.change_bytes() as f64, "{change:#?}");
    assert!(change.explained_share.is_some_and(|share| 0.95 <= share), "{change:#?}");
    assert!(!first.explanation.is_empty());
    first
}

#[test]
fn more_memory_of_as_many_threads_is_not_told_as_if_threads_had_been_added() {
    let snapshot = |second, bytes, threads| {
        let snapshot = server(second).entry("JVM internal/threads", bytes);
        snapshot.with(|report| report.outside_rss.threads = Some(threads))
    };
    let before = snapshot(0, MIB, 40);
    let told =
        |threads| first_cause(&before, &snapshot(60, 30 * MIB, threads), "JVM internal/threads").explanation;
    assert!(told(40).contains("40 threads as before"), "{}", told(40));
    assert!(told(90).contains("40 threads before, 90 after"), "{}", told(90));
    let on_stacks = server(60).entry("JVM internal/on stacks only", 30 * MIB);
    let cause = first_cause(&server(0), &on_stacks, "JVM internal/on stacks only");
    assert!(cause.explanation.contains("work under way"), "{}", cause.explanation);
}

#[test]
fn a_leak_of_direct_buffers_is_named_with_their_holder() {
    let buffers = "direct and mapped buffers/java.nio.DirectByteBuffer";
    let before = server(0).entry(buffers, 10 * MIB).count(10);
    let after = server(60).entry(buffers, 110 * MIB).count(110);
    let cause = first_cause(&before, &after, buffers);
    assert_eq!((cause.before_bytes, cause.after_bytes, cause.count_change), (10 * MIB, 110 * MIB, Some(100)));
    assert!(cause.explanation.contains("MaxDirectMemorySize"), "{}", cause.explanation);
}

#[test]
fn a_leak_of_deflaters_is_named_and_told_what_to_do() {
    let after = server(60).entry("direct and mapped buffers/java.util.zip.Deflater", 60 * MIB).count(900);
    let cause = first_cause(&server(0), &after, "direct and mapped buffers/java.util.zip.Deflater");
    assert!(cause.explanation.contains("end()"), "{}", cause.explanation);
}

#[test]
fn a_leak_in_native_code_is_named_by_its_library() {
    let library = "native libraries/libleaky.so";
    let cause = first_cause(&server(0).entry(library, MIB), &server(60).entry(library, 81 * MIB), library);
    assert!(cause.explanation.contains("libleaky.so"), "{}", cause.explanation);
}

#[test]
fn a_leak_of_class_loaders_is_one_cause_with_the_loader_named() {
    let loader = |snapshot: Snapshot, times: u64, classes: u64| {
        snapshot
            .entry("class metadata/non-class/used/com.example.Plugin", times * 6 * MIB)
            .count(times)
            .entry("class metadata/class space/used/com.example.Plugin", times * MIB)
            .entry("class metadata/malloc", times * MIB / 2)
            .jvm(|jvm| jvm.classes = Some(classes))
    };
    let before = loader(server(0), 1, 5_000);
    let cause = first_cause(&before, &loader(server(60), 11, 25_000), "class metadata");
    assert!(cause.explanation.contains("5000 classes before, 25000 after"), "{}", cause.explanation);
    assert!(
        cause.explanation.contains("Class loaders called com.example.Plugin: 1 before, 11 after"),
        "{}",
        cause.explanation
    );
    assert!(
        cause.explanation.contains("non-class: used: com.example.Plugin +60.0 MiB"),
        "{}",
        cause.explanation
    );
}

#[test]
fn a_leak_of_threads_is_named_with_their_pool() {
    let mut after = server(60).threads(200, ThreadKind::Java, Some(MIB), 100 << 10);
    for i in 0..200 {
        after = after.entry(&format!("stacks/Java/worker-{i}/touched"), 100 << 10);
    }
    let cause = first_cause(&server(0), &after, "stacks/Java");
    assert_eq!(cause.count_change, Some(200));
    assert!(
        cause.explanation.contains("0 before, 200 after, 200 of the new ones called worker-#"),
        "{}",
        cause.explanation
    );
}

#[test]
fn a_leak_of_more_threads_than_have_leaves_is_named_with_their_pool() {
    let entry = "stacks/Java/worker-#/stale, below SP";
    let after =
        server(60).threads(400, ThreadKind::Java, Some(MIB), 100 << 10).entry(entry, 400 * (100 << 10));
    let cause = first_cause(&server(0), &after, "stacks/Java/worker-#");
    assert_eq!(cause.count_change, Some(400));
    assert!(cause.explanation.contains("400 of the new ones called worker-#"), "{}", cause.explanation);
}

#[test]
fn one_deep_stack_is_named_by_its_thread() {
    let stack = "stacks/Java/main/in use";
    let snapshots = [server(0).entry(stack, MIB), server(60).entry(stack, 30 * MIB)];
    let cause = first_cause(&snapshots[0], &snapshots[1], "stacks/Java/main");
    assert!(cause.explanation.contains("deeper calls"), "{}", cause.explanation);
}

#[test]
fn freed_memory_in_many_arenas_is_one_cause() {
    let mut after = server(60);
    for arena in 1..9 {
        after = after.entry(&format!("retained by malloc/arena {arena}/bins"), 10 * MIB);
    }
    let cause = first_cause(&server(0), &after, "retained by malloc");
    assert!(cause.explanation.contains("--trim"), "{}", cause.explanation);
}

#[test]
fn mapped_files_are_one_cause_and_a_single_file_is_named() {
    let mut after = server(60);
    for i in 0..20 {
        after = after.entry(&format!("code/mapped files/index-{i}"), 2 * MIB);
    }
    first_cause(&server(0), &after, "code/mapped files");
    first_cause(
        &server(0),
        &server(60).entry("code/mapped files/index", 40 * MIB),
        "code/mapped files/index",
    );
}

#[test]
fn huge_pages_are_named_where_memory_became_resident_without_use() {
    let snapshot = |second: u64, huge: u64, slack: u64| {
        server(second)
            .entry("retained by malloc/arena 1/top", MIB + slack)
            .size(60 * MIB)
            .entry("stacks/Java/main/stale, below SP", slack)
            .with(|report| report.outside_rss.huge_pages_bytes = Some(huge))
    };
    let cause = first_cause(&snapshot(0, 0, 0), &snapshot(60, 52 * MIB, 26 * MIB), "transparent huge pages");
    assert_eq!(cause.change_bytes(), 52 * MIB as i64);
    // The same growth without huge pages is what it seems to be.
    let change = change(&snapshot(0, 0, 0), &snapshot(60, 0, 26 * MIB));
    assert!(change.causes.iter().all(|cause| cause.path[0] != "transparent huge pages"), "{change:#?}");
}

#[test]
fn memory_that_a_program_mapped_itself_is_named_by_its_huge_pages() {
    let snapshot = |second: u64, bytes: u64, huge: u64| {
        server(second)
            .entry("no known region/anonymous memory", bytes)
            .with(|report| report.outside_rss.huge_pages_bytes = Some(huge))
    };
    first_cause(&snapshot(0, MIB, 0), &snapshot(60, 61 * MIB, 60 * MIB), "transparent huge pages");
    let small = change(&snapshot(0, MIB, 0), &snapshot(60, 61 * MIB, 4 * MIB));
    assert_eq!(small.causes[0].path[0], "no known region", "too few of them to be the cause");
}

#[test]
fn freed_memory_is_not_blamed_on_huge_pages() {
    let snapshot = |second: u64, huge: u64, freed: u64| {
        server(second)
            .entry("retained by malloc/arena 1/bins", freed)
            .size(freed)
            .with(|report| report.outside_rss.huge_pages_bytes = Some(huge))
    };
    let cause =
        first_cause(&snapshot(0, 0, 0), &snapshot(60, 50 * MIB, 50 * MIB), "retained by malloc/arena 1/bins");
    assert!(cause.explanation.contains("huge pages grew by 50.0 MiB"), "{}", cause.explanation);
}

#[test]
fn a_heap_that_grows_is_named_by_its_space() {
    let cause = first_cause(
        &server(0).entry("Java heap/humongous/used", 0),
        &server(60).entry("Java heap/humongous/used", 64 * MIB),
        "Java heap/humongous/used",
    );
    assert!(cause.explanation.contains("GC.class_histogram"), "{}", cause.explanation);
}

#[test]
fn unknown_growth_explains_nothing() {
    let change = change(&server(0), &server(0).entry("no known region/anonymous memory", 50 * MIB));
    assert_eq!((change.explained_bytes, change.explained_share), (0, Some(0.0)));
    assert_eq!(change.causes[0].path[0], "no known region");
}

#[test]
fn what_shrank_comes_last_and_nothing_is_explained_of_no_change() {
    let before = server(0).entry("stacks/Java/a/touched", 10 * MIB);
    let after = server(0).entry("direct and mapped buffers/java.nio.DirectByteBuffer", 10 * MIB);
    let moved = change(&before, &after);
    let signs: Vec<i64> = moved.causes.iter().map(|cause| cause.change_bytes().signum()).collect();
    assert_eq!((signs, moved.explained_share), (vec![1, -1], None));
    let same = change(&before, &before);
    assert_eq!((same.causes, same.explained_bytes, same.explained_share), (vec![], 0, None));
}

#[test]
fn what_a_running_process_changed_between_the_reads_is_a_cause_of_its_own() {
    let before = server(0);
    let after = server(60).with(|report| report.rss_bytes += MIB);
    let change = change(&before, &after);
    let cause =
        change.causes.iter().find(|cause| cause.path == ["changed while it was read"]).expect("a cause");
    assert_eq!(cause.change_bytes(), MIB as i64);
}

#[test]
fn time_is_told_where_both_clocks_agree_and_other_processes_are_noticed() {
    let minute = change(&server(0), &server(60));
    assert_eq!((minute.elapsed_ns, minute.pid, minute.problems), (Some(60_000_000_000), Some(4242), vec![]));
    let none = |after: Snapshot| {
        let change = explain_change(&server(100).0, &after.0);
        assert!(change.elapsed_ns.is_none() && !change.problems.is_empty(), "{change:#?}");
    };
    none(server(60));
    none(server(160).with(|report| report.taken_at = "2026-02-02T03:04:05Z".to_owned()));
    none(server(160).with(|report| report.provenance.kernel = Some("6.2.0".to_owned())));
    let other = explain_change(&server(0).0, &server(60).with(|report| report.pid = 4243).0);
    assert_eq!((other.pid, other.problems.len()), (None, 1));
}

#[test]
fn a_server_that_was_started_anew_under_its_number_is_another_process() {
    let start = |ticks| move |report: &mut MemoryReport| report.start_ticks = ticks;
    let to = |after: Snapshot| explain_change(&server(0).0, &after.0);
    let anew = to(server(60).with(start(Some(777))));
    assert_eq!((anew.pid, anew.problems.len()), (None, 1));
    assert!(anew.problems[0].text.contains("java 4242 was restarted"), "{:?}", anew.problems);
    let rebooted = to(server(60).with(|report| report.boot_id = Some("another".to_owned())));
    assert_eq!((rebooted.pid, rebooted.problems.len()), (None, 1));
    let old = to(server(60).with(start(None)));
    assert_eq!((old.pid, old.problems), (Some(4242), vec![]), "snapshots of old have no start");
}

fn any_entries() -> impl Strategy<Value = Vec<MemoryEntry>> {
    let areas = [
        "Java heap",
        "class metadata",
        "stacks",
        "retained by malloc",
        "no known region",
        "JVM internal",
        "native libraries",
        "new",
    ];
    let part = prop::sample::select(vec!["a", "b", "libraries of the JDK", "unused above top", "used"]);
    let path = (prop::sample::select(areas.to_vec()), prop::collection::vec(part, 0..4));
    let bytes = prop_oneof![0..200 * MIB, Just(0), Just(u64::MAX / 64)];
    let entry =
        (path, bytes, any::<Option<u64>>(), any::<Option<u64>>()).prop_map(|(path, bytes, size, count)| {
            MemoryEntry {
                pages: None,
                ranges: None,
                path: std::iter::once(path.0).chain(path.1).map(str::to_owned).collect(),
                resident_bytes: bytes,
                memory_bytes: None,
                size_bytes: size,
                count,
                source: FigureSource::Kernel,
                explanation: None,
            }
        });
    prop::collection::vec(entry, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn causes_add_up_to_the_change_and_never_overlap(
        before in any_entries(),
        after in any_entries(),
        huge in any::<Option<u64>>(),
        drift in -(100 * MIB as i64)..100 * MIB as i64,
    ) {
        let snapshot = |entries: &Vec<MemoryEntry>, drift: i64| Snapshot::new().with(|report| {
            let sum: u64 = entries.iter().map(|entry| entry.resident_bytes).sum();
            report.rss_bytes = sum.saturating_add_signed(drift);
            report.entries.clone_from(entries);
        });
        let after = snapshot(&after, drift).with(|report| report.outside_rss.huge_pages_bytes = huge);
        let before = snapshot(&before, 0).with(|report| report.outside_rss.huge_pages_bytes = Some(0));
        let change = change(&before, &after);
        let mut paths: Vec<_> = change.causes.iter().map(|cause| &cause.path).collect();
        let causes = paths.len();
        paths.sort();
        paths.dedup();
        prop_assert_eq!(paths.len(), causes);
        let ordered = change.causes.windows(2).all(|pair| pair[1].change_bytes() <= pair[0].change_bytes());
        prop_assert!(ordered);
        prop_assert!(change.explained_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
}
