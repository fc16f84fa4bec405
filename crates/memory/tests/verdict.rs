//! Verdicts over records that tests make: each kind, and the edges.

use crate::report::{MIB, Snapshot};
use assay_memory::{growth_finding, judge_growth};
use assay_model::{
    CgroupMemory, ClassObjects, GrowthGround, GrowthKind, GrowthVerdict, HeapHolder, HeapLive, HolderKind,
    MemoryEnd, MemoryReport, Problem, SnapshotDepth,
};
use assay_testkit::assert_one_step_each;

/// So many snapshots, one each ten seconds; `grown` makes each of the plain JVM and its number.
fn record(count: u64, grown: impl Fn(Snapshot, u64) -> Snapshot) -> Vec<MemoryReport> {
    (0..count).map(|i| grown(Snapshot::plain_jvm(), i).after_s(10 * i).0).collect()
}

fn judged(count: u64, grown: impl Fn(Snapshot, u64) -> Snapshot) -> GrowthVerdict {
    judge_growth(&record(count, grown))
}

const BUFFERS: &str = "direct and mapped buffers/java.nio.DirectByteBuffer";

fn live(live_mib: u64, dead_mib: u64, holders: &[(&str, u64)]) -> HeapLive {
    let holder = |(name, mib): &(&str, u64)| HeapHolder {
        kind: HolderKind::StaticField,
        name: (*name).to_owned(),
        objects: 1_000,
        bytes: mib * MIB,
        classes: vec![ClassObjects { class: "app.Entry".to_owned(), objects: 1_000, bytes: mib * MIB }],
    };
    HeapLive {
        live_bytes: live_mib * MIB,
        unsure_bytes: 0,
        dead_bytes: dead_mib * MIB,
        is_partial: false,
        holders: holders.iter().map(holder).collect(),
    }
}

#[test]
fn a_native_owner_that_grows_is_named_with_rate_and_holder() {
    let verdict = judged(7, |plain, i| plain.entry(&format!("{BUFFERS}/app.Pool"), (20 + 5 * i) * MIB));
    assert_eq!(
        (verdict.kind, verdict.snapshots, verdict.elapsed_ns),
        (GrowthKind::Growing, 7, 60_000_000_000)
    );
    let [grower] = &verdict.growing[..] else { panic!("{:?}", verdict.growing) };
    assert_eq!(grower.path.join("/"), format!("{BUFFERS}/app.Pool"));
    assert_eq!(grower.ground, GrowthGround::Resident);
    assert_eq!((grower.before_bytes, grower.after_bytes), (20 * MIB, 50 * MIB));
    assert_eq!((grower.since.as_str(), grower.since_ns), ("2026-01-02T03:04:05Z", 60_000_000_000));
    let (low, high) = grower.rate_bytes_per_s.ends().expect("an interval");
    let rate = MIB as f64 / 2.0;
    assert!(0.0 < low && low <= rate && rate <= high, "{grower:?}");
    assert!(grower.explanation.contains("app.Pool"), "{}", grower.explanation);
}

#[test]
fn what_grows_is_a_finding_that_names_the_holder_and_when_the_limit_is_reached() {
    let mut snapshots = record(7, |plain, i| plain.entry(&format!("{BUFFERS}/app.Pool"), (20 + 5 * i) * MIB));
    let verdict = judge_growth(&snapshots);
    let last = snapshots.last_mut().expect("snapshots");
    last.cgroup = Some(CgroupMemory {
        current_bytes: Some(900 * MIB),
        limit_bytes: Some(960 * MIB),
        ..CgroupMemory::default()
    });
    let found = growth_finding(&verdict, last).expect("it grows");
    assert!(found.claim.ends_with("app.Pool grows"), "{found:?}");
    // 0.5 MiB a second, and room for 60.
    assert!(found.evidence_line().contains("the limit is reached in 2 min"), "{found:?}");
    assert_eq!(found.resident_bytes, Some(50 * MIB));
    assert_one_step_each(found.ways());
    let still = judged(7, |plain, _| plain);
    assert!(growth_finding(&still, last).is_none(), "{still:?}");
}

