//! Verbose GC logs of J9, held against a count of the elements that end a pause.
//!
//! No J9 was at hand: the logs in `testdata/gclog/j9` are written after the schema, those beside the checkout are real ones.

use crate::samples::{files, spliced};
use crate::told::{check_any, read, read_in};
use assay_model::{GcInstant, GcRecordKind, GcScope, GcSpace, ReferenceMode};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

/// As a user would with grep: how often `durationms` stands behind `<exclusive-end`, or `totalms` as the last thing of `<af>`, `<sys>`
/// or `<con>`, and the sum in microseconds.
fn grepped(text: &str) -> (usize, u64) {
    let mut found = (0, 0);
    let mut total = None;
    for line in text.lines() {
        let value = |key: &str| -> Option<u64> {
            let value = line.split_once(key)?.1.split_once('"')?.0;
            value.replace('.', "").parse().ok()
        };
        let ends = ["</af>", "</sys>", "</con>"].iter().any(|end| line.starts_with(end));
        if line.starts_with("  <time ") {
            total = value("totalms=\"").or(total);
        }
        let pause =
            if line.starts_with("<exclusive-end") { value("durationms=\"") } else { total.take_if(|_| ends) };
        if let Some(us) = pause {
            found = (found.0 + 1, found.1 + us);
        }
    }
    found
}

fn own() -> Vec<PathBuf> {
    files(&assay_testkit::testdata("gclog/j9"), "")
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(assay_testkit::testdata("gclog/j9").join(name)).expect("the sample")
}

#[test]
fn samples_have_every_pause_and_no_line_is_left_over() {
    let real = files(&assay_testkit::testdata("../../shared/data/j9"), "verbosegc");
    for path in own().into_iter().chain(real) {
        let bytes = fs::read(&path).expect("the sample");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let told = read(&bytes);
        let (count, us) = grepped(&String::from_utf8_lossy(&bytes));
        let stops = |kind: &GcRecordKind| matches!(kind, GcRecordKind::Pause | GcRecordKind::Safepoint);
        let stops: Vec<_> = told.records.iter().filter(|record| stops(&record.kind)).collect();
        let sum_ns: u64 = stops.iter().filter_map(|record| record.duration_ns).sum();
        println!(
            "{name}: {count} pauses, {:.6} s, {} lines not understood",
            sum_ns as f64 / 1e9,
            told.unrecognized.len()
        );
        assert!(count > 0, "{name}");
        assert_eq!((stops.len(), sum_ns), (count, us * 1_000), "{name}");
        assert_eq!(told.unrecognized, Vec::<String>::new(), "{name}");
        assert_eq!(told.problems, [], "{name}");
        assert_eq!(told.sources[0].dialect.as_deref(), Some("j9"), "{name}");
        assert!(told.reconciliations.iter().all(|found| found.logged == found.read), "{name}");
        assert_eq!(told.reconciliations.len(), 1, "{name}");
    }
}

#[test]
fn an_id_of_an_element_that_is_not_numbered_shows_no_restart_and_no_gap() {
    let sample = String::from_utf8(sample("gencon.xml")).expect("text");
    let plain = read(sample.as_bytes());
    for unknown in
        ["<worker id=\"1\" />", "<numa-node id=\"100000\" />", "<thread id=\"0x1f\" name=\"http-1\" />"]
    {
        let text = sample.replace("<exclusive-end", &format!("{unknown}\n<exclusive-end"));
        let found = read(text.as_bytes());
        assert_eq!(found.jvms.len(), 1, "{unknown}");
        assert_eq!(
            (found.records.len(), found.problems),
            (plain.records.len(), plain.problems.clone()),
            "{unknown}"
        );
        assert!(found.reconciliations.iter().all(|sum| sum.logged == sum.read), "{unknown}");
    }
}

