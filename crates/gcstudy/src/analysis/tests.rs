//! Records by hand, and what the report must say of them.

use super::*;
use assay_model::{GcCpu, GcSizes, GcSpace, GcTrend};

const MS: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

/// A pause that ends at this uptime.
fn pause(end_ms: u64, length_ms: u64, before_mib: u64, after_mib: u64) -> GcRecord {
    let mut record = GcRecord::new(GcRecordKind::Pause, "Pause Young (Normal)", 0, end_ms);
    record.scope = Some(GcScope::Young);
    record.cause = Some("Allocation Failure".to_owned());
    record.end.uptime_ns = Some(end_ms * MS);
    record.end.resolution_ns = Some(MS);
    record.duration_ns = Some(length_ms * MS);
    record.duration_resolution_ns = Some(1_000);
    record.heap = GcSizes {
        before_bytes: Some(before_mib * MIB),
        after_bytes: Some(after_mib * MIB),
        capacity_bytes: Some(256 * MIB),
        resolution_bytes: Some(1),
    };
    record
}

fn of(kind: GcRecordKind, phase: &str, end_ms: u64, length_ms: u64) -> GcRecord {
    let mut record = GcRecord::new(kind, phase, 0, end_ms);
    record.end.uptime_ns = Some(end_ms * MS);
    record.end.resolution_ns = Some(MS);
    record.duration_ns = Some(length_ms * MS);
    record
}

fn report(records: impl IntoIterator<Item = GcRecord>) -> GcReport {
    let mut analysis = Analysis::default();
    records.into_iter().for_each(|record| analysis.record(record));
    analysis.report()
}

/// One pause of 10 ms each second, from 100 to 20 MiB.
fn steady(count: u64) -> impl Iterator<Item = GcRecord> {
    (1..=count).map(|second| pause(second * 1_000, 10, 100, 20))
}

#[test]
fn sums_rates_and_shares_of_a_steady_log_are_those_of_arithmetic() {
    let report = report(steady(101));
    assert_eq!((report.pauses.count, report.pauses.total_ms), (101, 1_010.0));
    assert!((report.span_s.unwrap() - 100.01).abs() < 1e-9);
    assert!((report.throughput_percent.unwrap() - 100.0 * (1.0 - 1.01 / 100.01)).abs() < 1e-9);
    assert_eq!(report.allocated_bytes, Some(100 * 80 * MIB));
    assert_eq!(report.freed_bytes, Some(101 * 80 * MIB), "the first collection freed, too");
    let rate = report.allocated_bytes_per_s.unwrap();
    let want = 80.0 * MIB as f64;
    assert!(
        [Some(rate.estimate), rate.low, rate.high]
            .iter()
            .all(|got| (got.unwrap() - want).abs() < 1e-6 * want)
    );
    assert_eq!(report.pauses_by_cause[0].name, "Allocation Failure");
    assert_eq!(report.series.points.iter().map(|point| point.pauses["young"].0).sum::<u64>(), 101);
}

#[test]
fn no_rate_runs_over_a_restart_and_the_time_between_is_left_out() {
    let mut analysis = Analysis::default();
    analysis.begin_jvm();
    steady(51).for_each(|record| analysis.record(record));
    analysis.begin_jvm();
    analysis.record(pause(60_000, 10, 250, 10));
    analysis.record(pause(61_000, 10, 90, 10));
    let report = analysis.report();
    assert_eq!(report.allocated_bytes, Some((50 * 80 + 80) * MIB));
    assert!((report.span_s.unwrap() - (50.01 + 1.01)).abs() < 1e-9, "{:?}", report.span_s);
    assert_eq!(report.series.points.iter().filter(|point| point.is_start).count(), 1);
    let starts = report.series.collections.iter().enumerate().filter(|(_, one)| one.is_start);
    assert_eq!(
        starts.map(|(index, one)| (index, one.after_bytes)).collect::<Vec<_>>(),
        [(51, Some(10 * MIB))]
    );
}

#[test]
fn each_collection_is_kept_while_there_are_few_and_none_once_there_are_too_many() {
    let few = report(steady(1_000)).series.collections;
    assert_eq!(few.len(), 1_000);
    // The series begins with the beginning of the first pause.
    assert!((few[999].at_s - 999.01).abs() < 1e-9, "{:?}", few[999]);
    assert_eq!((few[7].before_bytes, few[7].after_bytes), (Some(100 * MIB), Some(20 * MIB)));
    assert_eq!((few[7].pause.clone(), few[7].stalled_ms), (Some(("young".to_owned(), 10.0)), None));
    let many = report(steady(1_001)).series;
    assert!(many.collections.is_empty() && !many.points.is_empty());
}

