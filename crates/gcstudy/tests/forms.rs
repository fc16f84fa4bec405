//! The recorded logs of every form in other outward shapes: with other ends of lines, in UTF-16, without the last end of line, and
//! mixed with the log of a second JVM.

use crate::analysed;
use assay_gclog::{At, GcSink, GcStream};
use assay_model::{GcRecord, GcRecordKind, GcReport, GcSource, Problem};
use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Logs of JDK 8 to 28 and of J9, whole and of one JVM each.
fn logs() -> Vec<PathBuf> {
    let testdata = assay_testkit::testdata("gclog");
    let kinds = entries(&testdata.join("kinds"));
    let mut found: Vec<PathBuf> = kinds.iter().map(|kind| kind.join("star.default.log")).collect();
    for folder in ["releases", "jdk8", "j9"] {
        found.extend(entries(&testdata.join(folder)).into_iter().filter(|path| !path.ends_with("LICENSE")));
    }
    found.sort();
    assert!(found.len() > 30, "the logs are there: {found:?}");
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a recorded log")
}

/// A report but for what the bytes themselves are.
fn what_is_told(log: &[u8]) -> GcReport {
    let mut report = analysed::report(log);
    report.sources.iter_mut().for_each(|source| source.bytes = 0);
    report
}

fn in_utf_16(text: &str, of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(of).collect()
}

#[test]
fn ends_of_lines_and_the_encoding_change_no_figure() {
    for path in logs() {
        let text = read(&path).replace('\r', "");
        let want = what_is_told(text.as_bytes());
        let forms = [
            ("carriage returns", text.replace('\n', "\r").into_bytes()),
            ("both", text.replace('\n', "\r\n").into_bytes()),
            ("UTF-16, little endian", in_utf_16(&text, u16::to_le_bytes)),
            ("UTF-16 of Windows", in_utf_16(&text.replace('\n', "\r\n"), u16::to_le_bytes)),
            ("UTF-16, big endian", in_utf_16(&text, u16::to_be_bytes)),
        ];
        for (form, bytes) in forms {
            assert_eq!(what_is_told(&bytes), want, "{} with {form}", path.display());
        }
    }
}

#[test]
fn a_log_without_its_last_end_of_line_does_not_break_off() {
    let breaks_off = |report: &GcReport| report.findings.iter().any(|f| f.rule == "log-breaks-off");
    let mut found = 0;
    for path in logs() {
        let text = read(&path);
        let whole = text.trim_end_matches(['\n', '\r']);
        let was = breaks_off(&analysed::report(text.as_bytes()));
        assert_eq!(breaks_off(&analysed::report(whole.as_bytes())), was, "{}", path.display());
        found += usize::from(was);
    }
    assert!(found <= 2, "{found} recorded logs break off");
}

/// What tells JVMs apart.
#[derive(Debug, Default)]
struct Jvms {
    begun: usize,
    pauses: usize,
    problems: Vec<String>,
}

impl GcSink for Jvms {
    fn end_source(&mut self, _source: &GcSource) {}
    fn begin_jvm(&mut self) {
        self.begun += 1;
    }
    fn record(&mut self, record: GcRecord) {
        self.pauses += usize::from(record.kind == GcRecordKind::Pause);
    }
    fn unrecognized(&mut self, _at: At, _text: &str) {}
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem.text);
    }
}

fn jvms(log: &str) -> Jvms {
    let (mut jvms, mut stream) = (Jvms::default(), GcStream::default());
    stream.begin_source("log", &mut jvms);
    stream.feed(log.as_bytes(), &mut jvms);
    stream.end_source(&mut jvms);
    stream.finish(&mut jvms);
    jvms
}

/// Uptime of a line in milliseconds, and what stands behind it.
fn uptime(line: &str) -> Option<(u64, &str)> {
    let (stamp, rest) = match line.strip_prefix('[') {
        Some(behind) => behind.split_once("s]")?,
        None => line.split_once(": ")?,
    };
    let (seconds, millis) = stamp.split_once('.').filter(|(_, millis)| millis.len() == 3)?;
    Some((seconds.parse::<u64>().ok()? * 1_000 + millis.parse::<u64>().ok()?, rest))
}

/// The same program as it was started two minutes later and writes to the same file: its lines stand where time has put them.
fn with_another(log: &str) -> String {
    const LATER_MS: u64 = 120_000;
    let mut pieces: Vec<(u64, String)> = Vec::new();
    for later_ms in [LATER_MS, 0] {
        let mut at_ms = LATER_MS;
        for line in log.lines() {
            let text = match uptime(line) {
                Some((ms, rest)) => {
                    at_ms = ms + LATER_MS;
                    let (s, ms) = ((ms + later_ms) / 1_000, (ms + later_ms) % 1_000);
                    if line.starts_with('[') {
                        format!("[{s}.{ms:03}s]{rest}")
                    } else {
                        format!("{s}.{ms:03}: {rest}")
                    }
                }
                None => line.to_owned(),
            };
            pieces.push((at_ms, text));
        }
    }
    // Lines of one instant and JVM stay together.
    pieces.sort_by_key(|(at_ms, _)| *at_ms);
    pieces.iter().map(|(_, text)| format!("{text}\n")).collect()
}

#[test]
fn two_jvms_that_write_into_one_log_are_two_and_that_is_told_once() {
    let mut logs_mixed = 0;
    for path in logs() {
        let text = read(&path);
        // Logs of J9 and some others have no uptime to mix them by.
        if text.lines().filter(|line| uptime(line).is_some()).count() < 100 {
            continue;
        }
        let alone = jvms(&text);
        let both = jvms(&with_another(&text));
        let name = path.display();
        assert_eq!((alone.begun, both.begun), (1, 2), "{name}: {:?}", both.problems);
        let told = both
            .problems
            .iter()
            .filter(|problem| problem.starts_with("several JVMs write into this log at once"));
        assert_eq!(told.count(), 1, "{name}: {:?}", both.problems);
        assert!(both.pauses >= 2 * alone.pauses, "{name}: {} of {}", both.pauses, alone.pauses);
        logs_mixed += 1;
    }
    assert!(logs_mixed >= 20, "{logs_mixed} logs");
}
