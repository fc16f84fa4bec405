//! The made-up series of a trial: windows, collections, memory samples, the percentile curve.

use super::{BLOCKS, MIB, WINDOW_NS, around, base, jvm, provenance};
use assay_model::Check;
use assay_model::*;
use assay_testkit::SplitMix;
use std::collections::BTreeMap;

/// One resident trial: six windows, the third of one variant disturbed and repeated.
pub fn trial(plan: &Plan, variant: &Variant, number: u32, noise: &mut SplitMix) -> StoredTrial {
    let level = variant.levels["reference mode"].as_str();
    let heap_mib = variant.max_heap_bytes.expect("the sample sets it") / MIB;
    let mut windows = Vec::new();
    let mut gc_events = Vec::new();
    let mut memory = Vec::new();
    let mut at = 60_000_000_000 + u64::from(number) * WINDOW_NS;
    for block in 1..=BLOCKS {
        let disturbed = (number % 5 == 2 && block == 3) || (number == 4 && block == 5);
        for attempt in 1..=if disturbed { 2 } else { 1 } {
            let mut window = window(level, heap_mib, at, block, attempt, noise);
            if disturbed && attempt == 1 {
                window.disturbances.push(Disturbance {
                    kind: Check::CpuPressure,
                    evidence: "tasks waited for a processor in 31.4 % of the window, the limit is 10 %"
                        .to_owned(),
                });
            }
            collections(&window, heap_mib, &mut gc_events, noise);
            samples(&window, level, heap_mib, &mut memory, noise);
            windows.push(window);
            at += WINDOW_NS * 8;
        }
    }
    let capped = level == "64-bit" && heap_mib == 96;
    let trial = Trial {
        schema: schema::TRIAL.to_owned(),
        provenance: provenance(),
        number,
        variant: variant.name.clone(),
        block: 1,
        attempt: 1,
        seed: plan.trials[number as usize - 1].seed,
        treatments: vec![],
        command: vec!["java".to_owned(), "-jar".to_owned(), "brokerage.jar".to_owned()],
        processes: vec![],
        jvm: variant.jvm.clone().or_else(|| Some(jvm(17, 64))),
        mode: Some(mode(level, heap_mib)),
        collector: Some("Parallel".to_owned()),
        started_at: format!("2026-03-01T10:{:02}:00Z", number % 60),
        started_monotonic_ns: Some(10_000_000_000 + u64::from(number) * WINDOW_NS),
        start_to_ready_ms: Some(around(noise, 6_400.0, 0.1)),
        users: None,
        session_starts: None,
        warm_up: Some(WarmUp {
            rule: plan.warm_up.clone(),
            ended_by: if capped { WarmUpEnd::Cap } else { WarmUpEnd::Steady },
            duration_s: if capped { 60.0 } else { around(noise, 42.0, 0.2) },
            requests: 61_230,
            cpu_ms_per_request: vec![2.1, 0.9, 0.6, 0.47, 0.44, 0.43],
        }),
        windows,
        response_curve: vec![],
        audit: Some(Audit { passed: true, detail: "money and shares conserved, 0 orders lost".to_owned() }),
        outcome: TrialOutcome::Completed,
        group: None,
        page_outs: Vec::new(),
        excluded_observers: vec![],
        problems: vec![],
    };
    StoredTrial {
        trial,
        gc_events,
        gc_report: None,
        gc_beside: Vec::new(),
        memory,
        memory_report: None,
        capacity: None,
    }
}

fn mode(level: &str, heap_mib: u64) -> ModeRead {
    let (mode, shift, evidence) = match level {
        "32-bit" => (ReferenceMode::Bits32, None, "32-bit JVM: OpenJDK Server VM, linux-x86".to_owned()),
        "64-bit" => (ReferenceMode::Full64, None, "no compressed oops line in the log: off".to_owned()),
        "compressed-zero-based" => zero_based(heap_mib),
        _ if heap_mib > 2048 => zero_based(heap_mib),
        _ => (
            ReferenceMode::CompressedUnscaled,
            Some(0),
            format!(
                "[0.012s][debug][gc,heap,coops] Heap address: 0x{:016x}, size: {heap_mib} MB, Compressed Oops mode: 32-bit",
                (4096 - heap_mib) * MIB
            ),
        ),
    };
    ModeRead {
        mode,
        compact_headers: Some(level.starts_with("compact")),
        shift_bits: shift,
        heap_base_address: None,
        evidence,
    }
}

