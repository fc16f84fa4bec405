//! Whole logs: their records; torn and unrecognized lines; logs in portions.

use crate::contract::GcSink;
use crate::stream::GcStream;
use assay_model::{
    GcAnomaly, GcJvm, GcReconciliation, GcRecord, GcRecordKind, GcScope, GcSizes, GcSource, GcSpace, Problem,
};
use proptest::prelude::*;

/// Keeps all that is reported.
#[derive(Debug, Default, PartialEq)]
struct CollectedRecords {
    records: Vec<GcRecord>,
    jvms: Vec<GcJvm>,
    begun: usize,
    unrecognized: Vec<String>,
    sources: Vec<GcSource>,
    problems: Vec<Problem>,
    reconciliations: Vec<GcReconciliation>,
}

impl GcSink for CollectedRecords {
    fn end_source(&mut self, source: &GcSource) {
        self.sources.push(source.clone());
    }
    fn begin_jvm(&mut self) {
        self.begun += 1;
    }
    fn jvm(&mut self, jvm: &GcJvm) {
        self.jvms.push(jvm.clone());
    }
    fn record(&mut self, record: GcRecord) {
        self.records.push(record);
    }
    fn unrecognized(&mut self, _at: crate::At, text: &str) {
        self.unrecognized.push(text.to_owned());
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
    fn reconciliation(&mut self, reconciliation: GcReconciliation) {
        self.reconciliations.push(reconciliation);
    }
}

fn told_in_portions(text: &[u8], portions: &[usize]) -> CollectedRecords {
    let mut told = CollectedRecords::default();
    let mut stream = GcStream::default();
    stream.begin_source("test", &mut told);
    let mut rest = text;
    for portion in portions.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (now, later) = rest.split_at((*portion).min(rest.len()));
        stream.feed(now, &mut told);
        rest = later;
    }
    stream.end_source(&mut told);
    stream.finish(&mut told);
    told
}

fn told(text: &str) -> CollectedRecords {
    told_in_portions(text.as_bytes(), &[usize::MAX])
}

const PARALLEL: &str = include_str!("samples/parallel17.log");
const G1: &str = include_str!("samples/g1.log");
const Z: &str = include_str!("samples/z25.log");
const SHENANDOAH: &str = include_str!("samples/shenandoah25.log");
const CMS: &str = include_str!("samples/cms.log");

#[test]
fn a_pause_has_its_exact_bytes_even_when_the_picture_follows_it() {
    let told = told(PARALLEL);
    assert_eq!((told.sources[0].lines, told.unrecognized.len(), told.problems.len()), (22, 0, 0));
    let jvm = told.jvms.last().unwrap();
    assert_eq!(jvm.version.as_deref(), Some("17.0.15+6-Debian-1deb12u1"));
    assert_eq!(jvm.collector.as_deref(), Some("Parallel"));
    assert_eq!((jvm.heap.unwrap().start_address, jvm.heap.unwrap().reserved_bytes), (0xfc00_0000, 64 << 20));
    let [pause, safepoint] = &told.records[..] else { panic!("{:?}", told.records) };
    let exact = GcSizes {
        before_bytes: Some(0x100_0000 + 0x12_3ab8),
        after_bytes: Some(0x8_0020 + 0x12_3ab8),
        capacity_bytes: Some((18944 + 44032) << 10),
        resolution_bytes: Some(1),
    };
    assert_eq!(pause.heap, exact);
    assert_eq!(pause.space(GcSpace::Eden).unwrap().before_bytes, Some(0x100_0000));
    assert_eq!(pause.space(GcSpace::Old).unwrap().after_bytes, Some(0x12_3ab8));
    assert_eq!((pause.duration_ns, pause.duration_resolution_ns), (Some(918_000), Some(1_000)));
    assert_eq!((pause.first_line, pause.line), (3, 13));
    assert_eq!((pause.end.monotonic_ns, pause.end.uptime_ns), (Some(2_642_225_000_002), Some(130_000_000)));
    assert_eq!(pause.cpu.unwrap().user_ns, 20_000_000);
    assert_eq!((safepoint.kind, safepoint.time_to_safepoint_ns), (GcRecordKind::Safepoint, Some(33_458)));
}

