//! Files, sets, archives and folders as they lie about: what is read, in which order, and what is told of the rest.

use assay_gclog::input::{Follower, InputError, ReadLimits, find, read_set};
use assay_gclog::{At, GcSink};
use assay_model::{GcRecord, GcSource, Problem};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

/// Keeps lines that no dialect takes, which are all here.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    sources: Vec<GcSource>,
    problems: Vec<Problem>,
}

impl GcSink for Lines {
    fn end_source(&mut self, source: &GcSource) {
        self.sources.push(source.clone());
    }
    fn record(&mut self, _record: GcRecord) {}
    fn unrecognized(&mut self, _at: At, text: &str) {
        self.lines.push(text.to_owned());
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("written");
    path
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(text.as_bytes()).expect("packed");
    out.finish().expect("packed")
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        out.start_file(*name, SimpleFileOptions::default()).expect("a member");
        out.write_all(bytes).expect("packed");
    }
    out.finish().expect("an archive").into_inner()
}

/// Reads what was named as one set that must be the only one.
fn read(named: &[PathBuf]) -> Lines {
    let found = find(named, false).expect("found");
    assert_eq!(found.sets.len(), 1, "{:?}", found.sets);
    let mut lines = Lines::default();
    read_set(&found.sets[0], &mut lines);
    lines
}

#[test]
fn a_set_is_read_in_the_order_in_which_it_was_written_whatever_the_order_of_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let named = [
        write(at, "gc.log", "(30) e\n"),
        write(at, "gc.log.0", gzip("0.500: c\n")),
        write(at, "gc.log.1", "0.700: d\nd2\n"),
        write(at, "gc.log.2", "0.100: a\n"),
        write(at, "gc.log.3", "0.300: b\n"),
    ];
    let lines = read(&named);
    assert_eq!(lines.lines, ["0.100: a", "0.300: b", "0.500: c", "0.700: d", "d2", "(30) e"]);
    assert_eq!(lines.problems, []);
    assert_eq!(lines.sources.iter().map(|s| s.lines).collect::<Vec<_>>(), [1, 1, 1, 2, 1]);
}

#[test]
fn files_of_other_names_are_other_sets_unless_they_are_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = [
        write(folder.path(), "b.log", "2024-01-02T00:00:00.000+0000: 9.0: b\n"),
        write(folder.path(), "a.log", "2024-01-01T00:00:00.000+0000: 3.0: a\n"),
    ];
    let names = |sets: &[assay_gclog::input::LogSet]| sets.iter().map(|s| s.parts.len()).collect::<Vec<_>>();
    assert_eq!(names(&find(&named, false).expect("found").sets), [1, 1]);
    let joined = find(&named, true).expect("found").sets;
    assert_eq!(names(&joined), [2]);
    assert!(joined[0].parts[0].name.ends_with("a.log"));
}

#[test]
fn a_packed_file_that_breaks_off_gives_what_is_there_and_a_problem() {
    let folder = tempfile::tempdir().expect("a folder");
    let text: String = (0..20_000).map(|i| format!("line {i} {}\n", i * 7919)).collect();
    let mut packed = gzip(&text);
    packed.truncate(packed.len() / 2);
    let lines = read(&[write(folder.path(), "torn.log.gz", packed)]);
    assert!(lines.lines.len() > 5_000, "{}", lines.lines.len());
    assert!(text.starts_with(&lines.lines[..5_000].join("\n")));
    assert_eq!(lines.problems.len(), 1);
    assert!(lines.problems[0].text.contains("breaks off"), "{}", lines.problems[0].text);
}

#[test]
fn several_packed_streams_in_one_file_are_all_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = [gzip("a\n"), gzip("b\n")].concat();
    assert_eq!(read(&[write(folder.path(), "x", both)]).lines, ["a", "b"]);
}

#[test]
fn what_is_no_log_is_told_by_its_folder_or_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = write(folder.path(), "x.zip", zip_of(&[("a.txt", b"nothing"), ("b/c.txt", b"nothing")]));
    let error = find(&[archive], false).expect_err("no log");
    assert!(error.to_string().ends_with("holds no GC log: 2 files were checked"), "{error}");
    let error = find(&[folder.path().to_owned()], false).expect_err("no log");
    assert!(matches!(error, InputError::NoLog { .. }), "{error}");
    let error = find(&[folder.path().join("none")], false).expect_err("no file");
    assert!(matches!(error, InputError::Open { .. }), "{error}");
    let twice = [PathBuf::from("-"), PathBuf::from("-")];
    assert!(matches!(find(&twice, false), Err(InputError::StandardInputTwice)));
}

fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        out.append_data(&mut header, name, *bytes).expect("a member");
    }
    out.into_inner().expect("an archive")
}

#[test]
fn each_log_of_a_tar_is_a_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = |text: &str| format!("[0.100s][info][gc] Using G1\n[0.200s][info][gc] {text}\n");
    let (a, b, packed) = (log("a"), log("b"), gzip(&log("c")));
    let members: [(&str, &[u8]); 4] = [
        ("x/a.log", a.as_bytes()),
        ("x/b.log", b.as_bytes()),
        ("x/notes.txt", b"none"),
        ("x/c.log.gz", &packed),
    ];
    let plain = tar_of(&members);
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    zipped.write_all(&plain).expect("packed");
    for (name, bytes) in [("logs.tar", plain.clone()), ("logs.tgz", zipped.finish().expect("packed"))] {
        let found = find(&[write(folder.path(), name, bytes)], false).expect("logs");
        let names: Vec<bool> = ["!x/a.log", "!x/b.log", "!x/c.log.gz"]
            .iter()
            .zip(&found.sets)
            .map(|(end, set)| set.name.ends_with(end))
            .collect();
        assert_eq!((names, found.sets.len(), found.passed_over.len()), (vec![true; 3], 3, 1), "{name}");
        for (set, last) in found.sets.iter().zip(["a", "b", "c"]) {
            let mut lines = Lines::default();
            read_set(set, &mut lines);
            assert_eq!(lines.lines, [format!("[0.200s][info][gc] {last}")], "{name}");
        }
    }
    let torn = write(folder.path(), "torn.tar", &plain[..plain.len() - 3_000]);
    assert!(!find(&[torn], false).expect("the first").sets.is_empty());
}

#[test]
fn hostile_archives_and_files_end_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut archive = zip_of(&[("gc.log", b"[0.1s][info][gc] Using G1\n")]);
    archive.truncate(archive.len() - 10);
    let torn = find(&[write(folder.path(), "torn.zip", archive)], false).expect_err("torn").to_string();
    assert!(torn.contains("breaks off") && torn.contains("zip -FF"), "{torn}");
    let lines = read(&[write(folder.path(), "bad.gz", [0x1f, 0x8b, 8, 0, 255, 255, 0, 1, 2, 3])]);
    assert_eq!((lines.lines.len(), lines.problems.len()), (0, 1));
    assert_eq!(read(&[write(folder.path(), "empty.log", "")]).sources[0].bytes, 0);
    let nested = gzip(&String::from_utf8_lossy(b"PK\x03\x04"));
    assert_eq!(read(&[write(folder.path(), "x.gz", nested)]).lines.len(), 1);
}

#[test]
fn a_link_to_a_file_of_the_set_is_not_read_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let real = write(folder.path(), "gc.log.1", "0.1: a\n");
    let link = folder.path().join("gc.log");
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    let found = find(&[real, link], false).expect("found");
    assert_eq!((found.sets.len(), found.sets[0].parts.len()), (1, 1));
    assert!(found.passed_over[0].text.contains("same file"), "{:?}", found.passed_over);
}

#[test]
fn files_of_the_same_set_that_were_not_named_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let active = write(folder.path(), "gc.log", "a\n");
    let rotated = write(folder.path(), "gc.log.0", "b\n");
    write(folder.path(), "other.log", "c\n");
    assert_eq!(find(&[active], false).expect("found").beside, [rotated]);
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("appended");
}

#[test]
fn a_followed_log_is_read_through_rotation_and_truncation_without_a_line_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "gc.log", "one\nt");
    let mut lines = Lines::default();
    let mut follower = Follower::open(&path, &mut lines).expect("opened");
    assert_eq!(follower.poll(&mut lines).expect("read").bytes, 5);
    append(&path, "wo\n");
    follower.poll(&mut lines).expect("read");
    // Written between the last look and the renaming.
    append(&path, "three\n");
    fs::rename(&path, folder.path().join("gc.log.0")).expect("renamed");
    assert!(!follower.poll(&mut lines).expect("the name is gone for the moment").is_new_file);
    append(&path, "four\n");
    assert!(follower.poll(&mut lines).expect("read").is_new_file);
    fs::write(&path, "5\n").expect("emptied and written");
    assert!(follower.poll(&mut lines).expect("read").is_new_file);
    follower.finish(&mut lines);
    assert_eq!(lines.lines, ["one", "two", "three", "four", "5"]);
    let names: Vec<&str> = lines.sources.iter().map(|s| s.name.rsplit('/').next().unwrap_or("")).collect();
    assert_eq!(names, ["gc.log.0", "gc.log (before it was emptied)", "gc.log"]);
    assert_eq!(lines.problems, []);
}