#[test]
fn a_log_with_its_head_has_run_since_the_start_of_the_jvm() {
    let mut analysis = Analysis::default();
    analysis.begin_jvm();
    analysis.record(pause(1_000, 100, 100, 20));
    assert_eq!(analysis.report().throughput_percent, None, "one pause shows no share of the time");
    let jvm = GcJvm { version: Some("25".to_owned()), heap_bytes_max: Some(1), ..GcJvm::default() };
    analysis.jvm(&jvm);
    assert_eq!(analysis.report().span_s, Some(1.0));
    assert!((analysis.report().throughput_percent.unwrap() - 90.0).abs() < 1e-9);
}

#[test]
fn a_pause_within_its_safepoint_is_not_counted_twice() {
    let mut reached = of(GcRecordKind::Safepoint, "G1CollectForAllocation", 1_011, 13);
    reached.time_to_safepoint_ns = Some(MS);
    let other = of(GcRecordKind::Safepoint, "ThreadDump", 1_500, 4);
    let late = of(GcRecordKind::Safepoint, "Cleanup", 2_500, 1);
    let report = report([pause(1_010, 10, 100, 20), reached, other, pause(2_000, 10, 100, 20), late]);
    // 3 ms around the pause, 4 of the dump, 1 of the clean-up, which is too late to have held the second pause.
    assert_eq!(report.other_safepoints_ms, Some(8.0));
    let span_ms = report.span_s.unwrap() * 1e3;
    assert!((report.application_percent.unwrap() - 100.0 * (1.0 - 28.0 / span_ms)).abs() < 1e-9);
    assert!((report.throughput_percent.unwrap() - 100.0 * (1.0 - 20.0 / span_ms)).abs() < 1e-9);
    assert_eq!((report.time_to_safepoint.count, report.time_to_safepoint.max_ms), (1, Some(1.0)));
    assert_eq!(report.safepoints_by_operation.len(), 3);
}

#[test]
fn threads_that_wait_at_once_are_told_by_the_sum_and_by_the_time_that_passed() {
    let stall = |end_ms: u64| of(GcRecordKind::Stall, "Allocation Stall", end_ms, 100);
    let report = report([pause(1_000, 1, 100, 20), stall(2_000), stall(2_010), stall(2_020), stall(3_000)]);
    assert_eq!((report.stalls_by_phase[0].durations.total_ms, report.stalled_ms), (400.0, Some(220.0)));
}

#[test]
fn what_the_log_does_not_say_is_absent() {
    let mut bare = GcRecord::new(GcRecordKind::Pause, "Pause Young", 0, 1);
    bare.duration_ns = Some(MS);
    let got = report([bare]);
    let none =
        (got.span_s, got.throughput_percent, got.allocated_bytes, got.freed_bytes, got.other_safepoints_ms);
    assert_eq!(none, (None, None, None, None, None));
    assert!(
        got.live_set.is_none()
            && got.cpu.is_none()
            && got.mmu.is_empty()
            && got.promoted_bytes_per_s.is_none()
    );
    let empty = report([]);
    let told = assay_model::GC_FIGURES.iter().filter(|figure| figure.read(&empty).is_some());
    let told: Vec<&str> = told.map(|figure| figure.id).collect();
    assert_eq!(told, ["lines", "lines_not_understood", "messages_dropped", "jvms", "findings_of_error"]);
}

#[test]
fn cycles_beside_the_application_show_allocation_between_them_only() {
    let cycle = |end_ms: u64, before_mib: u64, after_mib: u64| {
        let sizes = pause(end_ms, 100, before_mib, after_mib).heap;
        GcRecord {
            heap: sizes,
            scope: Some(GcScope::Whole),
            ..of(GcRecordKind::Cycle, "Garbage Collection", end_ms, 100)
        }
    };
    let report = report([cycle(1_000, 100, 40), cycle(2_000, 85, 30), cycle(3_000, 120, 50)]);
    assert_eq!(report.allocated_bytes, Some((45 + 90) * MIB));
    assert_eq!(report.freed_bytes, None);
    let rate = report.allocated_bytes_per_s.unwrap().estimate;
    assert!((rate - 135.0 * MIB as f64 / 1.8).abs() < 1.0, "{rate}");
    assert_eq!(report.live_set.unwrap().basis, "after cycles");
}

