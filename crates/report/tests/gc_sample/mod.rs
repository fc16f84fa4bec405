//! What GC logs say, made by hand: G1 with every part of a report, Z with stalls and a restart, a hostile one, an empty one.

use assay_model::*;
use assay_testkit::SplitMix;
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;

/// A length around a median, with a long tail.
fn length_ms(noise: &mut SplitMix, median_ms: f64) -> f64 {
    median_ms * (1.3 * (noise.share() + noise.share() + noise.share() - 1.5)).exp()
}

/// Percentiles of these lengths, as a report has them.
pub fn durations(lengths: &[f64], max_at: (usize, u64)) -> GcDurations {
    let mut sorted = lengths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied();
    GcDurations {
        count: sorted.len() as u64,
        without_length: 0,
        total_ms: sorted.iter().sum(),
        resolution_ms: Some(0.001),
        geometric_mean_ms: None,
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p95_ms: at(0.95),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
        max_ms: sorted.last().copied(),
        max_at: (!sorted.is_empty()).then_some(max_at),
    }
}

fn row(name: &str, scope: Option<GcScope>, lengths: &[f64], line: u64) -> GcRow {
    let mut histogram: BTreeMap<u64, u64> = BTreeMap::new();
    for ms in lengths {
        *histogram.entry((ms * 1_000.0).ceil() as u64).or_default() += 1;
    }
    GcRow {
        name: name.to_owned(),
        scope,
        durations: durations(lengths, (1, line)),
        last_s: None,
        histogram: histogram.into_iter().map(|(us, n)| (us as f64 / 1_000.0, n)).collect(),
    }
}

fn estimate(estimate: f64, low: f64, high: f64) -> Estimate {
    Estimate { estimate, low: Some(low), high: Some(high) }
}

fn source(name: &str, lines: u64) -> GcSource {
    GcSource {
        name: name.to_owned(),
        dialect: Some("unified".to_owned()),
        bytes: lines * 87,
        lines,
        lines_not_understood: 0,
        messages_dropped: 0,
        is_torn: false,
    }
}

fn jvm() -> GcJvm {
    GcJvm {
        version: Some("17.0.15+6-Debian-1deb12u1 (release)".to_owned()),
        collector: Some("G1".to_owned()),
        mode: Some(ModeRead {
            mode: ReferenceMode::CompressedZeroBased,
            compact_headers: None,
            shift_bits: Some(3),
            heap_base_address: Some(0x7_0000_0000),
            evidence: "line 7: Compressed Oops: Enabled (Zero based)".to_owned(),
        }),
        heap_bytes_initial: Some(256 * MIB),
        heap_bytes_max: Some(1024 * MIB),
        region_bytes: Some(MIB),
        processors: Some(4),
        memory_bytes: Some(16 << 30),
        parallel_workers: Some(4),
        concurrent_workers: Some(1),
        large_pages: Some("disabled".to_owned()),
        flags: ["-Xmx1g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=50"].map(str::to_owned).to_vec(),
        settings: BTreeMap::from([("Heap Region Size".to_owned(), "1M".to_owned())]),
        line: 1,
        ..GcJvm::default()
    }
}