#[test]
fn what_is_no_regular_file_is_not_followed() {
    let error = Follower::open(Path::new("/dev/null"), &mut Lines::default()).expect_err("a device");
    assert!(matches!(error, InputError::NoFileToFollow { .. }), "{error}");
}

#[test]
fn a_byte_order_mark_costs_no_line() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(read(&[write(folder.path(), "gc.log", "\u{feff}one\ntwo\n")]).lines, ["one", "two"]);
}

#[test]
fn the_current_file_of_a_set_of_jdk_8_is_followed_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = write(folder.path(), "gc.log.0.current", "one\n");
    let mut lines = Lines::default();
    let mut follower = Follower::open(&first, &mut lines).expect("opened");
    follower.poll(&mut lines).expect("read");
    fs::rename(&first, folder.path().join("gc.log.0")).expect("renamed");
    append(&folder.path().join("gc.log.1.current"), "two\n");
    assert!(follower.poll(&mut lines).expect("read").is_new_file);
    follower.finish(&mut lines);
    assert_eq!(lines.lines, ["one", "two"]);
}

#[test]
fn of_a_long_log_the_end_alone_can_be_followed_and_so_much_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "gc.log", "1\n2\n3\n4\n");
    let mut lines = Lines::default();
    let part = ReadLimits { whole_bytes_max: 7, bytes_at_once: 4 };
    let mut follower = Follower::open_part(&path, part, &mut lines).expect("opened");
    append(&path, "5\n6\n7\n");
    let polled = follower.poll(&mut lines).expect("read");
    assert_eq!((polled.bytes, polled.is_at_end), (4, false));
    // The rest of this file is read before the next one is.
    fs::rename(&path, folder.path().join("gc.log.0")).expect("renamed");
    append(&path, "8\n");
    let polled = follower.poll(&mut lines).expect("read");
    assert_eq!((polled.bytes, polled.is_new_file, polled.is_at_end), (4, false, false));
    let polled = follower.poll(&mut lines).expect("read");
    assert_eq!((polled.bytes, polled.is_new_file, polled.is_at_end), (4, true, true));
    fs::remove_file(&path).expect("removed");
    assert!(follower.poll(&mut lines).expect("read").is_gone);
    follower.finish(&mut lines);
    assert_eq!(lines.lines, ["3", "4", "5", "6", "7", "8"]);
}

#[test]
fn a_log_that_lacks_nothing_but_its_last_end_of_line_is_not_torn() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = "[1.0s][info][gc] Using G1\n[1.1s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.9ms";
    for (text, is_torn) in [(whole, false), (&whole[..whole.len() - 2], true), (&format!("{whole}\n"), false)]
    {
        let lines = read(&[write(folder.path(), "gc.log", text)]);
        assert_eq!(lines.sources[0].is_torn, is_torn, "{text}");
    }
}

#[test]
fn settings_of_another_program_are_no_gc_log() {
    let conf = "# Users must be able to read this.\nName: config\nDriver: File\nMode: 644\nVersion: 3.1\nMemory: 16G\nCPUs: 4\n\nName: passwords\nMode: 600\n";
    let folder = tempfile::tempdir().expect("a folder");
    let told = read(&[write(folder.path(), "debconf.conf", conf)]);
    assert_eq!((told.sources[0].dialect.as_deref(), told.lines.len()), (None, 9));
}

#[test]
fn output_of_a_server_before_its_first_collection_hides_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let banner = "2026-11-23 INFO  starting\n".repeat(500);
    let log =
        format!("{banner}[9.100s][info][gc] GC(0) Pause Young (Allocation Failure) 20M->2M(60M) 3.000ms\n");
    let told = read(&[write(folder.path(), "stdout.log", log)]);
    assert_eq!((told.sources[0].dialect.as_deref(), told.lines.len()), (Some("unified"), 500));
}

#[test]
fn a_device_without_end_is_given_up() {
    let told = read(&[PathBuf::from("/dev/zero")]);
    assert!(told.problems[0].text.contains("hold no line of a GC log"), "{:?}", told.problems);
}
