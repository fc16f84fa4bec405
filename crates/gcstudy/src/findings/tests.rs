//! Each rule fires on the report that it is for, and not on one that is well.

use super::*;
use assay_model::{
    Estimate, GcAnomaly, GcCpuSum, GcDurations, GcJvm, GcLiveSet, GcPoint, GcReconciliation, GcRow, GcScope,
    GcSource, GcSpace, GcSpaceUse, GcTrend, ModeRead, NotUnderstood, ReferenceMode, Severity,
    UnrecognizedLines,
};
use assay_testkit::assert_one_step_each;
use std::collections::{BTreeMap, BTreeSet};

fn durations(count: u64, total_ms: f64, max_ms: f64) -> GcDurations {
    let p99_ms = Some(max_ms.min(total_ms / count as f64 * 2.0));
    GcDurations {
        count,
        total_ms,
        p99_ms,
        max_ms: Some(max_ms),
        max_at: Some((0, 77)),
        ..GcDurations::default()
    }
}

pub(super) fn row(name: &str, scope: Option<GcScope>, count: u64, total_ms: f64) -> GcRow {
    let durations = durations(count, total_ms, total_ms / count as f64);
    GcRow { name: name.to_owned(), scope, durations, last_s: None, histogram: Vec::new() }
}

pub(super) fn exact(estimate: f64) -> Option<Estimate> {
    Some(Estimate { estimate, low: Some(estimate * 0.9), high: Some(estimate * 1.1) })
}

fn mode(mode: ReferenceMode) -> Option<ModeRead> {
    let evidence = "Compressed Oops mode".to_owned();
    Some(ModeRead { mode, compact_headers: None, shift_bits: None, heap_base_address: None, evidence })
}

/// A G1 that is well, ten minutes long.
pub(super) fn well() -> GcReport {
    let jvm = GcJvm {
        version: Some("17".to_owned()),
        collector: Some("G1".to_owned()),
        mode: mode(ReferenceMode::CompressedZeroBased),
        heap_bytes_max: Some(4 << 30),
        region_bytes: Some(2 << 20),
        processors: Some(8),
        parallel_workers: Some(8),
        large_pages: Some("Disabled".to_owned()),
        line: 1,
        ..GcJvm::default()
    };
    let live_set = GcLiveSet {
        first_bytes: Some(1 << 30),
        basis: "lowest after mixed collections".to_owned(),
        count: 20,
        last_bytes: 1 << 30,
        max_bytes: 1 << 30,
        level_bytes: 1 << 30,
        fills_bytes_per_s: None,
        full_at_s: None,
        slope_bytes_per_h: exact(0.0),
        trend: GcTrend::Flat,
    };
    GcReport {
        sources: vec![GcSource {
            name: "gc.log".to_owned(),
            dialect: Some("unified".to_owned()),
            lines: 900,
            ..GcSource::default()
        }],
        jvms: vec![jvm],
        span_s: Some(600.0),
        pauses: durations(300, 1_500.0, 12.0),
        pauses_by_phase: vec![row("Pause Young (Normal)", Some(GcScope::Young), 300, 1_500.0)],
        pauses_by_cause: vec![row("G1 Evacuation Pause", Some(GcScope::Young), 300, 1_500.0)],
        throughput_percent: Some(99.75),
        allocated_bytes_per_s: exact(1e9),
        allocated_bytes: Some(600_000_000_000),
        promoted_bytes_per_s: exact(1e6),
        promoted_percent: Some(0.1),
        freed_bytes: Some(600_000_000_000),
        live_set: Some(live_set),
        time_to_safepoint: durations(400, 20.0, 0.5),
        other_safepoints_ms: Some(30.0),
        cpu: Some(GcCpuSum { count: 300, user_s: 10.0, sys_s: 0.5, real_s: 1.6, resolution_s: 0.01 }),
        ..GcReport::default()
    }
}

/// That the rule fires on a report that is well but for this, that its finding is whole, and that it does not fire without.
#[track_caller]
pub(super) fn check(rule: &str, spoil: impl Fn(&mut GcReport)) -> Found {
    let named = |report: &GcReport| findings(report).into_iter().find(|finding| finding.rule == rule);
    assert_eq!(named(&well()), None, "fires although all is well");
    let mut report = well();
    spoil(&mut report);
    let found = named(&report).unwrap_or_else(|| panic!("{rule} does not fire: {:#?}", findings(&report)));
    assert!(found.claim.ends_with('.') && !found.evidence.is_empty(), "{found:#?}");
    assert!(found.change.as_ref().is_none_or(|change| change.expected_effect.is_some()), "{found:#?}");
    assert_one_step_each(found.ways());
    found
}