#[test]
fn a_record_of_a_process_that_is_gone_is_not_to_be_continued() {
    let mut snapshots = record(2, |plain, i| plain.entry(&format!("{BUFFERS}/app.Pool"), (20 + 5 * i) * MIB));
    assert!(judge_growth(&snapshots).come_back_after_ns.is_some());
    snapshots[1].end = Some(MemoryEnd {
        ended_at: "2026-01-02T03:04:09Z".to_owned(),
        oom_kills: Some(1),
        limit_hits: Some(3),
        limit_bytes: Some(260 * MIB),
        processes: Some(1),
    });
    let verdict = judge_growth(&snapshots);
    assert_eq!((verdict.kind, verdict.come_back_after_ns), (GrowthKind::TooShort, None));
}

#[test]
fn what_grows_fastest_is_first() {
    let verdict = judged(7, |plain, i| {
        plain
            .entry("native libraries/libslow.so", (10 + 2 * i) * MIB)
            .entry("native libraries/libfast.so", (10 + 7 * i) * MIB)
    });
    let names: Vec<&str> = verdict.growing.iter().map(|grower| grower.path[1].as_str()).collect();
    assert_eq!(names, ["libfast.so", "libslow.so"]);
}

#[test]
fn dead_buffers_are_not_called_growth() {
    let verdict = judged(7, |plain, i| plain.entry(BUFFERS, (20 + 5 * i) * MIB));
    assert_eq!(verdict.kind, GrowthKind::TooShort, "nothing is known to hold them");
    assert!(verdict.evidence.iter().any(|text| text.contains("nothing is known to hold")), "{verdict:?}");
}

#[test]
fn a_snapshot_that_lost_the_holders_of_buffers_is_passed_over() {
    // A collection moved objects while they were read: in the second snapshot the blocks have no owner, in the others the buffers no holder.
    for lost in [vec![1, 9], vec![10], vec![4, 5]] {
        let verdict = judged(11, |plain, i| {
            let bytes = (5 + 8 * i) * MIB;
            match lost.contains(&i) {
                false => plain.entry(&format!("{BUFFERS}/app.Pool"), bytes),
                true if i == 1 => plain
                    .entry("malloc, no known owner/in use", bytes)
                    .with(|report| report.unknown_bytes = bytes),
                true => plain.entry(BUFFERS, bytes),
            }
        });
        let names: Vec<String> = verdict.growing.iter().map(|grower| grower.path.join("/")).collect();
        assert_eq!(names, [format!("{BUFFERS}/app.Pool")], "{lost:?}: {verdict:?}");
        let told = format!("{} snapshots say nothing of memory outside", lost.len());
        assert!(verdict.evidence.iter().any(|text| text.starts_with(&told)), "{verdict:?}");
    }
}

/// Of one record of a program that keeps all buffers in a pool, which slow snapshots did not find.
#[test]
fn buffers_that_have_a_holder_again_were_not_dead() {
    let bytes = |i: u64| (4 + 9 * i) * MIB;
    let record = |lost: &[u64]| {
        judged(7, |plain, i| {
            let none = if i < 4 { "perhaps no object holds it" } else { "no object holds it" };
            let holder = if lost.contains(&i) { none } else { "app.Pool" };
            plain.entry(&format!("{BUFFERS}/{holder}"), bytes(i))
        })
    };
    for lost in [vec![0, 1, 3, 5], vec![0, 1, 2, 3, 4, 5], vec![2]] {
        let verdict = record(&lost);
        let [grower] = &verdict.growing[..] else { panic!("{lost:?}: {verdict:?}") };
        assert_eq!(grower.path.join("/"), format!("{BUFFERS}/app.Pool"));
        assert_eq!(verdict.evidence, Vec::<String>::new());
    }
    let last = record(&[6]);
    assert_eq!((last.kind, last.growing.len()), (GrowthKind::TooShort, 0), "{last:?}");
    assert!(last.evidence.iter().any(|text| text.contains("may have lost their holders")), "{last:?}");
}