/// A shop of an hour under G1, with a leak, mixed and full collections and an evacuation failure.
pub fn g1() -> GcReport {
    let mut noise = SplitMix(7);
    let mut lengths: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut points = Vec::new();
    for index in 0..360u64 {
        let live = 180.0 + 1.2 * index as f64;
        let mut pauses: BTreeMap<String, (u64, f64, f64)> = BTreeMap::new();
        let mut pause = |kind: &str, ms: f64| {
            let sum = pauses.entry(kind.to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + ms, sum.2.max(ms));
        };
        for _ in 0..3 {
            let ms = length_ms(&mut noise, 9.0);
            lengths.entry("young").or_default().push(ms);
            pause("young", ms);
        }
        if index % 30 == 12 {
            let (mixed, remark) = (length_ms(&mut noise, 24.0), length_ms(&mut noise, 3.0));
            lengths.entry("mixed").or_default().push(mixed);
            lengths.entry("remark").or_default().push(remark);
            pause("mixed", mixed);
            pause("whole", remark);
        }
        if index == 200 || index == 333 {
            let ms = length_ms(&mut noise, 620.0);
            lengths.entry("full").or_default().push(ms);
            pause("full", ms);
        }
        points.push(GcPoint {
            at_s: 10.0 * index as f64,
            before_bytes_max: Some((((live + 320.0 + 60.0 * noise.share()) as u64).min(1_020)) * MIB),
            after_bytes_min: Some((live + 30.0 * noise.share()) as u64 * MIB),
            capacity_bytes: Some(if index < 90 { 640 } else { 1_024 } * MIB),
            longest_at: pauses.keys().map(|kind| (kind.clone(), (1, 30 * index + 3))).collect(),
            pauses,
            stalled_ms: 0.0,
            is_start: index == 0,
        });
    }
    let all: Vec<f64> = lengths.values().flatten().copied().collect();
    let of =
        |name: &str, title: &str, scope: GcScope, line: u64| row(title, Some(scope), &lengths[name], line);
    let total_s = all.iter().sum::<f64>() / 1_000.0;
    GcReport {
        schema: schema::GC.to_owned(),
        sources: vec![source("/var/log/shop/gc.log.0", 61_234), source("/var/log/shop/gc.log", 12_345)],
        jvms: vec![jvm()],
        span_s: Some(3_600.0),
        pauses: durations(&all, (1, 9_120)),
        pauses_by_phase: vec![
            of("young", "Pause Young (Normal)", GcScope::Young, 4_711),
            of("full", "Pause Full", GcScope::Full, 9_120),
            of("mixed", "Pause Young (Mixed)", GcScope::Mixed, 812),
            of("remark", "Pause Remark", GcScope::Whole, 901),
        ],
        pauses_by_cause: vec![
            row("G1 Evacuation Pause", None, &[&lengths["young"][..], &lengths["mixed"][..]].concat(), 4_711),
            row("G1 Compaction Pause", Some(GcScope::Full), &lengths["full"], 9_120),
        ],
        full_by_cause: vec![row("G1 Compaction Pause", Some(GcScope::Full), &lengths["full"], 9_120)],
        pause_parts_ms: BTreeMap::new(),
        concurrent_by_phase: vec![row("Concurrent Mark", None, &[210.0, 350.0, 402.5], 777)],
        cycles_by_phase: vec![row("Concurrent Mark Cycle", None, &[260.0, 410.0, 470.0], 790)],
        safepoints_by_operation: vec![row("G1CollectForAllocation", None, &lengths["young"], 4_711)],
        triggers: BTreeMap::from([("occupancy higher than threshold".to_owned(), 12)]),
        throughput_percent: Some(100.0 - total_s / 36.0),
        application_percent: Some(100.0 - (total_s + 0.0142) / 36.0),
        mmu: [(10.0, 0.0), (100.0, 0.0), (1_000.0, 29.5), (10_000.0, 91.2), (60_000.0, 97.31)]
            .map(|(window_ms, utilisation_percent)| GcMmu { window_ms, utilisation_percent })
            .to_vec(),
        allocated_bytes_per_s: Some(estimate(96.4e6, 95.1e6, 97.8e6)),
        allocated_bytes: Some(347_000_000_000),
        promoted_bytes_per_s: Some(estimate(1.2e6, 0.9e6, 1.6e6)),
        promoted_percent: Some(1.24),
        freed_bytes: Some(346_500_000_000),
        garbage_bytes_per_request: Some(estimate(48_200.0, 47_600.0, 48_900.0)),
        live_set: Some(GcLiveSet {
            first_bytes: Some(1 << 30),
            basis: "lowest after mixed collections".to_owned(),
            count: 12,
            last_bytes: 610 * MIB,
            max_bytes: 612 * MIB,
            level_bytes: 610 * MIB,
            fills_bytes_per_s: Some(4.3e8 / 3_600.0),
            full_at_s: Some(14_400.0),
            slope_bytes_per_h: Some(estimate(4.3e8, 3.9e8, 4.6e8)),
            trend: GcTrend::Grows,
        }),
        time_to_safepoint: durations(&[0.02, 0.05, 0.05, 0.09, 1.4], (0, 881)),
        other_safepoints_ms: Some(14.2),
        cpu: Some(GcCpuSum { count: 1_082, user_s: 31.2, sys_s: 1.1, real_s: 12.4, resolution_s: 0.01 }),
        concurrent_cpu: Some(GcCpuSum {
            count: 9,
            user_s: 14.8,
            sys_s: 0.2,
            real_s: 16.1,
            resolution_s: 0.01,
        }),
        anomalies: BTreeMap::from([(GcAnomaly::EvacuationFailure, 2)]),
        spaces: BTreeMap::from([
            (
                GcSpace::Old,
                GcSpaceUse {
                    last_bytes: Some(600 * MIB),
                    max_bytes: Some(601 * MIB),
                    capacity_bytes_max: None,
                },
            ),
            (
                GcSpace::Metaspace,
                GcSpaceUse {
                    last_bytes: Some(61 * MIB),
                    max_bytes: Some(61 * MIB),
                    capacity_bytes_max: Some(64 * MIB),
                },
            ),
        ]),
        series: GcSeries { bucket_s: 10.0, points, clocks: vec![clock(0, 0)], ..GcSeries::default() },
        reconciliations: vec![GcReconciliation {
            what: "collections by number".to_owned(),
            logged: 1_105.0,
            read: 1_105.0,
            rounding: 0.0,
            at: (1, 12_340),
        }],
        findings: findings(),
        not_understood: NotUnderstood {
            lines_of_pauses: 0,
            lines: 3,
            shapes: vec![UnrecognizedLines {
                lines: 3,
                quote: "[12.345s][info][app] started in 12 ms".to_owned(),
                at: (0, 17),
            }],
        },
        ..GcReport::default()
    }
}

