//! A snapshot whose depth is left open: as deep as the size of the Java heap allows, and it says what it left out.

use assay_memory::{ReadOptions, SnapshotDepth, explain_change, read};
use assay_model::{Area, MemoryReport};
use assay_testkit::{find_java, skip, start_java};
use std::time::Duration;

/// Less than the 32 MiB of arrays that the program keeps, and more.
const BOUND_BELOW: u64 = 16 << 20;
const BOUND_ABOVE: u64 = 1 << 30;

fn with_bound(pid: u32, heap_read_bytes_max: u64) -> MemoryReport {
    read(pid, &ReadOptions { heap_read_bytes_max, ..ReadOptions::default() }).expect("our child")
}

#[test]
fn a_heap_beyond_the_bound_is_not_read_and_the_look_says_so_with_the_command_for_the_rest() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    // Most of the heap is resident but holds no object: only what would be read counts.
    let jvm = start_java(&java, &["-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch"], &[], "Waiting");
    jvm.freeze();
    let pid = jvm.pid();
    let [full, quick] = [BOUND_ABOVE, BOUND_BELOW].map(|bound| with_bound(pid, bound));
    assert_eq!((full.depth, full.owners_left_out.as_ref()), (Some(SnapshotDepth::Owners), None));
    assert_eq!(quick.depth, Some(SnapshotDepth::Structures));
    let left_out = quick.owners_left_out.as_ref().expect("the reason");
    assert!((32 << 20..128 << 20).contains(&left_out.heap_resident_bytes), "{left_out:?}");
    assert_eq!(left_out.heap_read_bytes_max, BOUND_BELOW);
    assert_eq!(left_out.command, format!("assay memory {pid} --depth owners"));
    // The bound itself is still read.
    let at_bound = with_bound(pid, left_out.heap_resident_bytes);
    assert_eq!(at_bound.depth, Some(SnapshotDepth::Owners));
    for snapshot in [&full, &quick] {
        let sum: u64 = snapshot.entries.iter().map(|entry| entry.resident_bytes).sum();
        assert_eq!((sum, snapshot.difference_bytes), (snapshot.rss_bytes, 0));
        assert!(snapshot.entries.iter().all(|entry| entry.resident_bytes != 0));
    }
    let direct = |snapshot: &MemoryReport| snapshot.jvm.as_ref().expect("a JVM").direct_used_bytes;
    assert!(direct(&full).is_some());
    assert_eq!(direct(&quick), None, "not known, which is not none");
    // Nobody looked for owners: there is nothing to say of those that were not found.
    assert!(quick.findings.iter().all(|finding| finding.rule != "unknown-large"), "{:?}", quick.findings);
    // A depth that was asked for is kept whatever it takes.
    let asked = ReadOptions { heap_read_bytes_max: 0, ..ReadOptions::of_depth(SnapshotDepth::Owners) };
    assert_eq!(read(pid, &asked).expect("our child").depth, Some(SnapshotDepth::Owners));
}

#[test]
fn two_depths_of_a_process_that_stands_still_are_no_growth() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    for tracking in ["off", "summary"] {
        let tracking = format!("-XX:NativeMemoryTracking={tracking}");
        let jvm = start_java(&java, &["-Xmx128m", &tracking], &[], "Waiting");
        jvm.freeze();
        let [full, quick] = [BOUND_ABOVE, BOUND_BELOW].map(|bound| with_bound(jvm.pid(), bound));
        let malloc = |snapshot: &MemoryReport| {
            snapshot.areas.iter().find(|a| a.area == Area::MallocHeap).map(|a| a.resident_bytes)
        };
        assert_ne!(malloc(&full), malloc(&quick), "the snapshots differ in what they tell apart");
        for (before, after) in [(&full, &quick), (&quick, &full)] {
            let change = explain_change(before, after);
            assert!(change.causes.is_empty(), "{tracking}: {:#?}", change.causes);
            let told = |problem: &assay_model::Problem| problem.text.contains("--depth owners");
            assert!(change.problems.iter().any(told), "{:?}", change.problems);
        }
        assert!(
            explain_change(&full, &full).problems.is_empty(),
            "snapshots of one depth are compared as they are"
        );
    }
}

#[test]
fn what_was_copied_and_what_was_read_later_is_said_and_the_sum_is_exact_in_any_case() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let freeze = Some(Duration::from_secs(30));
    let sum =
        |snapshot: &MemoryReport| snapshot.entries.iter().map(|entry| entry.resident_bytes).sum::<u64>();
    // A heap of 400 MiB is not copied, one of 64 MiB is.
    for (heap, is_copied) in [("400m", false), ("64m", true)] {
        let sizes = [format!("-Xms{heap}"), format!("-Xmx{heap}")];
        let jvm = start_java(&java, &[&sizes[0], &sizes[1], "-XX:+AlwaysPreTouch"], &[], "Churning");
        let options = ReadOptions { freeze, ..ReadOptions::of_depth(SnapshotDepth::Owners) };
        let snapshot = read(jvm.pid(), &options).expect("our child");
        let copy = snapshot.copy.as_ref().expect("it was copied");
        assert_eq!(copy.left_out_bytes, 0, "{:?}", snapshot.problems);
        assert_eq!(copy.heap_read_later_bytes == 0, is_copied, "{copy:?}");
        let heap_bytes =
            snapshot.areas.iter().find(|a| a.area == Area::JavaHeap).map_or(0, |a| a.resident_bytes);
        // Of each region the pages with objects, and not the others.
        let used_bytes = snapshot.jvm.as_ref().and_then(|jvm| jvm.heap_used_bytes).expect("a heap");
        let without_unused = snapshot.rss_bytes - (heap_bytes - used_bytes) + (1 << 20);
        let expected = if is_copied { used_bytes..without_unused } else { 0..heap_bytes };
        assert!(expected.contains(&copy.copied_bytes), "{copy:?}, heap {heap_bytes}, {used_bytes} used");
        assert!(
            snapshot.frozen_ns.is_some_and(|ns| copy.copy_ns < ns && ns < snapshot.scan_ns),
            "{snapshot:?}"
        );
        assert_eq!(
            (sum(&snapshot), snapshot.difference_bytes, snapshot.rss_change_during_scan_bytes),
            (snapshot.rss_bytes, 0, 0)
        );
        assert!(snapshot.threads.iter().any(|thread| thread.name == "main"), "{:?}", snapshot.threads);
        // Next to nothing finds room.
        let snapshot =
            read(jvm.pid(), &ReadOptions { copy_bytes_max: 1 << 20, ..options }).expect("our child");
        let copy = snapshot.copy.as_ref().expect("it was copied");
        assert_eq!(copy.copied_bytes, 1 << 20);
        assert!(10 << 20 < copy.left_out_bytes, "{copy:?}");
        assert!(snapshot.problems.iter().any(|p| p.about == "copy"), "{:?}", snapshot.problems);
        assert_eq!((sum(&snapshot), snapshot.difference_bytes), (snapshot.rss_bytes, 0));
    }
    // A snapshot of a running process copies nothing: its memory is bounded whatever the size of the process.
    let jvm = start_java(&java, &["-Xmx64m"], &[], "Churning");
    assert_eq!(read(jvm.pid(), &ReadOptions::default()).expect("our child").copy, None);
}
