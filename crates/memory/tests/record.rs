//! Records: bounded, mended, refused when they are somebody else's.

use crate::report::{MIB, Snapshot};
use assay_memory::{Record, RecordError, read_record};
use assay_model::{MemoryEnd, MemoryReport, schema};
use proptest::prelude::*;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("memory.ndjson")
    }
}

/// The snapshot of a second: the time is its name.
fn snapshot(second: u64) -> MemoryReport {
    Snapshot::plain_jvm().after_s(second).0
}

fn seconds(snapshots: &[MemoryReport]) -> Vec<u64> {
    snapshots.iter().map(|l| l.monotonic_ns / 1_000_000_000 - 1).collect()
}

fn line_bytes() -> u64 {
    serde_json::to_vec(&snapshot(1_000)).expect("JSON").len() as u64 + 1
}

#[test]
fn what_was_written_is_read_again() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), 64 * MIB).expect("a record");
    let written: Vec<_> = (0..5).map(snapshot).collect();
    for snapshot in &written {
        record.append(snapshot).expect("room");
    }
    let (read, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((read, problems), (written, Vec::new()));
    let about = std::fs::metadata(folder.file()).expect("a file");
    assert_eq!((about.permissions().mode() & 0o777, about.len()), (0o600, record.bytes()));
}

#[test]
fn the_end_of_the_process_is_read_with_its_last_snapshot_and_counts_as_none() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), 64 * MIB).expect("a record");
    let written: Vec<_> = (0..3).map(snapshot).collect();
    written.iter().for_each(|snapshot| record.append(snapshot).expect("room"));
    let end = MemoryEnd {
        ended_at: "2026-01-02T03:04:09Z".to_owned(),
        oom_kills: Some(1),
        limit_hits: Some(3),
        limit_bytes: Some(260 * MIB),
        processes: Some(1),
    };
    record.append_end(&end).expect("room");
    assert_eq!(record.snapshots(), 3);
    drop(record);
    let (read, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((read.len(), problems), (3, Vec::new()));
    assert_eq!(read[..2], written[..2]);
    assert_eq!(read[2].end, Some(end));
    let killed = read[2].findings.iter().find(|found| found.rule == "killed-at-limit").expect("a finding");
    assert!(
        killed.evidence_line().ends_with("nothing grew between the first snapshot and the last"),
        "{killed:?}"
    );
}

#[test]
fn a_kill_says_what_grew_most_before_and_of_one_snapshot_that_it_shows_none() {
    let end = MemoryEnd {
        ended_at: "2026-01-02T03:04:09Z".to_owned(),
        oom_kills: Some(1),
        limit_hits: Some(3),
        limit_bytes: Some(260 * MIB),
        processes: Some(1),
    };
    let said = |snapshots: &[MemoryReport]| {
        let folder = Folder::new();
        let mut record = Record::create(&folder.file(), 64 * MIB).expect("a record");
        snapshots.iter().for_each(|snapshot| record.append(snapshot).expect("room"));
        record.append_end(&end).expect("room");
        let read = read_record(&folder.file()).expect("a record").0;
        let last = read.last().expect("snapshots");
        let killed = last.findings.iter().find(|found| found.rule == "killed-at-limit").expect("a finding");
        killed.evidence_line()
    };
    let pool = "direct and mapped buffers/java.nio.DirectByteBuffer/app.Pool";
    let grown = |second: u64| Snapshot::plain_jvm().entry(pool, second * 40 * MIB).after_s(second).0;
    assert!(said(&[grown(1), grown(2), grown(3)]).contains("grew most: "), "{}", said(&[grown(1), grown(3)]));
    assert!(said(&[grown(1), grown(3)]).contains("app.Pool +80.0 MiB"), "{}", said(&[grown(1), grown(3)]));
    assert!(said(&[grown(1)]).ends_with("one snapshot before the end shows no growth"));
}

#[test]
fn a_full_record_keeps_first_and_last_and_every_second_in_between() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), 10 * line_bytes() + line_bytes() / 2).expect("a record");
    for second in 0..10 {
        record.append(&snapshot(second)).expect("room");
    }
    assert_eq!(seconds(&read_record(&folder.file()).expect("a record").0), (0..10).collect::<Vec<_>>());
    record.append(&snapshot(10)).expect("room is made");
    let snapshots = read_record(&folder.file()).expect("a record").0;
    assert_eq!(seconds(&snapshots), [0, 2, 4, 6, 8, 9, 10]);
    assert_eq!((record.snapshots(), record.has_thinned()), (7, true), "it tells what it holds");
    let about = std::fs::metadata(folder.file()).expect("a file");
    assert_eq!(about.permissions().mode() & 0o777, 0o600, "the new file is private as well");
}