fn findings() -> Vec<Finding<RuleId>> {
    let finding = |rule, severity, claim: &str, evidence: &str, at: &[(usize, u64)]| {
        Finding::measured(rule, severity, claim, evidence).at(at.to_vec())
    };
    vec![
        finding(
            RuleId::of("reference-mode-limit"),
            Severity::Note,
            "References are compressed and zero-based.",
            "Compressed Oops mode: Zero based",
            &[(0, 7)],
        ),
        Finding {
            change: Some(Change {
                command: "Take two heap dumps some hours apart and compare the classes that grow".to_owned(),
                alternatives: vec!["Set -Xmx1500m, which gives room for 1 more hour".to_owned()],
                expected_effect: Some("Names what is kept; each dump costs a full collection".to_owned()),
                ..Change::default()
            }),
            ..finding(
                RuleId::of("live-set-grows"),
                Severity::Error,
                "The live set grows by 410 MiB an hour and fills the heap within an hour.",
                "610 MiB after the last of 12 mixed collections, 3.9e8 to 4.6e8 bytes an hour, heap 1024 MiB",
                &[(1, 9_120), (1, 4_100), (0, 60_000), (0, 41_000), (0, 22_000)],
            )
        },
        finding(
            RuleId::of("evacuation-failure"),
            Severity::Warning,
            "Two collections found no room for survivors.",
            "2 of 1092 pauses, 1.31 s",
            &[(1, 9_100)],
        )
        .to_do("Give the heap more room: raise -Xmx above 1.0 GiB")
        .or("Keep more in reserve: -XX:G1ReservePercent=20")
        .or("Begin marking earlier: lower -XX:InitiatingHeapOccupancyPercent"),
    ]
}

/// At a position of the axis so many seconds behind 2025-09-16T08:17:32Z.
fn clock(at_s: u64, behind_s: i64) -> GcClock {
    GcClock { at_ns: at_s * 1_000_000_000, unix_ns: (1_758_010_652 + behind_s) * 1_000_000_000 }
}

