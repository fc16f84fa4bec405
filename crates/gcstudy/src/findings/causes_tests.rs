//! Rules on causes, and that they stand above what they bring about.

use super::findings;
use super::tests::{check, jvm, row, well};
use assay_model::{
    GcAnomaly, GcCpuSum, GcPart, GcPoint, GcReport, GcScope, GcSpace, GcSpaceUse, GcTrend, Severity,
};

/// Half of the time in pauses, and long ones.
fn suffers(report: &mut GcReport) {
    (report.throughput_percent, report.pauses.max_ms, report.pauses.p99_ms) =
        (Some(50.0), Some(900.0), Some(800.0));
    report.pauses.total_ms = 300_000.0;
}

/// The first finding of a report that suffers from this.
fn first(spoil: impl Fn(&mut GcReport)) -> (String, Severity) {
    let mut report = well();
    suffers(&mut report);
    spoil(&mut report);
    let found = findings(&report);
    (found[0].rule.to_string(), found[0].severity)
}

fn error(rule: &str) -> (String, Severity) {
    (rule.to_owned(), Severity::Error)
}

fn explicit(report: &mut GcReport) {
    report.full_by_cause = vec![row("System.gc()", Some(GcScope::Full), 400, 290_000.0)];
    report.pauses_by_cause = report.full_by_cause.clone();
}

fn small_young(report: &mut GcReport) {
    report.pauses_by_phase[0].durations.count = 20_000;
    let used = |mib: u64| GcSpaceUse { max_bytes: Some(mib << 20), ..GcSpaceUse::default() };
    report.spaces.insert(GcSpace::Eden, used(12));
    report.spaces.insert(GcSpace::Survivor, used(4));
}

#[test]
fn a_cause_stands_above_what_it_brings_about() {
    assert_eq!(first(|_| {}), error("throughput-low"));
    assert_eq!(first(explicit), error("explicit-gc"));
    assert_eq!(first(small_young), error("young-generation-small"));
    assert_eq!(first(|r| r.live_set.as_mut().unwrap().level_bytes = 3 << 30), error("heap-too-small"));
    assert_eq!(first(|r| jvm(r).parallel_workers = Some(64)), error("gc-threads-many"));
    let starved = |r: &mut GcReport| {
        r.cpu = Some(GcCpuSum { count: 300, user_s: 20.0, sys_s: 1.0, real_s: 300.0, resolution_s: 0.01 });
    };
    assert_eq!(first(starved), error("gc-threads-wait"));
    // A wait makes all of them longer; what triggers them is named first.
    assert_eq!(first(|r| [starved, explicit].iter().for_each(|spoil| spoil(r))), error("explicit-gc"));
    let leaks = |r: &mut GcReport| {
        let live = r.live_set.as_mut().unwrap();
        (live.trend, live.level_bytes, live.max_bytes) = (GcTrend::Grows, 4_000 << 20, 4_000 << 20);
        r.full_by_cause = vec![row("Allocation Failure", Some(GcScope::Full), 400, 290_000.0)];
    };
    assert_eq!(first(leaks), error("live-set-grows"));
    // One call of System.gc() among many pauses is not what they come from.
    let once = |r: &mut GcReport| r.full_by_cause = vec![row("System.gc()", Some(GcScope::Full), 1, 90.0)];
    assert_eq!(first(once), error("throughput-low"));
}

