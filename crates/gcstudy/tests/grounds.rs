//! What is said of a log has its ground in it: spans reach from the first dated line to the last, what is not in the log is absent, a
//! self-check accuses only when it is right, a heap full of live objects has a live set.

use crate::analysed;
use assay_model::{GC_FIGURES, GcFigure, GcReport, GcTrend};
use std::fmt::Write;

fn report(log: &str) -> GcReport {
    analysed::report(log.as_bytes())
}

fn figure(report: &GcReport, id: &str) -> Option<f64> {
    GcFigure::by_id(id).expect("a figure").read(report)
}

fn found(report: &GcReport) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

#[track_caller]
fn is_near(got: Option<f64>, want: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() <= 0.005 * want), "{got:?}, not {want}");
}

/// Two young pauses within a second of a minute, by unified logging; the application goes on and ends.
const QUIET: &str = "\
[0.010s][info][gc,init] CPUs: 4 total, 4 available
[0.011s][info][gc     ] Using G1
[30.000s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[30.100s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 60M->10M(128M) 100.000ms
[30.500s][info][gc,start    ] GC(1) Pause Young (Normal) (G1 Evacuation Pause)
[30.600s][info][gc          ] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 70M->10M(128M) 100.000ms
[60.010s][info][gc,heap,exit] Heap
[60.010s][info][gc,heap,exit]  garbage-first heap   total 131072K, used 20480K [0x0, 0x1)
";

#[test]
fn a_span_reaches_from_the_first_dated_line_to_the_last() {
    let quiet = report(QUIET);
    is_near(quiet.span_s, 60.0);
    is_near(quiet.throughput_percent, 100.0 * (1.0 - 0.2 / 60.0));
    is_near(quiet.allocated_bytes_per_s.map(|rate| rate.estimate), f64::from(60 << 20) / 60.0);
    is_near(figure(&quiet, "pauses_per_s"), 2.0 / 60.0);
    let window = quiet.mmu.iter().find(|row| row.window_ms == 10_000.0).expect("the log is longer");
    is_near(Some(window.utilisation_percent), 98.0);
}

#[test]
fn a_span_of_jdk_8_reaches_over_lines_that_say_nothing_of_collections() {
    let log = "\
2026-01-02T10:00:00.500+0000: 0.500: Application time: 0.4900000 seconds
2026-01-02T10:00:00.510+0000: 0.510: Total time for which application threads were stopped: 0.0100000 seconds, Stopping threads took: 0.0000100 seconds
2026-01-02T10:00:10.000+0000: 10.000: [GC (Allocation Failure) [PSYoungGen: 30000K->1000K(38400K)] 30000K->1000K(125952K), 0.1000000 secs] [Times: user=0.20 sys=0.00, real=0.10 secs]
2026-01-02T10:00:12.000+0000: 12.000: [GC (Allocation Failure) [PSYoungGen: 31000K->1000K(38400K)] 31000K->1000K(125952K), 0.1000000 secs] [Times: user=0.20 sys=0.00, real=0.10 secs]
2026-01-02T10:01:40.500+0000: 100.500: Application time: 88.4000000 seconds
";
    is_near(report(log).span_s, 100.0);
}

#[test]
fn a_log_that_begins_with_the_end_of_a_pause_has_all_of_it() {
    let log = "\
[10.000s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause) 60M->10M(128M) 500.000ms
[12.000s][info][gc] GC(8) Pause Young (Normal) (G1 Evacuation Pause) 70M->10M(128M) 500.000ms
";
    is_near(report(log).span_s, 2.5);
}

#[test]
fn a_restart_does_not_make_the_span_reach_over_the_gap() {
    let second = QUIET.replace("[info]", "[info ]");
    is_near(report(&format!("{QUIET}{second}")).span_s, 120.0);
    assert_eq!(report(&format!("{QUIET}{second}")).jvms.len(), 2);
}

/// `-Xlog:gc` of Z has cycles and no pauses.
#[test]
fn pauses_that_are_not_in_the_log_are_absent_everywhere() {
    let mut log = "[0.145s][info][gc] Using The Z Garbage Collector\n".to_owned();
    for n in 0..40 {
        let (from, to) = (f64::from(n) + 1.0, f64::from(n) + 1.2);
        writeln!(log, "[{from:.3}s][info][gc] GC({n}) Major Collection (Proactive)").expect("a text");
        writeln!(log, "[{to:.3}s][info][gc] GC({n}) Major Collection (Proactive) 64M(40%)->20M(12%) 0.200s")
            .expect("a text");
    }
    let cycles = report(&log);
    assert!(cycles.throughput_percent.is_none() && cycles.mmu.is_empty());
    let of_pauses = ["pause", "throughput", "application", "mmu"];
    let told: Vec<&str> = GC_FIGURES
        .iter()
        .filter(|figure| of_pauses.iter().any(|name| figure.id.starts_with(name)))
        .filter(|figure| figure.read(&cycles).is_some())
        .map(|figure| figure.id)
        .collect();
    assert_eq!(told, Vec::<&str>::new());
    assert!(figure(&cycles, "span_s").is_some() && figure(&cycles, "live_set_bytes").is_some());
}

/// Cycles of Shenandoah: one whole, one that ends with its mark, one that the end of the JVM cuts off.
fn shenandoah(statistics: &[String]) -> GcReport {
    let mut log = "[0.100s][info][gc] Using Shenandoah\n".to_owned();
    for (id, phases) in [(0, 4), (1, 2), (2, 1)] {
        let all =
            ["Pause Init Mark", "Pause Final Mark", "Pause Init Update Refs", "Pause Final Update Refs"];
        for (at, phase) in all.iter().take(phases).enumerate() {
            writeln!(log, "[{}.{at}00s][info][gc] GC({id}) {phase} 0.500ms", id + 1).expect("a text");
        }
    }
    for line in statistics {
        writeln!(log, "[5.000s][info][gc,stats     ] {line}").expect("a text");
    }
    report(&log)
}

fn pauses(name: &str, count: u64) -> String {
    format!("{name:<30} =    0.001 s (a =      500 us) (n = {count:>5}) (lvls, us =      500,      500)")
}

#[test]
fn the_statistics_of_shenandoah_agree_in_the_words_of_every_release() {
    let jdk_11 = [
        pauses("Pause Init Mark (N)", 2),
        pauses("Pause Final Mark (N)", 2),
        pauses("Pause Init  Update Refs (N)", 1),
        pauses("Pause Final Update Refs (N)", 1),
        "    2 successful concurrent GCs".to_owned(),
        "      0 invoked explicitly".to_owned(),
        "    0 Degenerated GCs".to_owned(),
        "    0 Full GCs".to_owned(),
        "      0 upgraded from Degenerated GC".to_owned(),
    ];
    let jdk_28 = [
        pauses("Pause Init Mark (N)", 3),
        pauses("Pause Final Mark (N)", 2),
        pauses("Pause Init Update Refs (N)", 1),
        pauses("Pause Final Update Refs (N)", 1),
        "    3 GC attempts. 2 Completed GCs (66.67%).".to_owned(),
        "    2 Successful Concurrent GCs (100.00%)".to_owned(),
        "      1 abbreviated (50.00%)".to_owned(),
        "    4 Stalls".to_owned(),
        "        4 happened at Mark".to_owned(),
        "    0 Full GCs (0.00%)".to_owned(),
    ];
    for statistics in [&jdk_11[..], &jdk_28[..]] {
        let whole = shenandoah(statistics);
        assert!(!found(&whole).contains(&"log-contradicts-itself"), "{:#?}", whole.reconciliations);
        assert!(5 <= whole.reconciliations.len());
    }
    // What the log really lacks is still reported: a kind of pause, a cycle, a degenerated collection.
    for (line, of) in [
        ("Pause Final Mark (N)", pauses("Pause Final Mark (N)", 9)),
        ("successful", "    9 successful concurrent GCs".to_owned()),
        ("Degenerated", "    1 Degenerated GCs\n[5.000s][info][gc,stats] 1 happened at Mark".to_owned()),
    ] {
        let mut wrong = jdk_11.to_vec();
        *wrong.iter_mut().find(|text| text.contains(line)).expect("the line") = of;
        assert!(found(&shenandoah(&wrong)).contains(&"log-contradicts-itself"), "{line}");
    }
}

/// Full collections of a heap of 100 MiB, every so many milliseconds, that leave so much.
fn full_collections(after_mib: impl Iterator<Item = (u64, f64)>) -> GcReport {
    full_collections_of(after_mib.map(|(ms, mib)| (ms, mib, 100)))
}

/// The same of a heap that may have 100 MiB, and has so much at each.
fn full_collections_of(after_mib: impl Iterator<Item = (u64, f64, u64)>) -> GcReport {
    let mut log =
        "[0.010s][info][gc] Using Serial\n[0.011s][info][gc,init] Heap Max Capacity: 100M\n".to_owned();
    for (n, (ms, mib, of_mib)) in after_mib.enumerate() {
        let (s, kib, of_kib) = (ms as f64 / 1e3, (mib * 1_024.0) as u64, of_mib << 10);
        writeln!(
            log,
            "[{s:.3}s][info][gc] GC({n}) Pause Full (Allocation Failure) {of_kib}K->{kib}K({of_kib}K) 30.000ms"
        )
        .expect("a text");
    }
    report(&log)
}

#[test]
fn a_leak_is_named_until_the_heap_is_full_and_beyond() {
    let level = |n: u64| (10.0 + 5.0 * n as f64).min(97.0);
    // 5 MiB in each second until 17.4 s; then one collection after the other.
    let slow = (1..=17).map(|n| (n * 1_000, level(n)));
    let fast = (0..60).map(|n| (17_500 + n * 100, 97.0));
    let leak = full_collections(slow.chain(fast));
    let live = leak.live_set.clone().expect("full collections");
    assert_eq!(live.trend, GcTrend::Grows);
    is_near(live.fills_bytes_per_s, f64::from(5 << 20));
    assert_eq!(found(&leak)[0], "live-set-grows", "{:?}", found(&leak));
    assert!(!found(&leak).contains(&"heap-too-small"), "twice a set that grows is nothing");
    // One that is as large from the start on needs a larger heap.
    let large = full_collections((1..=60).map(|n| (n * 300, 85.0 + (n % 3) as f64)));
    assert!(found(&large).contains(&"heap-too-small") && !found(&large).contains(&"live-set-grows"));
    // One that is built in the first second, too.
    let built = (1..=5).map(|n| (n * 200, 18.0 * n as f64)).chain((1..=60).map(|n| (1_000 + n * 300, 94.0)));
    let built = full_collections(built);
    assert!(!found(&built).contains(&"live-set-grows"), "{:?}", built.live_set);
}

/// Parallel makes its young generation smaller when the old one fills, so that the heap never is as large again as it was. Its collections
/// leave some dead objects now and then, and those of a full heap leave the program little time.
#[test]
fn a_leak_is_named_in_a_heap_that_is_smaller_than_it_was_when_it_is_full() {
    let of_mib = |at: u64| if at == 1 { 92 } else { 79 };
    let after = [30, 45, 55, 60, 64, 66, 64, 66, 68, 69, 70, 71, 72, 73, 74];
    let times = (1..).map(|n| 1_000 + n * 500);
    let filling = times.zip(1..).zip(after).map(|((ms, at), mib)| (ms, f64::from(mib), of_mib(at)));
    let full = (0..60).map(|n| (9_100 + n * 20, 74.5, 79));
    let leak = full_collections_of(filling.chain(full));
    assert_eq!(leak.live_set.as_ref().expect("full collections").trend, GcTrend::Grows);
    assert_eq!(found(&leak)[0], "live-set-grows", "{:?}", found(&leak));
    // One that goes up and down in such a heap does not leak, though it is full now and then.
    let wanders = (1..=60).map(|n| (n * 300, 60.0 + 15.0 * ((n * 7 % 11) as f64 / 10.0), of_mib(n)));
    let wanders = full_collections_of(wanders);
    assert!(!found(&wanders).contains(&"live-set-grows"), "{:?}", wanders.live_set);
}

#[test]
fn a_program_that_throws_everything_away_at_its_end_had_a_live_set() {
    let full = (1..=30).map(|n| (n * 500, 96.0)).chain([(16_000, 0.26)]);
    let report = full_collections(full);
    let live = report.live_set.clone().expect("full collections");
    assert_eq!((live.last_bytes >> 10, live.level_bytes >> 20), (266, 96));
    assert_ne!(live.trend, GcTrend::Shrinks);
    assert!(found(&report).contains(&"heap-too-small"));
}

/// `-Xlog:gc` of Z does not say how large the heap may be: a program whose level settles does not fill it.
#[test]
fn a_heap_of_unknown_size_is_not_full_where_its_level_settles() {
    let mut log = "[0.010s][info][gc] Using The Z Garbage Collector\n".to_owned();
    for (n, after_mib) in [34, 38, 42, 46, 44, 46, 50, 50, 54, 54, 54, 54, 56].into_iter().enumerate() {
        let s = 0.4 * (n + 1) as f64;
        writeln!(
            log,
            "[{s:.3}s][info][gc] GC({n}) Major Collection (Proactive) 128M(50%)->{after_mib}M(20%) 0.006s"
        )
        .expect("a text");
    }
    let settles = report(&log);
    let live = settles.live_set.as_ref().expect("cycles");
    assert_ne!(live.trend, GcTrend::Grows, "{live:?}");
    assert_eq!((live.fills_bytes_per_s, live.full_at_s), (None, None));
    assert!(!found(&settles).contains(&"live-set-grows"), "{:?}", found(&settles));
}

/// What is not long is not there: no share of the time, and no rate.
#[test]
fn a_server_s_own_log_shows_long_collections_and_no_share_of_the_time() {
    let mut log = String::new();
    for minute in 0..5 {
        writeln!(
            log,
            "[2018-09-10T16:0{minute}:49,468][INFO ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][young][355198][16325] duration \
             [756ms], collections [1]/[1.5s], total [756ms]/[22.4m], memory [6.7gb]->[3.4gb]/[11.7gb], all_pools {{[young] \
             [14.3mb]->[9.3mb]/[1.8gb]}}{{[old] [6.5gb]->[3.2gb]/[9.7gb]}}"
        )
        .expect("a text");
    }
    let report = report(&log);
    assert_eq!((report.pauses.count, report.throughput_percent, report.mmu.len()), (5, None, 0));
    assert_eq!((report.allocated_bytes_per_s, report.promoted_bytes_per_s), (None, None));
    let lacks =
        report.findings.iter().find(|finding| finding.rule == "log-lacks-figures").expect("it says so");
    assert!(lacks.evidence_line().contains("short collections"), "{lacks:?}");
}