#[test]
fn a_scavenge_of_gencon_is_whole() {
    let told = read(&sample("gencon.xml"));
    let scavenge = &told.records[0];
    assert_eq!(
        (scavenge.kind, scavenge.phase.as_str(), scavenge.scope),
        (GcRecordKind::Pause, "scavenge", Some(GcScope::Young))
    );
    assert_eq!(
        (scavenge.cause.as_deref(), scavenge.cycle_id),
        (Some("allocation failure (nursery)"), Some(4))
    );
    assert_eq!((scavenge.duration_ns, scavenge.duration_resolution_ns), (Some(5_600_000), Some(1_000)));
    assert_eq!(scavenge.time_to_safepoint_ns, Some(70_000));
    let end =
        GcInstant { uptime_ns: Some(2_505_000_000), resolution_ns: Some(1_000_000), ..GcInstant::default() };
    assert_eq!(scavenge.end, end);
    let cpu = scavenge.cpu.expect("CPU time");
    assert_eq!(
        (cpu.user_ns, cpu.sys_ns, cpu.real_ns, cpu.resolution_ns),
        (18_500_000, 250_000, Some(5_300_000), 1_000)
    );
    assert_eq!(
        (scavenge.workers, scavenge.allocated_bytes, scavenge.promoted_bytes),
        (Some(4), Some(23_900_000), Some(500_000))
    );
    assert_eq!(scavenge.thread.as_deref(), Some("worker <1>"));
    assert_eq!((scavenge.heap.before_bytes, scavenge.heap.after_bytes), (Some(68_000_000), Some(45_400_000)));
    assert_eq!((scavenge.heap.capacity_bytes, scavenge.heap.resolution_bytes), (Some(128_000_000), Some(1)));
    let old = scavenge.space(GcSpace::Old).expect("the tenured space");
    assert_eq!((old.before_bytes, old.after_bytes), (Some(36_000_000), Some(36_500_000)));
    assert_eq!(scavenge.space(GcSpace::Survivor), None);
    assert_eq!((scavenge.first_line, scavenge.line), (26, 71));
}

#[test]
fn a_concurrent_cycle_of_gencon_has_its_trigger_its_stops_and_its_length() {
    let told = read(&sample("gencon.xml"));
    let found: Vec<_> =
        told.records.iter().skip(1).map(|r| (r.kind, r.phase.as_str(), r.scope, r.duration_ns)).collect();
    assert_eq!(
        found,
        [
            (GcRecordKind::Trigger, "concurrent-kickoff", Some(GcScope::Whole), None),
            (GcRecordKind::Pause, "cycle-start", Some(GcScope::Whole), Some(809_000)),
            (GcRecordKind::Cycle, "global", Some(GcScope::Whole), Some(1_002_000_000)),
            (GcRecordKind::Pause, "global", Some(GcScope::Whole), Some(12_500_000)),
            (GcRecordKind::Safepoint, "exclusive access", None, Some(300_000)),
        ]
    );
    assert_eq!(told.records[1].cause.as_deref(), Some("threshold reached"));
    let jvm = &told.jvms[0];
    assert_eq!((jvm.collector.as_deref(), jvm.is_generational), (Some("gencon"), Some(true)));
    assert_eq!(
        jvm.mode.as_ref().map(|read| (read.mode, read.shift_bits)),
        Some((ReferenceMode::CompressedZeroBased, Some(3)))
    );
    assert_eq!(jvm.large_pages.as_deref(), Some("requested 2097152 bytes, got 4096 bytes"));
    assert_eq!(jvm.flags, ["-Xmx256m", "-Dservice.password=<redacted>"]);
    assert_eq!(
        (jvm.heap_bytes_max, jvm.memory_bytes, jvm.processors),
        (Some(256 << 20), Some(8_589_934_592), Some(4))
    );
}

#[test]
fn cycles_of_balanced_go_over_pauses_and_may_change_their_kind() {
    let told = read(&sample("balanced.xml"));
    let found: Vec<_> =
        told.records.iter().map(|r| (r.kind, r.phase.as_str(), r.scope, r.cycle_id)).collect();
    assert_eq!(
        found,
        [
            (GcRecordKind::Pause, "partial gc", Some(GcScope::Mixed), Some(4)),
            (GcRecordKind::Pause, "global mark phase", Some(GcScope::Whole), Some(14)),
            (GcRecordKind::Concurrent, "GMP work packet processing", Some(GcScope::Whole), Some(14)),
            (GcRecordKind::Cycle, "global garbage collect", Some(GcScope::Whole), Some(14)),
            (GcRecordKind::Pause, "global garbage collect", Some(GcScope::Full), Some(14)),
        ]
    );
    assert_eq!(told.records[2].duration_ns, Some(312_000_000));
    assert_eq!(told.jvms[0].region_bytes, Some(512 << 10));
    assert_eq!(told.jvms[0].mode.as_ref().map(|read| read.mode), Some(ReferenceMode::Full64));
}