pub(super) fn jvm(report: &mut GcReport) -> &mut GcJvm {
    &mut report.jvms[0]
}

fn anomaly(anomaly: GcAnomaly, count: u64, place: &'static str) -> impl Fn(&mut GcReport) {
    move |report| {
        report.anomalies.insert(anomaly, count);
        report.places.insert(place.to_owned(), vec![(0, 5)]);
    }
}

#[test]
fn a_report_that_is_well_has_no_findings_and_neither_has_an_empty_one() {
    assert_eq!(findings(&well()), []);
    assert_eq!(findings(&GcReport::default()), []);
}

#[test]
fn each_rule_is_checked() {
    let here = concat!(include_str!("tests.rs"), include_str!("causes_tests.rs"));
    let here = here.split_whitespace().collect::<String>();
    for rule in rules() {
        assert!(here.contains(&format!("check(\"{}\",", rule.id)), "no test for {}", rule.id);
    }
}

#[test]
fn each_rule_has_an_id_of_its_own_and_texts_that_name_its_thresholds() {
    let mistakes: Vec<String> = all().flat_map(Rule::mistakes).collect();
    assert_eq!(mistakes, [""; 0]);
    let ids: BTreeSet<String> = rules().into_iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), all().count());
}

/// Without a processor a JVM has long pauses, reaches safepoints late and fails cycles, all of which other causes bring about, too.
#[test]
fn findings_that_a_wait_for_a_processor_brings_about_name_it() {
    type Spoil = fn(&mut GcReport);
    let rules: [(&str, Spoil); 4] = [
        ("pauses-long", |r| r.pauses.max_ms = Some(401.0)),
        ("time-to-safepoint-long", |r| r.time_to_safepoint.max_ms = Some(150.0)),
        ("degenerated-cycles", |r| anomaly(GcAnomaly::Degenerated, 1, "degenerated")(r)),
        ("allocation-stalls", |r| r.stalls_by_phase = vec![row("Allocation Stall", None, 3, 30.0)]),
    ];
    for (rule, spoil) in rules {
        let of = |real_s: Option<f64>| {
            let mut report = well();
            spoil(&mut report);
            report.cpu = report.cpu.zip(real_s).map(|(cpu, real_s)| GcCpuSum { real_s, ..cpu });
            let named = |finding: &Found| finding.rule == rule;
            let found = findings(&report).into_iter().find(named).expect("the rule's");
            let ways: Vec<String> = found.ways().map(str::to_owned).collect();
            assert_one_step_each(found.ways());
            (found.evidence_line(), ways)
        };
        let (evidence, ways) = of(Some(20.0));
        assert!(
            evidence.ends_with("20.00 s passed in 300 pauses, in which collector threads ran for 10.50 s")
        );
        assert!(ways[0].starts_with("Find out why threads wait for processors: `assay host`"), "{ways:?}");
        assert!(ways[1].starts_with("Only if nothing keeps threads waiting: "), "{ways:?}");
        for real_s in [Some(1.6), None] {
            let (evidence, ways) = of(real_s);
            assert!(!evidence.contains("passed in"), "{evidence}");
            assert!(!ways[0].contains("processors"), "{ways:?}");
            assert!(
                ways[1..].iter().any(|way| way.starts_with("Rule out that processors were not free")),
                "{ways:?}"
            );
        }
    }
}

#[test]
fn rules_on_pauses() {
    check("throughput-low", |r| r.throughput_percent = Some(89.9));
    let long = check("pauses-long", |r| r.pauses.max_ms = Some(401.0));
    assert_eq!((long.severity, long.at), (Severity::Warning, vec![(0, 77)]));
    check("pauses-long", |r| {
        jvm(r).collector = Some("Z".to_owned());
        r.pauses.max_ms = Some(31.0);
    });
    check("young-collections-frequent", |r| {
        r.pauses_by_phase[0].durations.count = 2_000;
        r.throughput_percent = Some(95.0);
    });
    let in_kernel = |r: &mut GcReport| r.cpu = r.cpu.map(|cpu| GcCpuSum { sys_s: 11.0, ..cpu });
    for (throughput_percent, severity) in [(96.0, Severity::Warning), (85.0, Severity::Error)] {
        let found = check("gc-kernel-time", |r| {
            in_kernel(r);
            r.throughput_percent = Some(throughput_percent);
        });
        assert_eq!(found.severity, severity);
    }
    let waits = |r: &mut GcReport| r.cpu = r.cpu.map(|cpu| GcCpuSum { real_s: 20.0, ..cpu });
    check("gc-threads-wait", |r| {
        waits(r);
        r.pauses.max_ms = Some(500.0);
    });
    let mut rarely_paused = well();
    in_kernel(&mut rarely_paused);
    waits(&mut rarely_paused);
    assert_eq!(findings(&rarely_paused), [], "short pauses that take 0.25 % of the time");
}