#[test]
fn stacks_of_threads_that_are_native_in_one_snapshot_grow_all_the_same() {
    let verdict = judged(7, |plain, i| {
        let kind = if i == 4 { "native" } else { "Java" };
        plain.entry(&format!("stacks/{kind}/session-#/in use"), (4 + 9 * i) * MIB)
    });
    let [grower] = &verdict.growing[..] else { panic!("{verdict:?}") };
    assert_eq!(grower.path[..2], ["stacks", "Java"]);
}

#[test]
fn what_has_lost_its_owner_for_good_is_not_passed_over() {
    let verdict = judged(20, |plain, i| {
        let of_libx = plain.entry("native libraries/libx.so", if i < 2 { 20 * MIB } else { 0 });
        let bytes = if i < 2 { 0 } else { (20 + 5 * i) * MIB };
        of_libx.entry("malloc, no known owner/in use", bytes).with(|report| report.unknown_bytes = bytes)
    });
    let names: Vec<String> = verdict.growing.iter().map(|grower| grower.path.join("/")).collect();
    assert_eq!(names, ["malloc, no known owner/in use"], "{verdict:?}");
}

#[test]
fn tables_of_the_collector_that_follow_the_heap_are_no_leak() {
    let verdict = judged(20, |plain, i| plain.entry("GC structures/malloc", (5 + 2 * i) * MIB));
    assert_eq!(verdict.kind, GrowthKind::LevelledOff);
}

#[test]
fn dead_buffers_are_garbage() {
    for holder in ["no object holds it", "perhaps no object holds it"] {
        let verdict = judged(7, |plain, i| plain.entry(&format!("{BUFFERS}/{holder}"), (20 + 5 * i) * MIB));
        assert_eq!((verdict.kind, verdict.growing.len()), (GrowthKind::Garbage, 0), "{verdict:?}");
        let is_told = verdict.evidence.iter().any(|text| text.contains("until a collection frees them"));
        assert!(is_told, "{verdict:?}");
    }
}

/// What frees dead buffers is alive until a collection finds them dead: no leak of the list that keeps it, unless no buffer is dead.
#[test]
fn cleaners_of_dead_buffers_are_garbage_too() {
    let with_cleaners = |holder: &str| {
        judged(12, |plain, i| {
            let mut of =
                live(10 + 2 * i, 5, &[("jdk.internal.ref.Cleaner.first", 1 + 2 * i), ("app.Main.live", 9)]);
            of.holders[0].classes[0].class = "jdk.internal.ref.Cleaner".to_owned();
            let plain = plain.jvm(|jvm| jvm.heap_live = Some(of.clone()));
            plain.entry(&format!("{BUFFERS}{holder}"), (20 + 5 * i) * MIB)
        })
    };
    let dead = with_cleaners("/no object holds it");
    assert_eq!((dead.kind, dead.growing.len()), (GrowthKind::Garbage, 0), "{dead:?}");
    let held = with_cleaners("/app.Cache");
    assert_eq!(held.kind, GrowthKind::Growing, "{held:?}");
}

#[test]
fn new_objects_that_no_collection_has_looked_at_have_not_levelled_off() {
    let verdict = judged(7, |plain, i| {
        let used = (50 + 10 * i) * MIB;
        plain.jvm(|jvm| jvm.heap_used_bytes = Some(used)).entry("Java heap/eden/used", used)
    });
    assert_eq!((verdict.kind, verdict.growing.len()), (GrowthKind::TooShort, 0), "{verdict:?}");
    assert!(verdict.evidence.iter().any(|text| text.contains("no collection")), "{verdict:?}");
}

#[test]
fn a_record_of_two_snapshots_is_too_short_and_says_when_to_come_back() {
    let verdict = judged(2, |plain, i| plain.entry("native libraries/libx.so", 100 * i * MIB));
    assert_eq!((verdict.kind, verdict.growing.len()), (GrowthKind::TooShort, 0));
    assert_eq!(verdict.come_back_after_ns, Some(60_000_000_000));
    for few in [0, 1] {
        assert_eq!(judged(few, |plain, _| plain).kind, GrowthKind::TooShort);
    }
}