fn zero_based(heap_mib: u64) -> (ReferenceMode, Option<u8>, String) {
    let evidence = format!(
        "[0.012s][debug][gc,heap,coops] Heap address: 0x{:016x}, size: {heap_mib} MB, Compressed Oops mode: Zero based, Oop shift amount: 3",
        (32768 - heap_mib) * MIB
    );
    (ReferenceMode::CompressedZeroBased, Some(3), evidence)
}

fn window(level: &str, heap_mib: u64, at: u64, block: u32, attempt: u32, noise: &mut SplitMix) -> Window {
    let (garbage, cpu) = base(level, heap_mib);
    let cpu = around(noise, cpu, 0.06);
    let rate = around(noise, 930.0 / cpu, 0.05);
    let p50 = around(noise, 3.4 * cpu / 0.45, 0.1);
    let p99 = around(noise, if level == "64-bit" && heap_mib == 96 { 98.0 } else { 44.0 }, 0.25);
    let stopped =
        if level == "64-bit" && heap_mib == 96 { 318.0 } else { 10_000.0 / (heap_mib as f64 + 900.0) };
    let rss = (heap_mib as f64 * 0.82 + 330.0) * MIB as f64 * if level == "64-bit" { 1.05 } else { 1.0 };
    let mut metrics: BTreeMap<String, f64> = [
        ("garbage_kib_per_request", around(noise, garbage, 0.01)),
        ("cpu_ms_per_request", cpu),
        ("throughput_per_s", rate),
        ("response_p50_ms", p50),
        ("response_p99_ms", p99),
        ("gc_pause_ms_per_s", around(noise, stopped, 0.1)),
        ("rss_bytes", around(noise, rss, 0.02)),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    let mut problems = vec![];
    if level == "compressed-zero-based" && heap_mib == 1024 {
        metrics.remove("rss_bytes");
        problems.push(Problem::new("rss_bytes", "smaps of the process could not be read: permission denied"));
    }
    let latency = LatencySummary {
        p50: Some(p50),
        p95: Some(p99 / 4.0),
        p99: Some(p99),
        p99_9: Some(p99 * 1.8),
        max: Some(p99 * 3.0),
    };
    Window {
        block,
        attempt,
        start_monotonic_ns: at,
        end_monotonic_ns: at + WINDOW_NS,
        requests: (rate * 10.0) as u64,
        completed: (rate * 10.0) as u64,
        metrics,
        response_ms: latency,
        service_ms: latency,
        send_lag_ms: LatencySummary { p50: Some(0.01), p99: Some(0.2), ..LatencySummary::default() },
        checks: checks(level, block),
        attribution: Some(slowest(p99, stopped)),
        problems,
        ..Window::default()
    }
}

/// Where references are not compressed, the second block lost responses.
fn checks(level: &str, block: u32) -> Vec<ValidityCheck> {
    let lost = level == "64-bit" && block == 2;
    let evidence =
        if lost { "21 of 18,600 requests had no answer (0.11 %)" } else { "0 requests had no answer" };
    let of = |check, passed, evidence: &str| ValidityCheck {
        check,
        passed: Some(passed),
        evidence: evidence.to_owned(),
    };
    vec![
        of(Check::LostResponses, !lost, evidence),
        of(Check::Restart, true, "the same process from start to end"),
    ]
}

/// The longer the server stood still for collections, the more of the slowest requests are explained by it.
fn slowest(p99_ms: f64, stopped_ms_per_s: f64) -> LimitAttribution {
    let misses = 186;
    let by_pauses = (misses as f64 * (0.2 + stopped_ms_per_s / 600.0).min(0.9)) as u64;
    let cause = |cause, misses, overlapped, expected| AttributedCause { cause, misses, overlapped, expected };
    LimitAttribution {
        limit_ms: p99_ms,
        operation: None,
        misses,
        causes: vec![
            cause(LateCause::GcPause, by_pauses, by_pauses + 6, Some(stopped_ms_per_s / 10.0)),
            cause(LateCause::RunQueue, 11, 180, Some(171.0)),
            cause(LateCause::ConnectionWait, 0, 3, None),
        ],
        unexplained: misses - by_pauses - 8,
    }
}

fn collections(window: &Window, heap_mib: u64, events: &mut Vec<GcRecord>, noise: &mut SplitMix) {
    let young = (heap_mib as f64 / 3.0).max(20.0);
    let rate_mib = window.metrics["garbage_kib_per_request"] * window.metrics["throughput_per_s"] / 1024.0;
    let live = 45.0 + 0.05 * heap_mib as f64;
    let mut at = window.start_monotonic_ns as f64;
    loop {
        at += around(noise, young / rate_mib, 0.1) * 1e9;
        if at >= window.end_monotonic_ns as f64 {
            return;
        }
        let id = events.len() as u64;
        let after = around(noise, live + (id % 24) as f64 * 0.4, 0.03);
        let full = id % 97 == 96;
        events.push(GcRecord {
            scope: Some(if full { GcScope::Full } else { GcScope::Young }),
            cause: Some("Allocation Failure".to_owned()),
            cycle_id: Some(id),
            end: GcInstant {
                monotonic_ns: Some(at as u64),
                uptime_ns: Some(at as u64),
                ..GcInstant::default()
            },
            duration_ns: Some((around(noise, if full { 93.0 } else { 4.0 }, 0.4) * 1e6) as u64),
            heap: GcSizes {
                before_bytes: Some(((after + young).min(heap_mib as f64) * MIB as f64) as u64),
                after_bytes: Some((after * MIB as f64) as u64),
                capacity_bytes: Some(heap_mib * MIB),
                resolution_bytes: None,
            },
            ..GcRecord::new(
                GcRecordKind::Pause,
                if full { "Pause Full" } else { "Pause Young" },
                0,
                40 + id * 12,
            )
        });
    }
}

fn samples(
    window: &Window,
    level: &str,
    heap_mib: u64,
    memory: &mut Vec<MemorySample>,
    noise: &mut SplitMix,
) {
    if level == "compressed-zero-based" && heap_mib == 1024 {
        return;
    }
    let grown = memory.len() as f64 * 0.4;
    for second in 0..=10u64 {
        let heap = (heap_mib as f64 * 0.8 + grown).min(heap_mib as f64);
        let wide = if level == "64-bit" { 1.15 } else { 1.0 };
        let parts = [
            (Area::JavaHeap, heap),
            (Area::Code, 38.0),
            (Area::ClassMetadata, 61.0 * wide),
            (Area::JitCode, 43.0 + grown / 20.0),
            (Area::Stacks, 7.5),
            (Area::MallocHeap, around(noise, 36.0, 0.05)),
            (Area::NativeAnonymous, around(noise, 92.0 * wide, 0.04)),
            (Area::Other, 0.4),
        ];
        let areas: Vec<AreaBytes> = parts
            .iter()
            .map(|&(area, mib)| AreaBytes { area, resident_bytes: (mib * MIB as f64) as u64 })
            .collect();
        memory.push(MemorySample {
            monotonic_ns: window.start_monotonic_ns + second * (WINDOW_NS / 10),
            rss_bytes: areas.iter().map(|a| a.resident_bytes).sum(),
            pss_bytes: None,
            swap_bytes: Some(0),
            areas,
        });
    }
}

/// A percentile curve with a tail of collections.
pub fn curve(noise: &mut SplitMix, stored: &StoredTrial) -> Vec<LatencyPoint> {
    let counted = stored.trial.windows.iter().find(|w| w.disturbances.is_empty());
    let Some((p50, p99)) = counted.and_then(|w| Some((w.response_ms.p50?, w.response_ms.p99?))) else {
        return vec![];
    };
    let mut points: Vec<LatencyPoint> = Vec::new();
    for step in 0..=44u32 {
        let nines = f64::from(step) / 10.0;
        let share = 1.0 - 10f64.powf(-nines);
        let body = p50 * (0.25 + 1.1 * nines);
        let tail = p99 * ((nines - 1.2).max(0.0) / 0.8).powf(1.3) * 0.9;
        let ms = around(noise, body + tail, 0.01).max(points.last().map_or(0.0, |p| p.ms));
        points.push(LatencyPoint { percentile: share * 100.0, ms });
    }
    points
}