#[test]
fn time_lost_at_safepoints_counts_as_lost() {
    let found = check("throughput-low", |r| {
        (r.application_percent, r.other_safepoints_ms) = (Some(7.0), Some(556_500.0));
    });
    assert!(
        found.evidence_line().contains("it ran 7.0 % of 600.0 s: 1.5 s of pauses, 556.5 s"),
        "{}",
        found.evidence_line()
    );
    check("time-to-safepoint-long", |r| r.time_to_safepoint = durations(9_000, 12_800.0, 4.0));
}

#[test]
fn a_j9_is_told_of_options_that_it_has() {
    let mut report = well();
    report.sources[0].dialect = Some("j9".to_owned());
    jvm(&mut report).collector = Some("gencon".to_owned());
    report.full_by_cause = vec![row("system (explicit)", Some(GcScope::Full), 4, 90.0)];
    report.pauses.max_ms = Some(900.0);
    report.throughput_percent = Some(80.0);
    report.cpu = Some(GcCpuSum { count: 300, user_s: 1.0, sys_s: 2.0, real_s: 20.0, resolution_s: 0.01 });
    report.time_to_safepoint.max_ms = Some(150.0);
    report.anomalies.insert(GcAnomaly::PromotionFailed, 3);
    report.out_of_memory = 1;
    let found = findings(&report);
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule.as_str()).collect();
    assert!(rules.contains(&"explicit-gc") && !rules.contains(&"full-gc"), "{rules:?}");
    assert!(rules.len() >= 7, "{rules:?}");
    for finding in &found {
        let of_hotspot = ["-XX:+", "-XX:-", "-Xlog", "-XX:SafepointTimeout", "jcmd"];
        let is_of_hotspot = |way: &str| of_hotspot.iter().any(|option| way.contains(option));
        assert!(!finding.ways().any(is_of_hotspot), "{finding:#?}");
        assert_one_step_each(finding.ways());
    }
}

/// Every branch of the rules' advice, by the collector and its options.
#[test]
fn a_finding_names_one_step_and_alternatives_of_one_each_whatever_the_collector() {
    let collectors =
        ["Serial", "Parallel", "G1", "CMS", "Z", "Shenandoah", "gencon", "balanced", "optthruput", "unknown"];
    for (collector, dialect, flags) in collectors.iter().flat_map(|collector| {
        [("unified", "-Xmn1g"), ("jdk8", "-XX:+AlwaysPreTouch"), ("unified", "-XX:+UseTransparentHugePages")]
            .map(|(dialect, flag)| (*collector, dialect, vec![flag.to_owned()]))
    }) {
        let mut report = well();
        report.sources[0].dialect = Some(dialect.to_owned());
        report.sources[0].messages_dropped = 1;
        (jvm(&mut report).collector, jvm(&mut report).flags) = (Some(collector.to_owned()), flags);
        (jvm(&mut report).region_bytes, jvm(&mut report).parallel_workers) = (None, Some(2));
        report.pauses.max_ms = Some(900.0);
        (report.throughput_percent, report.application_percent) = (None, Some(80.0));
        report.cpu = report.cpu.map(|cpu| GcCpuSum { sys_s: 11.0, ..cpu });
        let causes =
            ["G1 Humongous Allocation", "GCLocker Initiated GC", "System.gc()", "Allocation Failure"];
        report.pauses_by_cause = causes.map(|cause| row(cause, Some(GcScope::Young), 40, 900.0)).to_vec();
        let full = ["System.gc()", "Allocation Failure"];
        report.full_by_cause = full.map(|cause| row(cause, Some(GcScope::Full), 40, 90_000.0)).to_vec();
        report.stalls_by_phase = vec![row("Allocation Stall", None, 4, 40.0)];
        report.safepoints_by_operation = vec![row("ICBufferFull", None, 4, 90_000.0)];
        report.other_safepoints_ms = None;
        for kind in [GcAnomaly::Degenerated, GcAnomaly::ConcurrentModeFailure, GcAnomaly::PromotionFailed] {
            report.anomalies.insert(kind, 2);
        }
        let found = findings(&report);
        assert!(found.len() >= 8, "{collector}: {found:#?}");
        found.iter().for_each(|finding| assert_one_step_each(finding.ways()));
    }
}