#[test]
fn the_schema_before_r26_is_read_too() {
    let told = read(&sample("pre-r26.xml"));
    let found: Vec<_> =
        told.records.iter().map(|r| (r.phase.as_str(), r.scope, r.cause.as_deref(), r.duration_ns)).collect();
    assert_eq!(
        found,
        [
            ("scavenger", Some(GcScope::Young), Some("allocation failure (nursery)"), Some(7_450_000)),
            ("global", Some(GcScope::Whole), Some("concurrent collection"), Some(15_250_000)),
            ("global", Some(GcScope::Full), Some("system"), Some(43_000_000)),
        ]
    );
    let scavenge = &told.records[0];
    assert_eq!((scavenge.heap.before_bytes, scavenge.heap.after_bytes), (Some(68_000_000), Some(38_000_000)));
    assert_eq!((scavenge.promoted_bytes, scavenge.time_to_safepoint_ns), (Some(677_620), Some(193_000)));
    assert_eq!(
        (told.records[2].end.uptime_ns, told.records[2].end.resolution_ns),
        (Some(10_043_000_000), Some(1_000_000_000))
    );
    // The mark of the version alone, without attributes.
    assert_eq!(told.jvms[0].settings.get("compressed references").map(String::as_str), Some("true"));
}

#[test]
fn a_gap_in_the_numbers_is_data_lost() {
    let text = String::from_utf8(sample("gencon.xml")).expect("text");
    let torn: Vec<_> =
        text.lines().filter(|line| !line.contains("id=\"7\"") && !line.contains("id=\"11\"")).collect();
    let told = read(torn.join("\n").as_bytes());
    let problems: Vec<_> = told.problems.iter().map(|problem| problem.text.as_str()).collect();
    assert_eq!(
        problems,
        [
            "1 numbered elements are missing: after 6 comes 8",
            "1 numbered elements are missing: after 10 comes 12"
        ]
    );
    assert_eq!((told.reconciliations[0].logged, told.reconciliations[0].read), (29.0, 27.0));
}

#[test]
fn several_roots_messages_in_between_and_missing_ends_do_no_harm() {
    let text = String::from_utf8(sample("gencon.xml")).expect("text");
    // Killed within a pause, started again into the same file; then a file of a rotated set that goes on with the numbers.
    let killed = text.split_once("<cycle-end id=\"10\"").expect("a cycle").0;
    let again = text.split_once("<concurrent-kickoff").expect("a kickoff").0;
    let root = "<verbosegc xmlns=\"http://www.ibm.com/j9/verbosegc\" version=\"0a1b2c3_CMPRSS\">\n\n";
    let rest =
        format!("{root}<concurrent-kickoff{}", text.split_once("<concurrent-kickoff").expect("a kickoff").1);
    let log = format!("{killed}JVMDUMP039I Processing dump event \"systhrow\"\n{again}");
    let told = read_in(1_000, &[log.as_bytes(), rest.as_bytes()]);
    assert_eq!(told.unrecognized.len(), 1);
    assert_eq!(told.jvms_begun, 2);
    assert_eq!(told.jvms.iter().map(|jvm| jvm.line).collect::<Vec<_>>(), [1, 71]);
    assert_eq!(told.problems.len(), 1);
    assert_eq!(told.problems[0].text, "the JVM ends within a pause");
    assert_eq!(told.pauses().count(), 3);
    let counts: Vec<_> = told.reconciliations.iter().map(|found| (found.logged, found.read)).collect();
    assert_eq!(counts, [(9.0, 9.0), (29.0, 29.0)]);
}

#[test]
fn sums_of_metronome_are_not_taken_for_pauses() {
    let told = read(
        b"<verbosegc version=\"x\">\n<gc-op id=\"1\" type=\"heartbeat\" timems=\"1000.000\" contextid=\"0\" timestamp=\"2024-03-04T10:00:02.500\">\n  \
          <quanta quantumCount=\"12\" quantumType=\"mark\" minTimeMs=\"0.1\" meanTimeMs=\"2.0\" maxTimeMs=\"3.0\" maxTimestampMs=\"1.0\" />\n</gc-op>\n\
          <gc-op id=\"2\" type=\"syncgc\" timems=\"12.500\" contextid=\"0\" timestamp=\"2024-03-04T10:00:03.500\">\n</gc-op>\n",
    );
    assert_eq!(told.unrecognized, Vec::<String>::new());
    assert_eq!(
        (told.records.len(), told.records[0].phase.as_str(), told.records[0].duration_ns),
        (1, "syncgc", Some(12_500_000))
    );
    assert!(told.problems[0].text.starts_with("12 pauses of metronome"), "{:?}", told.problems);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Two samples spliced, bytes changed.
    #[test]
    fn damaged_logs_are_read_without_panic(
        seeds in (0usize..100, 0usize..100),
        cuts in (0usize..8_000, 0usize..8_000),
        damage in prop::collection::vec((0usize..8_000, any::<u8>()), 0..40),
        portion in 1usize..5_000,
    ) {
        check_any(&spliced(&own(), seeds, cuts, damage), portion);
    }
}