/// Z with generations: phases of microseconds, stalls, a restart, no CPU time.
pub fn z() -> GcReport {
    let mut noise = SplitMix(11);
    let mut points = Vec::new();
    let mut lengths = Vec::new();
    for index in 0..40u64 {
        let ms = length_ms(&mut noise, 0.021);
        lengths.push(ms);
        points.push(GcPoint {
            at_s: index as f64,
            before_bytes_max: Some((300 + (noise.share() * 100.0) as u64) * MIB),
            after_bytes_min: Some(90 * MIB),
            capacity_bytes: Some(512 * MIB),
            pauses: BTreeMap::from([("young".to_owned(), (1, ms, ms))]),
            longest_at: BTreeMap::new(),
            stalled_ms: if index == 17 { 41.0 } else { 0.0 },
            is_start: index == 0 || index == 25,
        });
    }
    let mut jvm = GcJvm { collector: Some("Z".to_owned()), is_generational: Some(true), ..jvm() };
    jvm.mode = None;
    jvm.flags.clear();
    GcReport {
        schema: schema::GC.to_owned(),
        sources: vec![GcSource { is_torn: true, messages_dropped: 5, ..source("z.log.gz", 4_000) }],
        jvms: vec![jvm.clone(), GcJvm { line: 2_500, ..jvm }],
        span_s: Some(39.5),
        pauses: durations(&lengths, (0, 77)),
        pauses_by_phase: vec![GcRow {
            durations: durations(&lengths, (0, 77)),
            ..row("Pause Mark Start", Some(GcScope::Young), &lengths, 77)
        }],
        stalls_by_phase: vec![GcRow {
            durations: durations(&[12.0, 29.0], (0, 1_700)),
            ..row("Allocation Stall", None, &[12.0, 29.0], 1_700)
        }],
        triggers: BTreeMap::from([("Warmup".to_owned(), 3), ("Allocation Rate".to_owned(), 17)]),
        throughput_percent: Some(99.997_84),
        stalled_ms: Some(11.5),
        mmu: vec![
            GcMmu { window_ms: 1.0, utilisation_percent: 91.0 },
            GcMmu { window_ms: 1_000.0, utilisation_percent: 99.98 },
        ],
        series: GcSeries {
            bucket_s: 1.0,
            points,
            // An hour between the two JVMs.
            clocks: vec![clock(0, 0), clock(25, 3_625)],
            ..GcSeries::default()
        },
        problems: vec![Problem::new("z.log.gz", "the packed file breaks off; what stands before was read")],
        ..GcReport::default()
    }
}

/// A log without anything that is understood.
pub fn empty() -> GcReport {
    GcReport {
        schema: schema::GC.to_owned(),
        sources: vec![GcSource { dialect: None, ..source("empty.log", 0) }],
        ..GcReport::default()
    }
}

/// Names that are markup, figures that are none.
pub fn hostile() -> GcReport {
    let mut report = g1();
    let name = "<script>alert('1')</script>\u{202e}\u{1b}[31m, \"x\"\\".to_owned();
    report.sources[0].name.clone_from(&name);
    report.jvms[0].version = Some(name.clone());
    report.jvms[0].flags = vec![name.clone(); 400];
    report.pauses_by_phase[0].name.clone_from(&name);
    report.pauses_by_phase[0].name.push_str(&"long ".repeat(60));
    report.pauses_by_cause[0].name.clone_from(&name);
    report.findings[1].claim.clone_from(&name);
    report.findings[1].at = vec![(99, u64::MAX)];
    report.not_understood.shapes[0].quote.clone_from(&name);
    report.pauses.max_at = Some((usize::MAX, 1));
    report.pauses_by_phase[1].durations.max_ms = Some(f64::NAN);
    report.pauses_by_phase[2].histogram = vec![(f64::INFINITY, 3), (-1.0, 2), (1e300, u64::MAX)];
    report.span_s = Some(f64::INFINITY);
    report.series.points[3].at_s = f64::NAN;
    report.series.points[4].capacity_bytes = Some(u64::MAX);
    report.series.points[5].pauses.insert(name, (u64::MAX, f64::NAN, 1e300));
    report.mmu.push(GcMmu { window_ms: f64::NAN, utilisation_percent: f64::NAN });
    report
}

/// Two differences and one that cannot be told.
pub fn comparison() -> GcComparison {
    let difference = |metric: &str, before, after, ratio, verdict| GcDifference {
        metric: metric.to_owned(),
        before,
        after,
        ratio,
        verdict,
    };
    let differences = vec![
        difference(
            "pause_p99_ms",
            Some(38.2),
            Some(51.9),
            Some(estimate(1.36, 1.21, 1.52)),
            GcVerdict::Higher,
        ),
        difference(
            "throughput_percent",
            Some(99.1),
            Some(99.0),
            Some(estimate(0.999, 0.99, 1.01)),
            GcVerdict::NoDifferenceShown,
        ),
        difference(
            "allocated_bytes_per_s",
            Some(4.2e9),
            Some(18.8e6),
            Some(estimate(0.0879, 0.0212, 0.364)),
            GcVerdict::Lower,
        ),
        difference("stalls_per_s", None, Some(0.1), None, GcVerdict::InsufficientData),
    ];
    let other = GcJvm { collector: Some("Parallel".to_owned()), ..jvm() };
    GcComparison {
        schema: schema::GC_COMPARISON.to_owned(),
        before: "a.log".to_owned(),
        after: "b.log".to_owned(),
        before_jvm: Some(jvm()),
        after_jvm: Some(other),
        differences,
    }
}