#[test]
fn a_picture_with_a_missing_space_gives_way_to_the_next_finer_source() {
    let heap = |text: String| told(&text).records[0].heap;
    let without_a_space = PARALLEL.lines().filter(|l| !l.contains("224000003ns")).map(|l| format!("{l}\n"));
    let rounded = heap(without_a_space.collect());
    assert_eq!(
        (rounded.before_bytes, rounded.after_bytes),
        (Some((16384 + 1166) << 10), Some((512 + 1166) << 10))
    );
    let bare = heap(PARALLEL.lines().filter(|l| !l.contains("gc,heap")).map(|l| format!("{l}\n")).collect());
    assert_eq!((bare.before_bytes, bare.resolution_bytes), (Some(17 << 20), Some(1 << 20)));
    let doubled = heap(PARALLEL.replacen("GC(0)   from space", "GC(0)   eden space", 1));
    assert_eq!(doubled, rounded);
}

#[test]
fn a_concurrent_cycle_and_its_stops_are_told_in_the_order_of_their_end() {
    let told = told(G1);
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let seen: Vec<_> = told.records.iter().map(|r| (r.phase.as_str(), r.cycle_id)).collect();
    assert_eq!(
        seen,
        [
            ("Pause Young (Concurrent Start)", Some(5)),
            ("Concurrent Mark From Roots", Some(6)),
            ("Pause Remark", Some(6)),
            ("Pause Young (Mixed)", Some(7)),
            ("Concurrent Mark Cycle", Some(6)),
            ("Concurrent Mark", Some(8)),
        ]
    );
    let young = &told.records[0];
    assert_eq!(young.space(GcSpace::Eden).unwrap().before_bytes, Some(14 << 20));
    assert_eq!(young.space(GcSpace::Metaspace).unwrap().after_bytes, Some(167 << 10));
    assert_eq!((young.workers, young.cause.as_deref()), (Some(2), Some("G1 Humongous Allocation")));
    assert_eq!(told.records[2].cpu.unwrap().sys_ns, 10_000_000);
    assert_eq!(told.records[3].anomalies, [GcAnomaly::EvacuationFailure]);
    assert_eq!(told.jvms.last().unwrap().region_bytes, Some(1 << 20));
}

#[test]
fn cycles_of_z_have_their_bytes_once_and_stalls_their_threads() {
    let told = told(Z);
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let cycles: Vec<_> = told.records.iter().filter(|r| r.kind == GcRecordKind::Cycle).collect();
    let seen: Vec<_> =
        cycles.iter().map(|r| (r.phase.as_str(), r.heap.before_bytes.map(|b| b >> 20))).collect();
    assert_eq!(seen, [("Young Generation", None), ("Minor Collection", Some(66))]);
    assert_eq!(cycles[1].heap.capacity_bytes, Some(192 << 20));
    assert_eq!(cycles[1].duration_ns, Some(52_000_000));
    let stall = told.records.iter().find(|r| r.kind == GcRecordKind::Stall).unwrap();
    assert_eq!((stall.thread.as_deref(), stall.duration_ns), (Some("Thread-1"), Some(2_345_000)));
    let jvm = told.jvms.last().unwrap();
    assert_eq!((jvm.collector.as_deref(), jvm.is_generational), (Some("Z"), Some(true)));
}