#[test]
fn sums_of_few_steps_are_no_evidence() {
    let mut report = well();
    report.cpu = Some(GcCpuSum { count: 3, user_s: 0.0, sys_s: 0.03, real_s: 0.05, resolution_s: 0.01 });
    assert_eq!(findings(&report), []);
}

#[test]
fn rules_on_full_collections_by_cause() {
    let full = |cause: &str, count: u64| {
        let row = row(cause, Some(GcScope::Full), count, 90.0);
        move |r: &mut GcReport| r.full_by_cause = vec![row.clone()]
    };
    let found = check("explicit-gc", full("System.gc()", 2));
    assert_eq!(found.severity, Severity::Warning);
    let mut starting = well();
    starting.full_by_cause = vec![row("Metadata GC Threshold", Some(GcScope::Full), 4, 90.0)];
    starting.full_by_cause[0].last_s = Some(9.0);
    assert_eq!(findings(&starting), [], "four while classes are loaded for the first time");
    check("metaspace-threshold", |r| {
        full("Metadata GC Threshold", 3)(r);
        r.full_by_cause[0].last_s = Some(900.0);
        let used = GcSpaceUse { max_bytes: Some(100 << 20), ..GcSpaceUse::default() };
        r.spaces.insert(GcSpace::Metaspace, used);
    });
    check("full-gc-by-tools", full("Heap Dump Initiated GC", 1));
    let found = check("full-gc", full("G1 Compaction Pause", 1));
    assert_eq!(found.severity, Severity::Error);
    // One of 15 ms every minute is how Serial works; 0.9 s each are felt.
    for (total_ms, is_found) in [(150.0, false), (9_000.0, true)] {
        let mut serial = well();
        jvm(&mut serial).collector = Some("Serial".to_owned());
        serial.full_by_cause = vec![row("Allocation Failure", Some(GcScope::Full), 10, total_ms)];
        let found = findings(&serial);
        assert_eq!(found.iter().any(|f| f.rule == "full-gc"), is_found, "{total_ms} ms: {found:?}");
    }
    let mut report = well();
    full("System.gc()", 2)(&mut report);
    assert!(findings(&report).iter().all(|finding| finding.rule != "full-gc"));
}

