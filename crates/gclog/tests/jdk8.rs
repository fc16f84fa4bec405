//! Logs of JDK 8 and older, held against a count that knows nothing of brackets: the last `, N secs]` of a line, in text order.

use crate::samples::{files, spliced};
use crate::told;
use crate::told::{check_any, read, read_in};
use assay_model::{GcAnomaly, GcInstant, GcRecord, GcRecordKind, GcScope, GcSpace};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

/// As a user would with grep and awk: how many pauses, and their sum in units of 100 ns.
fn grepped(text: &str) -> (usize, u64) {
    let mut found = (0, 0);
    for line in text.lines() {
        let line = line.split(" [Times").next().unwrap_or(line);
        let Some(before) = line.trim_end().strip_suffix(" secs]") else { continue };
        let Some((head, number)) = before.rsplit_once(", ") else { continue };
        if number.contains('/') || head.ends_with("-end") || head.ends_with("Reference") {
            continue;
        }
        let (whole, part) = number.split_once('.').expect("seconds");
        let units: u64 = format!("{whole}{part:0<7}").parse().expect("digits");
        found = (found.0 + 1, found.1 + units);
    }
    found
}

/// Public logs in the project, and more beside the checkout.
fn samples() -> Vec<PathBuf> {
    let mut found = files(&assay_testkit::testdata("gclog/jdk8"), "");
    found.extend(files(&assay_testkit::testdata("../../shared/data/gclog"), "preunified"));
    found
}

/// Young collections within a remark, and their sum: the length of the remark holds theirs, and both are one stop.
fn within_remarks(name: &str) -> (usize, u64) {
    match name {
        _ if name.contains("broken_gc_locker") || name.contains("cms-tlab-references") => (1, 2_089_035_000),
        "cms-scavenge-before-remark.log" => (1, 469_744_100),
        _ => (0, 0),
    }
}

#[test]
fn samples_have_every_pause_and_no_line_is_left_over() {
    let samples = samples();
    assert!(samples.len() >= 5, "the samples are there");
    for path in samples {
        let bytes = fs::read(&path).expect("the sample");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let told = read(&bytes);
        let (count, units) = grepped(&String::from_utf8_lossy(&bytes));
        let sum_ns: u64 = told.pauses().filter_map(|record| record.duration_ns).sum();
        println!(
            "{name}: {count} pauses, {:.7} s, {} lines not understood",
            sum_ns as f64 / 1e9,
            told.unrecognized.len()
        );
        let (within, within_ns) = within_remarks(&name);
        assert_eq!((told.pauses().count() + within, sum_ns + within_ns), (count, units * 100), "{name}");
        assert_eq!(told.unrecognized, Vec::<String>::new(), "{name}");
        assert_eq!(told.problems, [], "{name}");
        assert_eq!(told.sources[0].dialect.as_deref(), Some("jdk8"), "{name}");
        let is_young_or_full = |record: &&GcRecord| record.scope != Some(GcScope::Old);
        assert!(
            told.pauses().filter(is_young_or_full).all(|record| record.heap.capacity_bytes.is_some()),
            "{name}"
        );
        assert!(told.pauses().all(|record| record.end.uptime_ns.is_some()), "{name}");
        // The last line of one sample breaks off before its CPU time.
        let without_cpu = told.pauses().filter(|record| record.cpu.is_none()).count();
        assert!(
            name.contains("verbose") || without_cpu <= usize::from(name.contains("icms")),
            "{name}: {without_cpu}"
        );
        let ends: Vec<_> = told.pauses().filter_map(|record| record.end.uptime_ns).collect();
        assert!(ends.is_sorted(), "{name}");
    }
}