#[test]
fn a_pause_within_a_pause_is_one_stop() {
    let told = told(CMS);
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let pauses: Vec<_> = told.records.iter().filter(|r| r.kind == GcRecordKind::Pause).collect();
    let [stop] = pauses.as_slice() else { panic!("one stop: {pauses:#?}") };
    assert_eq!((stop.cycle_id, stop.duration_ns), (Some(262), Some(20_655_000)));
    assert_eq!(
        (stop.scope, stop.anomalies.as_slice()),
        (Some(GcScope::Full), [GcAnomaly::PromotionFailed].as_slice())
    );
    assert!(stop.heap.before_bytes.is_some() && stop.heap.after_bytes.is_some(), "{stop:#?}");
    let preclean = told.records.iter().find(|r| r.phase == "Concurrent Abortable Preclean").unwrap();
    assert_eq!(preclean.cpu.unwrap().user_ns, 120_000_000);
}

#[test]
fn the_closing_statistics_of_shenandoah_are_held_against_what_was_read() {
    let told = told(SHENANDOAH);
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let compared: Vec<_> = told.reconciliations.iter().map(|r| (r.what.as_str(), r.logged, r.read)).collect();
    assert_eq!(
        compared,
        [
            ("Pause Init Mark", 1.0, 1.0),
            ("Pause Degenerated GC", 1.0, 1.0),
            ("Pause Full", 2.0, 1.0),
            ("Successful Concurrent GCs", 1.0, 1.0),
            ("Degenerated GCs at Outside of Cycle", 1.0, 1.0),
            ("Full GCs with a pause of their own", 1.0, 1.0),
        ]
    );
    let degenerated = told.records.iter().find(|r| r.anomalies == [GcAnomaly::Degenerated]).unwrap();
    assert_eq!(degenerated.phase, "Pause Degenerated GC (Young) (Outside of Cycle)");
    assert_eq!((degenerated.workers, degenerated.heap.after_bytes), (Some(1), Some(40 << 20)));
    let trigger = told.records.iter().find(|r| r.kind == GcRecordKind::Trigger).unwrap();
    assert_eq!(trigger.cause.as_deref(), Some("Free is below minimum threshold"));
    let marking = told.records.iter().find(|r| r.phase == "Concurrent marking (Young)").unwrap();
    assert_eq!((marking.workers, marking.line - marking.first_line), (Some(1), 2));
}

#[test]
fn a_jvm_that_starts_anew_is_another_one() {
    let told = told(&format!("{PARALLEL}{PARALLEL}"));
    assert_eq!((told.begun, told.jvms.len(), told.records.len()), (2, 2, 4));
    assert_eq!(told.jvms[1].line, 23);
    let bare = "[9.0s] GC(7) Pause Young (Allocation Failure) 17M->1M(61M) 0.9ms\n\
                [1.0s] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 0.9ms\n";
    assert_eq!(self::told(bare).begun, 2);
    let without_clock = bare.replace("[9.0s] ", "").replace("[1.0s] ", "");
    assert_eq!(self::told(&without_clock).begun, 2);
}

#[test]
fn lines_that_go_on_an_exception_are_accounted_for_with_its_first() {
    let log = "[0.5s][info][exceptions] Exception <a 'java/lang/E'{0x00000000fc6a8b28}> (0x00000000fc6a8b28)\n\
               thrown [./src/hotspot/share/x.cpp, line 212]\n\
               for thread 0x00007fd26c01b920\n\
               [0.5s][info][exceptions] Exception <a 'java/lang/E'{0x00000000fc6a8b28}> (0x00000000fc6a8b28)\n \
               thrown in interpreter method <{method} {0x00007fd20a0a3390} 'main' '([Ljava/lang/String;)V' in 'T'>\n \
               at bci 19 for thread 0x00007fd26c01b920 (main)\n \
               thrown in C1 compiled method <{method} {0x00007fd20a0a3390} 'f' '()V' in 'T'>\n \
               at PC0x00007fd2554491c4 for thread 0x00007fd26c01b920\n";
    assert_eq!(told(log).unrecognized, Vec::<String>::new());
}