#[test]
fn a_coarse_pause_corrects_and_a_sweep_makes_the_next_interval_unsure() {
    let coarse = |end_ms| {
        let mut remark = pause(end_ms, 1, 60, 50);
        (remark.scope, remark.heap.resolution_bytes) = (Some(GcScope::Old), Some(MIB));
        remark
    };
    let got = report([pause(1_000, 1, 100, 40), coarse(1_500), pause(2_000, 1, 90, 40)]);
    assert_eq!((got.allocated_bytes, got.freed_bytes), (Some(60 * MIB), Some(120 * MIB)));
    // JDK 8, and unified logging.
    for name in ["CMS-concurrent-sweep", "Concurrent Sweep"] {
        let sweep = of(GcRecordKind::Concurrent, name, 1_500, 100);
        let got =
            report([pause(1_000, 1, 100, 40), sweep, pause(2_000, 1, 90, 40), pause(3_000, 1, 110, 40)]);
        assert_eq!(got.allocated_bytes, Some(70 * MIB));
    }
}

#[test]
fn promotion_is_what_young_collections_add_to_the_old_generation_once_for_each() {
    let old = |before_mib: u64, after_mib: u64| pause(0, 0, before_mib, after_mib).heap;
    let mut first = pause(1_000, 1, 100, 40);
    first.spaces = vec![(GcSpace::Old, old(10, 15))];
    let mut said = pause(2_000, 1, 100, 40);
    (said.promoted_bytes, said.cycle_id) = (Some(5 * MIB), Some(3));
    let again = GcRecord { end: GcInstant { uptime_ns: Some(2_001 * MS), ..said.end }, ..said.clone() };
    let rate = report([first, said, again]).promoted_bytes_per_s.unwrap().estimate;
    // As with what is allocated, the first collection begins the count.
    assert!((rate - 5.0 * MIB as f64).abs() < 1.0, "{rate}");
}

#[test]
fn a_growing_live_set_is_told_from_a_flat_one_and_from_a_cache_that_fills() {
    let full = |second: u64, after_kib: u64| {
        let mut record = pause(second * 60_000, 50, 200, 0);
        (record.scope, record.phase) = (Some(GcScope::Full), "Pause Full".to_owned());
        record.heap.after_bytes = Some(after_kib << 10);
        record.heap.capacity_bytes = Some(200 * MIB);
        record
    };
    let noise = |index: u64| index * 7_919 % 512;
    let trend = |level: fn(u64) -> u64| {
        report((1..=60).map(|index| full(index, level(index) + noise(index)))).live_set.unwrap()
    };
    let leak = trend(|index| 50_000 + 100 * index);
    assert_eq!((leak.trend, leak.count), (GcTrend::Grows, 60));
    let slope = leak.slope_bytes_per_h.unwrap();
    let want = 100.0 * 1_024.0 * 60.0;
    assert!(
        (slope.estimate - want).abs() < 0.1 * want && slope.low.unwrap() < want && want < slope.high.unwrap()
    );
    assert_eq!(trend(|_| 50_000).trend, GcTrend::Flat);
    assert_ne!(trend(|index| 50_000 + 400 * index.min(20)).trend, GcTrend::Grows);
    assert_eq!(trend(|index| 50_000 + 60 * index.min(36)).trend, GcTrend::Unknown);
    let few = report((1..=4).map(|index| full(index, 50_000 + 1_000 * index))).live_set.unwrap();
    assert_eq!(few.trend, GcTrend::Unknown);
}

#[test]
fn requests_make_garbage_per_request() {
    for requests in [Requests::PerSecond(1_000.0), Requests::Total(1_000.0 * 100.01)] {
        let mut analysis =
            Analysis::new(AnalysisOptions { requests: Some(requests), seed: 1, begins_later: false });
        steady(101).for_each(|record| analysis.record(record));
        let got = analysis.report().garbage_bytes_per_request.unwrap().estimate;
        let want = 80.0 * MIB as f64 / 1_000.0;
        assert!((got - want).abs() < 1e-3 * want, "{requests:?}: {got}, not {want}");
    }
}

#[test]
fn cpu_times_are_summed_with_their_step() {
    let mut record = pause(1_000, 100, 100, 20);
    record.cpu = Some(GcCpu { user_ns: 150 * MS, sys_ns: 20 * MS, real_ns: None, resolution_ns: 10 * MS });
    let cpu = report([record]).cpu.unwrap();
    assert_eq!((cpu.count, cpu.user_s, cpu.sys_s, cpu.real_s, cpu.resolution_s), (1, 0.15, 0.02, 0.1, 0.01));
}

/// The report of many kinds of records is the same each time, also when it is asked for in between.
#[test]
fn the_same_records_give_the_same_report_whenever_it_is_asked_for() {
    let mut asked = Analysis::default();
    let mut alone = Analysis::default();
    for (index, record) in steady(3_000).enumerate() {
        asked.record(record.clone());
        alone.record(record);
        if index % 500 == 0 {
            asked.report();
        }
    }
    assert_eq!(asked.report(), alone.report());
}