#[test]
fn a_torn_full_collection_of_cms_is_whole() {
    let told = read(
        b"4.363: [Full GC (System) 4.363: [CMS4.368: [CMS-concurrent-mark: 0.012/0.813 secs] [Times: user=2.51 sys=0.10, real=0.81 secs] \n \
          (concurrent mode interrupted): 16487K->23431K(2960704K), 0.1828700 secs] 84377K->23431K(3127232K), \
          [CMS Perm : 19815K->19787K(21248K)], 0.1830090 secs] [Times: user=0.48 sys=0.04, real=0.18 secs] \n",
    );
    assert_eq!((told.unrecognized.len(), told.records.len()), (0, 2));
    let (mark, full) = (&told.records[0], &told.records[1]);
    assert_eq!((mark.phase.as_str(), mark.duration_ns), ("CMS-concurrent-mark", Some(813_000_000)));
    assert_eq!(mark.duration_resolution_ns, Some(1_000_000));
    assert_eq!(mark.cpu.expect("CPU time").user_ns, 2_510_000_000);
    assert_eq!(
        (full.phase.as_str(), full.scope, full.cause.as_deref()),
        ("Full GC", Some(GcScope::Full), Some("System"))
    );
    assert_eq!(full.duration_ns, Some(183_009_000));
    assert_eq!(full.duration_resolution_ns, Some(100));
    assert_eq!(full.end.uptime_ns, Some(4_546_009_000));
    assert_eq!(full.end.resolution_ns, Some(1_000_000));
    assert_eq!(full.anomalies, [GcAnomaly::Aborted]);
    assert_eq!(full.cpu.expect("CPU time").sys_ns, 40_000_000);
    assert_eq!(full.heap.before_bytes, Some(84_377 << 10));
    assert_eq!(full.space(GcSpace::Old).and_then(|sizes| sizes.after_bytes), Some(23_431 << 10));
    assert_eq!(full.space(GcSpace::Metaspace).and_then(|sizes| sizes.capacity_bytes), Some(21_248 << 10));
    assert_eq!((full.first_line, full.line), (1, 2));
    assert_eq!(told.jvms[0].collector.as_deref(), Some("CMS"));
}

#[test]
fn a_young_collection_within_a_remark_is_one_stop() {
    let told = read(
        b"9.0: [GC[YG occupancy: 8 K (9 K)]9.0: [GC 9.0: [ParNew: 8K->1K(9K), 0.5000000 secs] 18K->11K(19K), 0.6000000 secs] \
          [Times: user=0.01 sys=0.00, real=0.60 secs] \n9.6: [Rescan (parallel) , 0.1 secs] [1 CMS-remark: 10K(10K)] 11K(19K), \
          1.0000000 secs] [Times: user=0.02 sys=0.00, real=1.00 secs] \n",
    );
    let [stop] = told.records.as_slice() else { panic!("one stop: {:#?}", told.records) };
    assert_eq!((stop.phase.as_str(), stop.duration_ns), ("CMS-remark", Some(1_000_000_000)));
    assert_eq!(stop.end.uptime_ns, Some(10_000_000_000));
    assert_eq!((stop.heap.before_bytes, stop.heap.after_bytes), (Some(18 << 10), Some(11 << 10)));
    let young = stop.space(GcSpace::Young).expect("what was collected");
    assert_eq!((young.before_bytes, young.after_bytes), (Some(8 << 10), Some(1 << 10)));
    assert_eq!(stop.cpu.map(|cpu| cpu.user_ns), Some(20_000_000));
    assert_eq!(told.unrecognized, Vec::<String>::new());
}