#[test]
fn a_long_record_shows_the_whole_time_evenly() {
    let folder = Folder::new();
    let bytes_max = 40 * line_bytes();
    let mut record = Record::create(&folder.file(), bytes_max).expect("a record");
    for second in 0..2_000 {
        record.append(&snapshot(second)).expect("room is made");
        let bytes = std::fs::metadata(folder.file()).expect("a file").len();
        assert!(bytes <= bytes_max, "{bytes} of {bytes_max}");
    }
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    let seconds = seconds(&snapshots);
    assert_eq!((problems, seconds.first(), seconds.last()), (vec![], Some(&0), Some(&1_999)));
    assert!((15..=40).contains(&seconds.len()), "{seconds:?}");
    let widest = seconds.windows(2).map(|pair| pair[1] - pair[0]).max().expect("pairs");
    assert!(widest <= 2_000 / 4, "no hole of more than a quarter of the time: {seconds:?}");
}

#[test]
fn a_limit_that_holds_no_two_looks_is_an_error_and_the_record_stays() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), line_bytes() + line_bytes() / 2).expect("a record");
    record.append(&snapshot(0)).expect("room for one");
    let refused = record.append(&snapshot(1)).expect_err("no room for two");
    assert!(matches!(refused, RecordError::TooSmall { .. }), "{refused}");
    assert_eq!(seconds(&read_record(&folder.file()).expect("a record").0), [0]);
}

#[test]
fn a_record_that_no_look_came_into_leaves_no_file_but_another_ones_stays() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), 1024).expect("a record");
    let told = record.append(&snapshot(0)).expect_err("no room for one").to_string();
    assert!(told.contains("--record-max-bytes"), "{told}");
    drop(record);
    assert!(!folder.file().exists());
    std::fs::write(folder.file(), "").expect("a file of the user's");
    drop(Record::create(&folder.file(), MIB).expect("a record"));
    assert!(folder.file().exists());
}

#[test]
fn snapshots_of_a_process_started_later_are_refused_and_old_records_go_on() {
    let folder = Folder::new();
    let restarted =
        Snapshot::plain_jvm().after_s(60).with(|l| l.start_ticks = Some(l.start_ticks.unwrap_or(0) + 1)).0;
    let rebooted = Snapshot::plain_jvm().after_s(60).with(|l| l.boot_id = Some("another".to_owned())).0;
    let other = Snapshot::plain_jvm().after_s(60).with(|l| l.pid = 1).0;
    let mut record = Record::create(&folder.file(), MIB).expect("a record");
    record.append(&snapshot(0)).expect("room");
    for reopened in [false, true] {
        if reopened {
            drop(record);
            record = Record::create(&folder.file(), MIB).expect("the record goes on");
        }
        for snapshot in [&restarted, &rebooted, &other] {
            let refused = record.append(snapshot).expect_err("another process");
            assert!(matches!(refused, RecordError::OtherProcess { .. }), "{refused}");
            assert!(refused.to_string().contains("another name to --record"), "{refused}");
        }
    }
    assert_eq!(
        (seconds(&read_record(&folder.file()).expect("a record").0), record.snapshots()),
        (vec![0], 1)
    );
    record.append(&snapshot(1)).expect("the same process goes on");
    drop(record);

    // As Assay wrote them before snapshots had a start.
    let text = std::fs::read_to_string(folder.file()).expect("a file");
    let start = format!(",\"start_ticks\":123456,\"boot_id\":{:?}", snapshot(0).boot_id.expect("a boot"));
    let old = text.replace(&start, "");
    assert_ne!(old, text);
    std::fs::write(folder.file(), old).expect("a file");
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((snapshots.len(), snapshots[0].start_ticks, problems), (2, None, vec![]));
    let mut record = Record::create(&folder.file(), MIB).expect("an old record");
    record.append(&restarted).expect("nothing speaks against it");
    assert!(record.append(&snapshot(70)).is_err(), "and now its start is known");
}

#[test]
fn a_torn_last_line_is_told_and_cut_off_when_the_record_goes_on() {
    let folder = Folder::new();
    let mut record = Record::create(&folder.file(), MIB).expect("a record");
    record.append(&snapshot(0)).expect("room");
    drop(record);
    let half = &serde_json::to_string(&snapshot(1)).expect("JSON")[..200];
    let mut file = std::fs::OpenOptions::new().append(true).open(folder.file()).expect("a file");
    file.write_all(half.as_bytes()).expect("a write");
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((seconds(&snapshots), problems.len(), problems[0].line), (vec![0], 1, Some(3)));
    assert!(problems[0].text.contains("torn"), "{problems:?}");

    let mut record = Record::create(&folder.file(), MIB).expect("the record goes on");
    record.append(&snapshot(2)).expect("room");
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((seconds(&snapshots), problems), (vec![0, 2], vec![]));
}