#[test]
fn rules_on_room() {
    check("out-of-memory", |r| r.out_of_memory = 1);
    let leak = check("live-set-grows", |r| {
        r.span_s = Some(7_200.0);
        let live = r.live_set.as_mut().unwrap();
        (live.trend, live.slope_bytes_per_h) = (GcTrend::Grows, exact(f64::from(1 << 30)));
        (live.fills_bytes_per_s, live.full_at_s) = (Some(f64::from(1 << 30) / 3_600.0), Some(5.0 * 3_600.0));
    });
    assert!(leak.evidence_line().contains("the heap is full in 3.0 h"), "{}", leak.evidence_line());
    // A leak that has filled the heap is found even in a short log, without the advice to double the heap.
    let filled = |r: &mut GcReport| {
        let live = r.live_set.as_mut().unwrap();
        (live.trend, live.slope_bytes_per_h, live.level_bytes) = (GcTrend::Grows, None, 4_000 << 20);
        (live.fills_bytes_per_s, live.full_at_s) = (Some(f64::from(5 << 20)), Some(50.0));
    };
    let filled = check("live-set-grows", filled);
    assert_eq!(filled.severity, Severity::Error);
    let evidence = filled.evidence_line();
    assert!(
        evidence.contains("it fills at 5.0 MiB/s: the heap was full 50 s after the beginning"),
        "{evidence}"
    );
    let starts = check("live-set-grows", |r| r.live_set.as_mut().unwrap().trend = GcTrend::Grows);
    assert_eq!(starts.severity, Severity::Note);
    let mut start = well();
    start.live_set.as_mut().unwrap().trend = GcTrend::Grows;
    start.live_set.as_mut().unwrap().slope_bytes_per_h = None;
    assert!(findings(&start).iter().all(|finding| finding.rule != "live-set-grows"));
    // Collections that leave it nearly full would have made the heap larger if they could.
    let unsaid = check("heap-too-small", |r| {
        jvm(r).heap_bytes_max = None;
        r.series.points = vec![GcPoint { capacity_bytes: Some(453 << 20), ..GcPoint::default() }];
        r.live_set.as_mut().unwrap().level_bytes = 398 << 20;
    });
    assert!(unsaid.evidence_line().contains("so far at most 453.0 MiB: 88 %"), "{}", unsaid.evidence_line());
    let small = check("heap-too-small", |r| r.live_set.as_mut().unwrap().level_bytes = 3 << 30);
    assert_eq!(small.command(), "Set -Xmx6145m at least (twice the live set)");
    check("heap-too-large", |r| jvm(r).heap_bytes_max = Some(16 << 30));
    let is_found = |change: fn(&mut GcReport)| {
        let mut report = well();
        jvm(&mut report).heap_bytes_max = Some(16 << 30);
        change(&mut report);
        findings(&report).iter().any(|found| found.rule == "heap-too-large")
    };
    assert!(!is_found(|r| r.span_s = Some(58.0)), "a server that starts");
    assert!(!is_found(|r| r.live_set.as_mut().unwrap().trend = GcTrend::Unknown));
    check("heap-too-small", |r| {
        jvm(r).collector = Some("Parallel".to_owned());
        r.live_set.as_mut().unwrap().level_bytes = 2_400 << 20;
        let old = GcSpaceUse { capacity_bytes_max: Some(2_730 << 20), ..GcSpaceUse::default() };
        r.spaces.insert(GcSpace::Old, old);
        r.series.points = vec![GcPoint { capacity_bytes: Some(3_900 << 20), ..GcPoint::default() }];
    });
    check("evacuation-failure", anomaly(GcAnomaly::EvacuationFailure, 2, "evacuation-failure"));
    let found = check("promotion-failure", anomaly(GcAnomaly::PromotionFailed, 1, "promotion-failed"));
    assert_eq!(found.at, [(0, 5)]);
}

#[test]
fn rules_on_collectors() {
    let large = check("humongous-allocations", |r| {
        r.pauses_by_cause.push(row("G1 Humongous Allocation", Some(GcScope::Young), 9, 50.0));
    });
    let change = "Set -XX:G1HeapRegionSize=4m, so that fewer objects reach half a region";
    assert_eq!(large.command(), change);
    check("humongous-allocations", |r| {
        let used = GcSpaceUse { max_bytes: Some(3 << 30), ..GcSpaceUse::default() };
        r.spaces = BTreeMap::from([(GcSpace::Humongous, used)]);
    });
    check("degenerated-cycles", anomaly(GcAnomaly::Degenerated, 1, "degenerated"));
    check("allocation-stalls", |r| r.stalls_by_phase = vec![row("Allocation Stall", None, 4, 40.0)]);
    let late = check(
        "concurrent-mode-failure",
        anomaly(GcAnomaly::ConcurrentModeFailure, 1, "concurrent-mode-failure"),
    );
    assert!(late.claim.starts_with("CMS began too late"));
    let fragmented = check("concurrent-mode-failure", |r| {
        anomaly(GcAnomaly::ConcurrentModeFailure, 1, "concurrent-mode-failure")(r);
        anomaly(GcAnomaly::PromotionFailed, 1, "promotion-failed")(r);
    });
    assert!(fragmented.claim.contains("fragmented"));
    check("premature-promotion", |r| {
        (r.promoted_bytes_per_s, r.promoted_percent) = (exact(3e8), Some(30.0));
        r.throughput_percent = Some(96.0);
    });
    let mut short = well();
    short.promoted_bytes_per_s = Some(Estimate { estimate: 3e8, low: None, high: None });
    short.promoted_percent = Some(96.0);
    assert_eq!(findings(&short), [], "a rate without an interval is no evidence");
}