#[test]
fn nothing_that_grows_has_levelled_off() {
    let verdict = judged(30, |plain, _| plain);
    assert_eq!((verdict.kind, verdict.come_back_after_ns), (GrowthKind::LevelledOff, None));
    let filled = judged(60, |plain, i| plain.entry("native libraries/libcache.so", 5 * i.min(20) * MIB));
    assert_eq!(filled.kind, GrowthKind::LevelledOff);
    let filling = judged(19, |plain, i| plain.entry("native libraries/libcache.so", 5 * i.min(20) * MIB));
    assert_eq!(filling.kind, GrowthKind::Growing, "nobody can know that it will be full");
}

/// Free memory after compilations: up by a MiB and a half, partly back, up again just before the record ends.
#[test]
fn free_memory_of_malloc_that_comes_and_goes_by_some_mib_does_not_keep_a_verdict_open() {
    let of = |record: &[u64]| {
        let kib = record.to_vec();
        judged(kib.len() as u64, move |plain, at| {
            plain.entry("retained by malloc/arena 1", kib[at as usize] << 10)
        })
    };
    let steps: Vec<u64> = [200, 900, 1_500, 900, 2_500].iter().flat_map(|kib| [*kib; 8]).collect();
    assert_eq!(of(&steps).kind, GrowthKind::LevelledOff);
    let steady: Vec<u64> = (0..40).map(|at| 400 * at).collect();
    assert_eq!(of(&steady).kind, GrowthKind::Growing);
}

#[test]
fn only_the_process_that_ran_last_is_judged() {
    let mut snapshots = record(14, |plain, i| plain.entry("native libraries/libx.so", 5 * (i % 7) * MIB));
    assert_ne!(judge_growth(&snapshots).kind, GrowthKind::Growing, "as one process it rises and falls");
    snapshots[7..].iter_mut().for_each(|snapshot| snapshot.start_ticks = Some(999_999));
    let verdict = judge_growth(&snapshots);
    assert_eq!((verdict.kind, verdict.snapshots), (GrowthKind::Growing, 7));
    assert!(verdict.evidence[0].contains("7 snapshots before the restart"), "{verdict:?}");
    assert_eq!(judge_growth(&snapshots[..9]).kind, GrowthKind::TooShort, "two snapshots since");
}

#[test]
fn snapshots_of_another_depth_are_left_out() {
    let mut snapshots = record(9, |plain, i| plain.entry("native libraries/libx.so", 5 * i * MIB));
    snapshots[1].depth = Some(SnapshotDepth::Structures);
    snapshots[1].entries.clear();
    let verdict = judge_growth(&snapshots);
    assert_eq!((verdict.kind, verdict.snapshots), (GrowthKind::Growing, 8));
}

#[test]
fn compiled_code_that_warm_up_plants_is_no_leak() {
    let verdict =
        judged(20, |plain, i| plain.entry("JIT-compiled code/profiled nmethods/methods", (5 + 2 * i) * MIB));
    assert_eq!(verdict.kind, GrowthKind::LevelledOff);
}

#[test]
fn a_heap_that_falls_with_collections_is_garbage_with_marks_and_without() {
    let sawtooth = |plain: Snapshot, i: u64| {
        let used = (50 + 40 * (i % 6)) * MIB;
        plain.jvm(|jvm| jvm.heap_used_bytes = Some(used)).entry("Java heap/old/used", used)
    };
    assert_eq!(judged(30, sawtooth).kind, GrowthKind::Garbage);
    let marked = judged(30, |plain, i| {
        sawtooth(plain, i).jvm(|jvm| jvm.heap_live = Some(live(36, 40 * (i % 6), &[("app.Main.live", 30)])))
    });
    assert_eq!(marked.kind, GrowthKind::Garbage);
}