#[test]
fn another_programs_file_is_refused_and_left_alone() {
    let folder = Folder::new();
    for text in
        ["precious\n", "{\"schema\":\"assay.plan/1\"}\n", "{\"schema\":\"assay.memory-record/4\"}", "\n"]
    {
        std::fs::write(folder.file(), text).expect("a file");
        let refused = Record::create(&folder.file(), MIB).expect_err("not a record");
        assert!(matches!(refused, RecordError::Foreign { .. }), "{refused}");
        assert_eq!(std::fs::read_to_string(folder.file()).expect("a file"), text);
        assert!(matches!(read_record(&folder.file()), Err(RecordError::Foreign { .. })));
    }
    assert!(Record::create(folder.0.path(), MIB).is_err(), "a folder");
    let refused = read_record(std::path::Path::new("/dev/zero")).expect_err("a device");
    assert!(matches!(refused, RecordError::Foreign { .. }), "{refused}");
}

#[test]
fn two_programs_cannot_record_into_one_file() {
    let folder = Folder::new();
    let mut first = Record::create(&folder.file(), 3 * line_bytes()).expect("a record");
    let in_use = |when: &str| {
        let refused = Record::create(&folder.file(), MIB).expect_err(when);
        assert!(matches!(refused, RecordError::InUse { .. }), "{when}: {refused}");
    };
    in_use("from the start");
    for second in 0..5 {
        first.append(&snapshot(second)).expect("room is made");
    }
    in_use("after the file was replaced");
    drop(first);
    Record::create(&folder.file(), MIB).expect("it is free now");
}

#[test]
fn snapshots_of_another_form_and_bad_lines_are_told_by_number_and_the_rest_is_read() {
    let folder = Folder::new();
    let good = serde_json::to_string(&snapshot(7)).expect("JSON");
    let newer = good.replace(schema::MEMORY, "assay.memory/99");
    let text = format!("{{\"schema\":\"assay.memory-record/4\"}}\n[]\n{good}\n{newer}\n\u{0}\n");
    std::fs::write(folder.file(), text).expect("a file");
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    let lines: Vec<_> = problems.iter().filter_map(|p| p.line).collect();
    assert_eq!((seconds(&snapshots), lines), (vec![7], vec![2, 4, 5]));
}

#[test]
fn a_record_of_another_number_is_left_alone_and_says_what_to_do() {
    let folder = Folder::new();
    let (name, number) = schema::MEMORY_RECORD.split_once('/').expect("NAME/N");
    let number: u32 = number.parse().expect("a number");
    for (other, to_do) in [(number - 1, "measure again"), (number + 1, "take a newer Assay")] {
        let text = format!("{{\"schema\":\"{name}/{other}\"}}\n");
        std::fs::write(folder.file(), &text).expect("a file");
        let refused = [read_record(&folder.file()).err(), Record::create(&folder.file(), MIB).err()];
        for refused in refused.map(|refused| refused.expect("another number").to_string()) {
            let why = format!("it is {name}/{other}, ");
            assert!(refused.contains(&why) && refused.ends_with(to_do), "{refused}");
        }
        assert_eq!(std::fs::read_to_string(folder.file()).expect("a file"), text);
    }
}

#[test]
fn a_kept_record_is_read_whole_and_added_to() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/memory-record-4.ndjson");
    let folder = Folder::new();
    std::fs::copy(kept, folder.file()).expect("a copy");
    let (snapshots, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!(problems, []);
    let mut record = Record::create(&folder.file(), 256 * MIB).expect("it goes on");
    record.append(snapshots.last().expect("a snapshot")).expect("a snapshot more");
    drop(record);
    let (more, problems) = read_record(&folder.file()).expect("a record");
    assert_eq!((more.len(), problems), (snapshots.len() + 1, vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2_000), is_record: bool) {
        let folder = Folder::new();
        let mut text = if is_record { b"{\"schema\":\"assay.memory-record/4\"}\n".to_vec() } else { Vec::new() };
        text.extend(bytes);
        std::fs::write(folder.file(), &text).expect("a file");
        let read = read_record(&folder.file());
        prop_assert!(!is_record || read.is_ok());
        if let Ok(mut record) = Record::create(&folder.file(), MIB) {
            record.append(&snapshot(1)).expect("room");
            let (snapshots, _) = read_record(&folder.file()).expect("a record");
            prop_assert_eq!(snapshots.last(), Some(&snapshot(1)));
        }
    }

    #[test]
    fn any_cut_of_a_record_keeps_the_looks_before_it(cut in 0usize..60_000) {
        let folder = Folder::new();
        let mut record = Record::create(&folder.file(), 64 * MIB).expect("a record");
        for second in 0..6 {
            record.append(&snapshot(second)).expect("room");
        }
        let text = std::fs::read(folder.file()).expect("a file");
        let cut = cut % text.len();
        std::fs::write(folder.file(), &text[..cut]).expect("a file");
        let whole = text[..cut].iter().filter(|byte| **byte == b'\n').count();
        match read_record(&folder.file()) {
            Ok((snapshots, problems)) => {
                prop_assert_eq!(snapshots.len() + 1, whole);
                prop_assert_eq!(problems.len(), usize::from(text[cut - 1] != b'\n'));
            }
            Err(_) => prop_assert_eq!(whole, 0),
        }
    }
}