/// Memory is bounded, however long the log.
#[test]
fn memory_does_not_grow_with_the_log() {
    let mut analysis = Analysis::default();
    for index in 1..=300_000_u64 {
        let mut record = pause(index * 977, 1 + index % 9, 100, 20 + index % 7);
        record.phase = format!("Pause {}", index % 1_000);
        record.cause = Some(format!("cause {index}"));
        record.scope = Some(if index % 3 == 0 { GcScope::Full } else { GcScope::Young });
        record.anomalies = vec![GcAnomaly::EvacuationFailure];
        analysis.record(record);
        analysis.record(GcRecord {
            cause: Some(format!("{index}")),
            ..of(GcRecordKind::Trigger, "t", index * 977, 0)
        });
        analysis.problem(Problem::new("gc.log", format!("{index}")));
    }
    let report = analysis.report();
    assert!(report.pauses_by_phase.len() <= 33 && report.pauses_by_cause.len() <= 33);
    assert!(report.triggers.len() <= TRIGGERS_MAX + 1 && report.problems.len() <= PROBLEMS_MAX + 1);
    assert!(report.series.collections.is_empty());
    assert!(report.series.points.len() <= 2_000 && analysis.blocks.items().len() <= 256);
    assert!(report.places.values().all(|places| places.len() <= PLACES_MAX));
    assert_eq!(report.pauses.count, 300_000);
}

/// A young pause whose old generation grew by so much.
fn growing(end_ms: u64, old_before_mib: u64, old_after_mib: u64) -> GcRecord {
    let mut record = pause(end_ms, 10, 20 + old_before_mib + 80, 20 + old_after_mib);
    let sizes = GcSizes {
        before_bytes: Some(old_before_mib * MIB),
        after_bytes: Some(old_after_mib * MIB),
        ..GcSizes::default()
    };
    record.spaces.push((GcSpace::Old, sizes));
    record
}

#[test]
fn promotion_is_held_against_what_the_same_collections_show_as_allocated() {
    let steady: Vec<GcRecord> = (1..=50).map(|n| growing(1_000 * n, 8 * (n - 1), 8 * n)).collect();
    let told = report(steady.clone());
    assert!((told.promoted_percent.unwrap() - 10.0).abs() < 1e-9, "{:?}", told.promoted_percent);
    assert!((told.promoted_bytes_per_s.unwrap().estimate - 8.0 * MIB as f64).abs() < 1.0);
    // Collections that find no room turn young regions into old ones, which is not promotion.
    let with_failures = steady.into_iter().enumerate().map(|(index, mut record)| {
        if index % 2 == 1 {
            record.anomalies.push(GcAnomaly::EvacuationFailure);
            record.spaces[0].1.after_bytes = Some(200 * MIB);
        }
        record
    });
    let told = report(with_failures);
    assert!((told.promoted_percent.unwrap() - 10.0).abs() < 1e-9, "{:?}", told.promoted_percent);
    assert!((told.promoted_bytes_per_s.unwrap().estimate - 8.0 * MIB as f64).abs() < 1.0);
}

#[test]
fn cpu_time_beside_the_application_is_summed_apart() {
    let cpu =
        |user_ms: u64| GcCpu { user_ns: user_ms * MS, sys_ns: 0, real_ns: None, resolution_ns: 10 * MS };
    let mut paused = pause(100, 10, 50, 20);
    paused.cpu = Some(cpu(40));
    let mut mark = of(GcRecordKind::Concurrent, "Concurrent Mark", 400, 200);
    mark.cpu = Some(cpu(300));
    let told = report([paused, mark]);
    let (pauses, beside) = (told.cpu.unwrap(), told.concurrent_cpu.unwrap());
    assert_eq!((pauses.count, pauses.user_s, pauses.real_s), (1, 0.04, 0.01));
    assert_eq!((beside.count, beside.user_s, beside.real_s), (1, 0.3, 0.2));
    assert_eq!(report(steady(3)).concurrent_cpu, None, "absent is not zero");
}

#[test]
fn collections_within_seconds_have_no_slope_by_the_hour() {
    let full = |end_ms: u64, after_mib: u64| {
        let mut record = pause(end_ms, 10, 100, after_mib);
        record.scope = Some(GcScope::Full);
        record
    };
    let slope = |step_ms: u64| {
        let told = report((1..=20).map(|n| full(step_ms * n, 20 + n)));
        told.live_set.expect("full collections").slope_bytes_per_h
    };
    assert!(slope(50).is_none() && slope(10_000).is_some());
}