#[test]
fn a_heap_that_only_fills_is_not_judged_without_marks() {
    let verdict = judged(20, |plain, i| plain.entry("Java heap/humongous/used", 10 * i * MIB));
    assert_eq!((verdict.kind, verdict.growing.len()), (GrowthKind::TooShort, 0));
    assert!(
        verdict.evidence.iter().any(|text| text.contains("no collection of the whole heap")),
        "{verdict:?}"
    );
    let told = judged(20, |plain, i| {
        let filled = plain.entry("Java heap/humongous/used", 10 * i * MIB);
        filled.with(|report| {
            report.problems.push(Problem::new("live objects", "not marked: ZGC moves objects"));
        })
    });
    let why = "no holder of Java objects is named: not marked: ZGC moves objects";
    assert!(told.evidence.iter().any(|text| text == why), "{told:?}");
    let garbage = judged(20, |plain, i| {
        let filled = plain.entry("Java heap/humongous/used", 10 * i * MIB);
        filled.jvm(|jvm| jvm.heap_live = Some(live(36, 10 * i, &[("app.Main.live", 30)])))
    });
    assert_eq!(garbage.kind, GrowthKind::LevelledOff, "the live set stands still");
}

#[test]
fn live_objects_that_grow_are_named_by_what_holds_them() {
    let verdict = judged(7, |plain, i| {
        let holders = [("app.Cache.entries", 10 + 4 * i), ("app.Main.live", 30)];
        plain.jvm(|jvm| jvm.heap_live = Some(live(40 + 4 * i, 100, &holders)))
    });
    let [grower] = &verdict.growing[..] else { panic!("{verdict:?}") };
    assert_eq!(grower.path, ["Java heap", "static field app.Cache.entries"]);
    assert_eq!(grower.ground, GrowthGround::LiveObjects);
    assert!(grower.explanation.contains("app.Entry 34.0 MiB"), "{}", grower.explanation);
}

#[test]
fn a_mark_that_a_collection_spoiled_is_passed_over() {
    let verdict = judged(14, |plain, i| {
        let live = live(40 + 4 * i, 100, &[("app.Cache.entries", 10 + 4 * i)]);
        let filled = plain.entry("Java heap/old/used", 10 * i * MIB);
        filled.jvm(|jvm| jvm.heap_live = (i % 3 != 1).then_some(live))
    });
    assert_eq!(verdict.growing.len(), 1, "{verdict:?}");
    assert_eq!(verdict.growing[0].path[1], "static field app.Cache.entries");
}

#[test]
fn a_mark_that_missed_live_objects_is_passed_over() {
    // The table of a queue grew during the mark: all that it holds is garbage there, and alive in the next one.
    let queue = |lost: u64| {
        judged(7, |plain, i| {
            let held = 4 + 9 * i;
            let live =
                if i == lost { live(1, held, &[]) } else { live(1 + held, 1, &[("app.Queue.jobs", held)]) };
            plain.jvm(|jvm| jvm.heap_live = Some(live))
        })
    };
    for lost in [0, 1, 3, 5] {
        let verdict = queue(lost);
        let [grower] = &verdict.growing[..] else { panic!("{lost}: {verdict:?}") };
        assert_eq!(grower.path[1], "static field app.Queue.jobs");
    }
    let last = queue(6);
    assert_eq!((last.kind, last.growing.len()), (GrowthKind::TooShort, 0), "{last:?}");
    assert!(last.evidence.iter().any(|text| text.contains("may have missed some")), "{last:?}");
}

#[test]
fn a_heap_whose_lows_rise_grows_by_what_collections_leave() {
    let verdict =
        judged(60, |plain, i| plain.entry("Java heap/objects/used", (50 + 30 * (i % 5) + 5 * (i / 5)) * MIB));
    let [grower] = &verdict.growing[..] else { panic!("{verdict:?}") };
    assert_eq!(
        (grower.path[1].as_str(), grower.ground),
        ("after collections", GrowthGround::AfterCollections)
    );
}