#[test]
fn more_heap_is_advised_only_where_live_objects_fill_it() {
    let advice = |level_bytes: u64| {
        let mut report = well();
        suffers(&mut report);
        report.live_set.as_mut().unwrap().level_bytes = level_bytes;
        let found = findings(&report).into_iter().find(|found| found.rule == "throughput-low").unwrap();
        found.ways().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(advice(2_500 << 20)[0].contains("raise -Xmx above 4.0 GiB"));
    assert!(advice(9 << 20).iter().all(|way| !way.contains("-Xmx")), "{:?}", advice(9 << 20));
    // Without a live set the least that collections left is more than lives.
    let mut report = well();
    suffers(&mut report);
    report.live_set = None;
    report.series.points = vec![GcPoint { after_bytes_min: Some(100 << 20), ..GcPoint::default() }];
    let named = findings(&report).iter().any(|found| found.ways().any(|way| way.contains("-Xmx")));
    assert!(!named);
}

#[test]
fn regions_are_made_larger_only_where_enough_are_left() {
    let step = |heap_bytes: u64| {
        let found = check("humongous-allocations", |r| {
            jvm(r).heap_bytes_max = Some(heap_bytes);
            jvm(r).region_bytes = Some(1 << 20);
            r.live_set = None;
            r.pauses_by_cause.push(row("G1 Humongous Allocation", Some(GcScope::Young), 9, 50.0));
        });
        found.command().to_owned()
    };
    assert!(step(1 << 30).contains("-XX:G1HeapRegionSize=2m"));
    assert!(step(128 << 20).contains("reuse them"), "{}", step(128 << 20));
}

#[test]
fn cycles_beside_the_application_are_asked_for_too() {
    let cycles = |collector: &'static str, cause: &'static str, count: u64| {
        move |r: &mut GcReport| {
            jvm(r).collector = Some(collector.to_owned());
            (r.full_by_cause, r.pauses_by_cause) = (Vec::new(), Vec::new());
            r.triggers = [(cause.to_owned(), count), ("Allocation Rate".to_owned(), 20)].into();
        }
    };
    for (collector, cause) in [("Z", "System.gc()"), ("Shenandoah", "Explicit GC request (System.gc())")] {
        let found = check("explicit-gc", cycles(collector, cause, 40));
        assert!(found.evidence_line().starts_with("40 of 60 concurrent cycles"), "{}", found.evidence_line());
        let mut few = well();
        cycles(collector, cause, 3)(&mut few);
        assert!(findings(&few).iter().all(|found| found.rule != "explicit-gc"));
    }
    check("metaspace-threshold", cycles("Z", "Metadata GC Threshold", 14));
    check("metaspace-full", cycles("Z", "Metadata GC Clear Soft References", 2));
    check(
        "metaspace-full",
        cycles("Shenandoah", "Implicit GC request (Metadata GC Clear Soft References)", 2),
    );
}

#[test]
fn metaspace_at_its_maximum_is_no_matter_of_its_threshold() {
    let full = |r: &mut GcReport| {
        r.full_by_cause = vec![row("Metadata GC Threshold", Some(GcScope::Full), 11, 900.0)];
        jvm(r).flags = vec!["-XX:MaxMetaspaceSize=25165824".to_owned()];
    };
    let found = check("metaspace-full", full);
    assert!(found.ways().all(|way| !way.contains("-XX:MetaspaceSize")), "{found:#?}");
    let mut report = well();
    full(&mut report);
    assert!(findings(&report).iter().all(|found| found.rule != "metaspace-threshold"));
}

#[test]
fn collections_for_tools_weigh_what_they_take() {
    let by_tools = |ms: f64| {
        check("full-gc-by-tools", move |r| {
            r.full_by_cause = vec![row("Heap Inspection Initiated GC", Some(GcScope::Full), 40, ms)];
        })
    };
    assert_eq!((by_tools(90.0).severity, by_tools(60_000.0).severity), (Severity::Note, Severity::Warning));
}

#[test]
fn the_size_of_a_young_generation_counts_beside_the_heap_and_what_lives() {
    let found = check("young-generation-small", |r| {
        small_young(r);
        r.throughput_percent = Some(90.0);
    });
    assert!(found.command().starts_with("Leave -Xmn out"));
    let is_found = |spoil: fn(&mut GcReport)| {
        let mut report = well();
        small_young(&mut report);
        report.throughput_percent = Some(90.0);
        spoil(&mut report);
        findings(&report).iter().any(|found| found.rule == "young-generation-small")
    };
    assert!(!is_found(|r| r.throughput_percent = Some(99.0)), "collections that cost nothing");
    assert!(!is_found(|r| r.live_set.as_mut().unwrap().level_bytes = 3 << 30), "the heap is full");
    assert!(!is_found(|r| jvm(r).heap_bytes_max = Some(256 << 20)), "a sixteenth of a small heap of G1");
    assert!(is_found(|r| {
        jvm(r).collector = Some("Parallel".to_owned());
        jvm(r).heap_bytes_max = Some(256 << 20);
        r.live_set = None;
    }));
}

#[test]
fn parts_of_pauses_that_are_felt_are_named() {
    let takes = |part: GcPart, percent: f64| {
        move |r: &mut GcReport| {
            r.throughput_percent = Some(95.0);
            r.pause_parts_ms.insert(part, r.pauses.total_ms * percent / 100.0);
        }
    };
    let references = check("reference-processing-long", takes(GcPart::References, 40.0));
    assert!(references.evidence_line().contains("references took 600 ms of 1500 ms of pauses, 40 %"));
    check("root-scan-long", takes(GcPart::RootScan, 40.0));
    check("string-deduplication-long", takes(GcPart::StringDeduplication, 40.0));
    let beside = |part: f64| {
        move |r: &mut GcReport| {
            let ms = part * r.span_s.expect("a span") * 1e3;
            r.concurrent_by_phase = vec![row("Concurrent String Deduplication", None, 40, ms)];
        }
    };
    let busy = check("string-deduplication-long", beside(0.3));
    assert!(busy.claim.contains("for much of the time") && busy.evidence_line().contains("30 %"), "{busy:?}");
    let mut seldom = well();
    beside(0.1)(&mut seldom);
    assert_eq!(findings(&seldom), []);
    let mut little = well();
    takes(GcPart::References, 20.0)(&mut little);
    assert_eq!(findings(&little), []);
    assert_eq!(first(takes(GcPart::RootScan, 70.0)).0, "root-scan-long");
}

#[test]
fn threads_beyond_two_for_each_processor_are_many() {
    check("gc-threads-many", |r| jvm(r).parallel_workers = Some(17));
    let mut twice = well();
    jvm(&mut twice).parallel_workers = Some(16);
    assert_eq!(findings(&twice), []);
}

#[test]
fn advice_on_long_pauses_is_of_the_collector_that_made_them() {
    let long = |collector: Option<&str>, user_s: f64| {
        let collector = collector.map(str::to_owned);
        check("pauses-long", move |r| {
            jvm(r).collector.clone_from(&collector);
            r.pauses.max_ms = Some(1_221_000.0);
            r.pauses_by_phase[0].name = "ParNew".to_owned();
            r.pauses_by_phase[0].durations.max_ms = Some(1_221_000.0);
            r.cpu = Some(GcCpuSum { count: 300, user_s, sys_s: 0.0, real_s: 1_221.0, resolution_s: 0.01 });
        })
    };
    let busy = long(None, 11_780.0);
    assert!(!busy.command().contains("degenerated") && busy.command().contains("work on"), "{busy:#?}");
    assert!(
        busy.evidence_line().contains("(ParNew)") && busy.evidence_line().contains("9.6 processors worked")
    );
    assert!(!long(None, 0.0).command().contains("degenerated"));
}

/// A leak with all that it does to a collector: more heap is no way out of any of it.
#[test]
fn beside_a_leak_no_finding_advises_more_heap() {
    let mut report = well();
    suffers(&mut report);
    report.full_by_cause = vec![row("Allocation Failure", Some(GcScope::Full), 400, 290_000.0)];
    report.out_of_memory = 1;
    report.anomalies = [(GcAnomaly::EvacuationFailure, 9), (GcAnomaly::PromotionFailed, 9)].into();
    let advised = |report: &GcReport| {
        let found = findings(report);
        let ways = found.iter().flat_map(|one| one.ways().map(str::to_owned).collect::<Vec<_>>());
        let more: Vec<String> = ways.filter(|way| way.contains("raise -Xmx")).collect();
        assert!(found.iter().all(|one| one.change.is_none() || !one.command().is_empty()), "{found:?}");
        more.len()
    };
    assert!(2 < advised(&report), "without a leak it is advised");
    let live = report.live_set.as_mut().unwrap();
    (live.trend, live.level_bytes, live.max_bytes) = (GcTrend::Grows, 4_000 << 20, 4_000 << 20);
    assert_eq!(advised(&report), 0);
}