#[test]
fn decimal_commas_and_missing_stamps_are_read() {
    let told = read(
        b"[GC [PSYoungGen: 33280K->5104K(38400K)] 33280K->12960K(125952K), 0,0161310 secs] [Times: user=0,06 sys=0,02, real=0,02 secs] \n\
          1,250: [Full GC (Ergonomics) [PSYoungGen: 5104K->0K(38400K)] [ParOldGen: 7856K->12542K(87552K)] 12960K->12542K(125952K), \
          [Metaspace: 2700K->2700K(1056768K)], 0,1000000 secs]\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    assert_eq!(told.jvms[0].begun_unix_ns, None);
    assert_eq!(told.records[0].duration_ns, Some(16_131_000));
    assert_eq!(told.records[0].end, GcInstant::default());
    assert_eq!(told.records[0].cpu.map(|cpu| cpu.user_ns), Some(60_000_000));
    assert_eq!(told.records[1].end.uptime_ns, Some(1_350_000_000));
    assert_eq!(
        told.records[1].space(GcSpace::Metaspace).and_then(|sizes| sizes.after_bytes),
        Some(2_700 << 10)
    );
}

#[test]
fn headers_tell_the_jvm_and_a_rotated_set_is_one() {
    const HEADER: &str = "Java HotSpot(TM) 64-Bit Server VM (25.45-b02) for linux-amd64 JRE (1.8.0_45-b14), built on Apr 10 2015 10:07:45 by \"java_re\" with gcc 4.3.0\n\
        Memory: 4k page, physical 8162456k(1234k free), swap 0k(0k free)\n\
        CommandLine flags: -XX:InitialHeapSize=130599296 -XX:MaxHeapSize=2089588736 -XX:ParallelGCThreads=4 -XX:+PrintGC -XX:+UseParallelGC \n";
    let young = |at: &str| format!("{at}: [GC (Allocation Failure)  512K->400K(126976K), 0.0011160 secs]\n");
    let first = format!(
        "{HEADER}{}2015-06-01 10:00:09 GC log file has reached the maximum size. Saved as gc.log.0\n",
        young("9.500")
    );
    let second = format!("2015-06-01 10:00:09 GC log file created gc.log.1\n{HEADER}{}", young("10.250"));
    let restarted = format!("{HEADER}{}", young("0.500"));
    let told = read_in(11, &[first.as_bytes(), second.as_bytes(), restarted.as_bytes()]);
    assert_eq!(told.unrecognized, Vec::<String>::new());
    assert_eq!((told.records.len(), told.jvms_begun, told.jvms.len()), (3, 2, 2));
    let jvm = &told.jvms[0];
    assert_eq!((jvm.version.as_deref(), jvm.collector.as_deref()), (Some("1.8.0_45-b14"), Some("Parallel")));
    assert_eq!((jvm.heap_bytes_initial, jvm.heap_bytes_max), (Some(130_599_296), Some(2_089_588_736)));
    assert_eq!(
        (jvm.memory_bytes, jvm.parallel_workers, jvm.flags.len()),
        (Some(8_162_456 << 10), Some(4), 5)
    );
    assert_eq!((told.jvms[1].source, told.jvms[1].line), (2, 1));
}

#[test]
fn safepoints_tell_how_long_and_how_long_it_took_to_reach_them() {
    let told = read(
        b"2015-06-01T10:00:09.000+0200: 9.500: Application time: 1.5000000 seconds\n\
          2015-06-01T10:00:09.001+0200: 9.501: Total time for which application threads were stopped: 0.0012345 seconds, \
          Stopping threads took: 0.0000456 seconds\n\
          Total time for which application threads were stopped: 0.1000000 seconds\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let found: Vec<_> = told
        .records
        .iter()
        .map(|r| (r.kind, r.duration_ns, r.time_to_safepoint_ns, r.end.uptime_ns))
        .collect();
    assert_eq!(
        found,
        [
            (GcRecordKind::Safepoint, Some(1_234_500), Some(45_600), Some(9_501_000_000)),
            (GcRecordKind::Safepoint, Some(100_000_000), None, None)
        ]
    );
    assert_eq!(told.records[0].end.unix_ns, Some(1_433_145_609_001_000_000));
}

#[test]
fn the_table_of_safepoints_tells_their_operations() {
    let told = read(
        b"         vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count\n\
          0.123: G1IncCollectionPause             [      20          1              2    ]      [     0     1     1     0    10    ]  0   \n\
          0.500: no vm operation                  [      20          0              0    ]      [     0     0     0     2     0    ]  0   \n\
          \nPolling page always armed\n    0 VM operations coalesced during safepoint\nMaximum sync time      1 ms\n\
          1.000: [GC 12K->3K(20K), 0.0100000 secs]\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let found: Vec<_> =
        told.records.iter().map(|r| (r.phase.as_str(), r.duration_ns, r.time_to_safepoint_ns)).collect();
    assert_eq!(
        found,
        [
            ("G1IncCollectionPause", Some(11_000_000), Some(1_000_000)),
            ("no vm operation", Some(2_000_000), Some(0)),
            ("GC", Some(10_000_000), None)
        ]
    );
    assert_eq!(told.records[0].end.uptime_ns, Some(134_000_000));
}

#[test]
fn a_pause_without_an_end_is_told_as_lost() {
    let told = read(b"1.000: [GC [PSYoungGen: 1K->1K(2K)]\n2.000: [GC 12K->3K(20K), 0.0100000 secs]\n3.000: [Full GC 12K->");
    assert_eq!(told.records.len(), 1);
    let lines: Vec<_> = told.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(1), Some(3)]);
}

#[test]
fn phases_that_were_given_up_took_the_time_between_their_stamps() {
    let told = read(b"1.000: [GC concurrent-mark-start]\n1.250: [GC concurrent-mark-abort]\n");
    let record = &told.records[0];
    assert_eq!(
        (record.kind, record.phase.as_str(), record.duration_ns),
        (GcRecordKind::Concurrent, "GC concurrent-mark", Some(250_000_000))
    );
    assert_eq!(
        (record.duration_resolution_ns, record.anomalies.as_slice()),
        (Some(1_000_000), [GcAnomaly::Aborted].as_slice())
    );
}

#[test]
fn sizes_of_g1_are_the_finer_ones() {
    let told = read(
        b"0.777: [Full GC (System.gc()) 17M->3758K(13M), 0.0233460 secs]\n   [Eden: 18.0M(24.0M)->0.0B(5120.0K) Survivors: 0.0B->0.0B \
          Heap: 17.2M(256.0M)->3758.6K(13.0M)], [Metaspace: 2656K->2656K(1056768K)]\n [Times: user=0.02 sys=0.01, real=0.02 secs] \n\
          7.203: [GC pause (G1 Evacuation Pause) (mixed) (to-space exhausted), 0.0024360 secs]\n   [Parallel Time: 2.1 ms, GC Workers: 8]\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let (full, mixed) = (&told.records[0], &told.records[1]);
    assert_eq!(full.heap.after_bytes, Some(3_848_806));
    assert_eq!((full.heap.capacity_bytes, full.heap.resolution_bytes), (Some(13 << 20), Some(104_858)));
    assert_eq!(full.space(GcSpace::Metaspace).and_then(|sizes| sizes.after_bytes), Some(2_656 << 10));
    assert_eq!(
        (mixed.phase.as_str(), mixed.scope, mixed.workers),
        ("GC pause (mixed)", Some(GcScope::Mixed), Some(8))
    );
    assert_eq!(mixed.anomalies, [GcAnomaly::EvacuationFailure]);
    assert_eq!(told.jvms[0].collector.as_deref(), Some("G1"));
}

/// Phase and length of all that has one, microseconds.
fn phases(told: &told::Told) -> Vec<(&str, u64)> {
    let of = |record: &'_ GcRecord| record.duration_ns.map_or(0, |ns| ns / 1_000);
    told.records.iter().map(|record| (record.phase.as_str(), of(record))).collect()
}

#[test]
fn shenandoah_of_jdk_8_is_read() {
    let told = read(
        b"2017-11-14T14:38:15.525-0500: 463.254: #0: [Pause Init Mark (process weakrefs), 7.438 ms]\n\
          2017-11-14T14:38:15.532-0500: 463.261: #0: [Concurrent marking 12G->13G(18G), 42.990 ms]\n\
          2017-11-14T14:38:15.576-0500: 463.305: #0: [Pause Final Mark 13G->9784M(18G), 2.288 ms]\n\
          2017-11-14T14:38:15.578-0500: 463.307: #0: [Concurrent evacuation 9800M->10G(18G), 14.682 ms]\n\
          2017-11-14T14:38:15.593-0500: 463.322: #0: [Pause Init Update Refs, 0.125 ms]\n\
          2017-11-14T14:38:16.593-0500: 464.322: #1: [Pause Full (Allocation Failure) 17G->9G(18G), 900.125 ms]\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let want = [
        ("Pause Init Mark", 7_438),
        ("Concurrent marking", 42_990),
        ("Pause Final Mark", 2_288),
        ("Concurrent evacuation", 14_682),
        ("Pause Init Update Refs", 125),
        ("Pause Full", 900_125),
    ];
    assert_eq!(phases(&told), want);
    assert_eq!(told.jvms[0].collector.as_deref(), Some("Shenandoah"));
    assert_eq!(told.records[5].scope, Some(GcScope::Full));
    assert_eq!(told.records[0].end.uptime_ns, Some(463_261_438_000));
    assert_eq!(told.records[2].heap.after_bytes, Some(9_784 << 20));
}

#[test]
fn lines_of_two_jvms_in_one_log_are_told_as_such_and_not_as_restarts() {
    let pause = |s: u32| format!("{s}.500: [GC (Allocation Failure)  512K->400K(126976K), 0.0011160 secs]\n");
    let both: String = (0..40).flat_map(|i| [pause(5_000 + 10 * i), pause(100 + 10 * i)]).collect();
    let told = read(both.as_bytes());
    assert!(told.jvms_begun <= 2, "{} JVMs", told.jvms_begun);
    assert_eq!((told.records.len(), told.problems.len()), (80, 1), "{:?}", told.problems);
    assert!(told.problems[0].text.starts_with("several JVMs write into this log at once"));
}

#[test]
fn logs_in_utf_16_and_with_carriage_returns_alone_are_read() {
    let text = fs::read_to_string(assay_testkit::testdata("gclog/jdk8").join("serial-tenuring.log"))
        .expect("the sample");
    let want = read(text.as_bytes());
    assert!(want.pauses().count() > 3);
    let little: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let big: Vec<u8> =
        [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let returns = text.replace('\n', "\r").into_bytes();
    for (what, bytes) in [("little endian", &little), ("big endian", &big), ("carriage returns", &returns)] {
        for portion in [1, 7, 1 << 20] {
            let told = read_in(portion, &[bytes]);
            assert_eq!(
                (told.records, told.unrecognized),
                (want.records.clone(), Vec::new()),
                "{what} in {portion}"
            );
        }
    }
}

#[test]
fn class_histograms_hide_no_full_collection() {
    let told = read(
        b"7.0: [Full GC (System.gc()) 7.0: [Class Histogram (before full gc): \n\n num     #instances         #bytes  class name\n\
          ----------------------------------------------\n   1:         24519        5783400  [C\n   2:          3685         888128  [Ljava.lang.Object;\n\
          3:             1             16  [[[I\nTotal        271481       20043160\n, 4.7148918 secs]\n11.7: [CMS: 10K->9K(90K), 90.1 secs] 20K->9K(99K), \
          [Metaspace: 3K->3K(9K)], 95.0000000 secs] [Times: user=90.00 sys=1.00, real=95.00 secs] \n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    assert_eq!(phases(&told), [("Full GC", 95_000_000)]);
    assert_eq!(told.records[0].heap.after_bytes, Some(9 << 10));
}

#[test]
fn statistics_that_break_into_a_line_hide_no_pause() {
    let told = read(
        b"9.0: [GC (Allocation Failure) 9.0: [ParNew: 90K->9K(99K), 1.9967660 secs] 98K->77K(245K)CMSCollector shouldConcurrentCollect: 10.925\n\
          time_until_cms_gen_full 0.0483719\nfree=65178472\ncontiguous_available=27934992\npromotion_rate=8.02999e+008\ncms_allocation_rate=0\n\
          occupancy=0.4673034\ninitiatingOccupancy=0.9200000\n, 1.9969670 secs] [Times: user=1.00 sys=0.00, real=2.00 secs] \n\
          CMSCollector shouldConcurrentCollect: 12.0: [GC (CMS Initial Mark) [1 CMS-initial-mark: 55K(119K)] 58K(140K), 21.6000000 secs] \
          [Times: user=0.01 sys=0.00, real=21.60 secs] \ninitiatingOccupancy=0.920000040.0: [GC 12K->3K(20K), 0.0100000 secs]\n",
    );
    let want = [("GC ParNew", 1_996_967), ("CMS-initial-mark", 21_600_000), ("GC", 10_000)];
    assert_eq!(phases(&told), want);
}

#[test]
fn statistics_of_remembered_sets_hide_no_pause() {
    let told = read(
        b"0.449: [GC pause (G1 Evacuation Pause) (young)Before GC RS summary\n\n Recent concurrent refinement statistics\n  Processed 12 cards\n\
          \x20 Of 3 completed buffers:\n            3 (100.0%) by concurrent RS threads.\n            0 (  0.0%) by mutator threads.\n\
          \x20 Did 0 coarsenings.\n  Concurrent RS threads times (s)\n          0.00     0.00\n  Concurrent sampling threads times (s)\n          0.00\n\n\
          \x20Current rem set statistics\n  Total per region rem sets sizes = 107K. Max = 3K.\n           4K (  3.9%) by 1 Young regions\n\
          \x20  Static structures = 70K, free_lists = 7K.\n    816957 occupied cards represented.\n\
          \x20   Region with largest rem set = 0:(HS)[0x00000000ec600000,0x00000000ec600000,0x00000000ec700000], size = 4K, occupied = 0K.\n\
          After GC RS summary\n, 0.0414530 secs]\n   [Parallel Time: 2.1 ms, GC Workers: 8]\n",
    );
    assert_eq!(phases(&told), [("GC pause (young)", 41_453)]);
}

/// As a JVM of JDK 8 has written them: `-XX:PrintCMSStatistics=1`, and the threads of G1 beside one that plans the heap.
#[test]
fn lines_that_a_second_thread_writes_into_are_accounted_for() {
    let told = read(
        b"0.169: [GC (Allocation Failure) 0.169: [ParNew [1 iterations, 1 waits, 0 cards)] 0.169: [CMS-concurrent-abortable-preclean: 0.000/0.003 secs] \
          (CMS-concurrent-abortable-preclean yielded 0 times)\n [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
          : 7424K->768K(7424K), 0.0017811 secs] 22401K->18474K(32000K), 0.0018059 secs] [Times: user=0.00 sys=0.00, real=0.00 secs] \n\
          \x20[3 iterations, 1 waits, 4397 cards)] 0.425: [CMS-concurrent-abortable-preclean: 0.002/0.004 secs] \
          (CMS-concurrent-abortable-preclean yielded 1 times)\n [Times: user=0.01 sys=0.00, real=0.00 secs] \n\
          2026-11-25T13:44:36.682+0000: 0.887:  0.887: [G1Ergonomics (Heap Sizing) attempt heap expansion]\n\
          2026-11-25T13:44:36.682+0000:  0.887: [G1Ergonomics (Heap Sizing) expand the heap]\n\
          0.887:  0.887: [G1Ergonomics (Heap Sizing) did not expand the heap, reason: heap already fully expanded]\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    let preclean = "CMS-concurrent-abortable-preclean";
    assert_eq!(phases(&told), [(preclean, 3_000), ("GC ParNew", 1_805), (preclean, 4_000)]);
    assert_eq!(told.pauses().next().and_then(|pause| pause.heap.after_bytes), Some(18_474 << 10));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Two samples spliced, bytes changed.
    #[test]
    fn damaged_logs_are_read_without_panic(
        seeds in (0usize..100, 0usize..100),
        cuts in (0usize..20_000, 0usize..20_000),
        damage in prop::collection::vec((0usize..20_000, any::<u8>()), 0..40),
        portion in 1usize..5_000,
    ) {
        let samples = files(&assay_testkit::testdata("gclog/jdk8"), "");
        check_any(&spliced(&samples, seeds, cuts, damage), portion);
    }
}