#[test]
fn rules_on_safepoints() {
    check("time-to-safepoint-long", |r| r.time_to_safepoint.max_ms = Some(150.0));
    let other = check("safepoints-other", |r| {
        let rows =
            [row("G1CollectForAllocation", None, 300, 1_600.0), row("RevokeBias", None, 4_000, 9_000.0)];
        r.safepoints_by_operation = rows.to_vec();
        r.other_safepoints_ms = Some(9_100.0);
    });
    assert!(
        other.evidence_line().contains("4000 x RevokeBias (9000.0 ms)")
            && !other.evidence_line().contains("G1Collect")
    );
    assert!(other.command().contains("-XX:-UseBiasedLocking"));
    // JDK 8 says how long all stood still, collections included, and not for what.
    let mut unnamed = GcReport { span_s: Some(3_600.0), ..GcReport::default() };
    unnamed.safepoints_by_operation = vec![row("Safepoint", None, 9_000, 478_007.0)];
    unnamed.other_safepoints_ms = Some(5_390.0);
    let is_found = |report: &GcReport| findings(report).iter().any(|f| f.rule == "safepoints-other");
    assert!(!is_found(&unnamed), "0.15 % of the time");
    unnamed.other_safepoints_ms = Some(53_900.0);
    let found = findings(&unnamed).into_iter().find(|f| f.rule == "safepoints-other").unwrap();
    assert!(
        found.evidence_line().starts_with("53900 ms of 3600000 ms")
            && !found.evidence_line().contains("478007")
    );
    // A thread that came late to a cleanup is one finding, about that thread.
    let mut late = GcReport { span_s: Some(5.0), ..GcReport::default() };
    late.safepoints_by_operation = vec![row("Cleanup", None, 1, 161.5)];
    late.other_safepoints_ms = Some(161.5);
    late.time_to_safepoint = durations(11, 161.0, 161.0);
    assert!(!is_found(&late) && findings(&late).iter().any(|f| f.rule == "time-to-safepoint-long"));
    (late.other_safepoints_ms, late.safepoints_by_operation[0].durations.total_ms) = (Some(221.5), 221.5);
    assert!(is_found(&late), "60 ms of the operation itself are 1.2 %");
    check("jni-critical-sections", |r| {
        r.pauses_by_cause.push(row("GCLocker Initiated GC", Some(GcScope::Young), 40, 200.0));
    });
}

#[test]
fn rules_on_settings() {
    for (heap_mib, read, fires) in [
        (2_048_u64, ReferenceMode::CompressedUnscaled, false),
        (2_100, ReferenceMode::CompressedZeroBased, true),
        (30_720, ReferenceMode::CompressedZeroBased, false),
        (31_744, ReferenceMode::CompressedDisjointBase, true),
        (32_768, ReferenceMode::Full64CompressedClassPointers, true),
        (65_536, ReferenceMode::Full64CompressedClassPointers, false),
    ] {
        let mut report = well();
        (jvm(&mut report).heap_bytes_max, jvm(&mut report).mode) = (Some(heap_mib << 20), mode(read));
        let found = findings(&report).iter().any(|finding| finding.rule == "reference-mode-limit");
        assert_eq!(found, fires, "{heap_mib} MiB");
    }
    check("reference-mode-limit", |r| {
        (jvm(r).collector, jvm(r).heap_bytes_max) = (Some("gencon".to_owned()), Some(26 << 30));
    });
    for flag in ["-XX:+UseLargePages", "-XX:+UseTransparentHugePages"] {
        check("large-pages-refused", |r| jvm(r).flags = vec![flag.to_owned()]);
    }
    check("gc-threads-few", |r| jvm(r).parallel_workers = Some(2));
}

#[test]
fn rules_on_the_log() {
    check("messages-dropped", |r| r.sources[0].messages_dropped = 3);
    check("lines-not-understood", |r| {
        let shape = UnrecognizedLines { lines: 2, quote: "odd".to_owned(), at: (0, 9) };
        r.not_understood = NotUnderstood { lines: 2, shapes: vec![shape], ..NotUnderstood::default() };
    });
    check("log-breaks-off", |r| r.sources[0].is_torn = true);
    let held = |read: f64| GcReconciliation {
        what: "Completed GCs".to_owned(),
        logged: 71.0,
        read,
        rounding: 0.5,
        at: (0, 800),
    };
    check("log-contradicts-itself", |r| r.reconciliations = vec![held(71.0), held(70.0)]);
    let mut report = well();
    report.reconciliations = vec![held(71.0)];
    assert_eq!(findings(&report), []);
    check("jvm-restarted", |r| r.jvms.push(r.jvms[0].clone()));
    let lacks = check("log-lacks-figures", |r| r.time_to_safepoint = GcDurations::default());
    assert!(lacks.command().contains("safepoint"));
}