#[test]
fn what_no_rule_knows_is_unrecognized() {
    for unrecognized in [
        "[1.0s][info][gc] entirely new",
        "[1.0s][info][gc] GC(1) Pause Reticulate 1.2ms",
        "[1.0s][info][gc] GC(1) Concurrent Reticulation 1.2ms",
        "[1.0s][info][gc] GC(1) Pause Yo",
        "[1.0s][info][gc,phases] GC(1) Pause Reticulate 1.2ms",
        "[1.0s][info][gc,ergo] GC(1) Adaptive C[1.0s][info][gc] GC(1) Pause Full (x) 1M->1M(1M) 1.0ms",
        "Served 200 requests in 3.4ms",
    ] {
        assert_eq!(told(&format!("{PARALLEL}{unrecognized}\n")).unrecognized, [unrecognized]);
    }
}

#[test]
fn lost_messages_are_counted() {
    let text = format!("{PARALLEL}[0.5s][warning][        ] 53 messages dropped due to async logging\n");
    let told = told(&text);
    assert_eq!((told.sources[0].messages_dropped, told.unrecognized.len()), (53, 0));
}

#[test]
fn a_flush_tells_what_waits() {
    let mut told = CollectedRecords::default();
    let mut stream = GcStream::default();
    stream.begin_source("test", &mut told);
    let cut = PARALLEL.find("Pause Young (Allocation Failure) 17M").unwrap() + 60;
    // The form of a log is known after some lines.
    stream.feed(&PARALLEL.as_bytes()[..cut], &mut told);
    assert!(told.records.is_empty());
    stream.flush(&mut told);
    assert_eq!(told.records.len(), 1);
}

proptest! {
    #[test]
    fn any_portions_tell_the_same(portions in prop::collection::vec(1usize..200, 1..20)) {
        for text in [PARALLEL, G1, Z, CMS, SHENANDOAH] {
            prop_assert_eq!(told_in_portions(text.as_bytes(), &portions), told(text));
        }
    }

    #[test]
    fn damaged_bytes_never_panic_and_every_line_is_counted(
        damage in prop::collection::vec((0usize..20_000, any::<u8>()), 0..40),
    ) {
        for text in [PARALLEL, G1, Z, CMS, SHENANDOAH] {
            let mut bytes = text.as_bytes().to_vec();
            for (at, byte) in &damage {
                let at = at % bytes.len();
                bytes[at] = if *byte == b'\r' { b'?' } else { *byte };
            }
            let lines = bytes.split(|b| *b == b'\n').count() as u64 - u64::from(bytes.ends_with(b"\n"));
            let told = told_in_portions(&bytes, &[usize::MAX]);
            prop_assert_eq!(told.sources[0].lines, lines);
            prop_assert!(told.sources[0].lines_not_understood <= lines);
        }
    }

    #[test]
    fn huge_numbers_never_panic(numbers in prop::collection::vec("[0-9]{1,25}", 8)) {
        let [a, b, c, d, e, f, g, h] = &numbers[..] else { unreachable!() };
        told(&format!(
            "[{a}ns][{b}ns][{c}.{d}s][info][gc] GC({e}) Pause Young (x) {f}M->{g}T({h}G) {a}.{b}ms\n\
             GC({e}) Tenured: {f}K({a}K)->{g}K({a}K)\nGC({e}) DefNew: {f}K({a}K)->{g}K({a}K)\n\
             GC({e}) Heap after GC invocations=1 (full 0):\nGC({e})  eden space {a}K, 0% used [0x{f}, 0x{g}, 0x{h})\n\
             GC({e}) Eden regions: {a}->{b}({c})\nHeap Region Size: {h}G\nMemory: {a}T\n\
             Heap address: 0x{f}, size: {g} MB, Compressed Oops mode: Zero based, Oop shift amount: {h}\n\
             GC({e}) Pause Young (x) {f}M->{g}T({h}G) {a}.{b}ms\nGC({e}) User={a}.{b}s Sys={c}s Real={d}.{e}s\n\
             Safepoint \"x\", Time since last: {a} ns, Reaching safepoint: {b} ns, At safepoint: {c} ns, Total: {d} ns\n"
        ));
    }
}
