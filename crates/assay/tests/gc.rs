//! `assay gc` as it is typed: what a user gets from files, sets, archives, pipes and folders, and from a log that is still written.

use assay_model::{GcComparison, GcEventsLine, GcHeading, GcRecord, GcReport, schema};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(ASSAY);
    command.arg("gc").args(arguments).env("COLUMNS", "100");
    command
}

fn gc(arguments: &[&str]) -> Output {
    command(arguments).output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Pauses of G1 from one number to another, one a second, the n-th of n mod 7 + 1 ms.
fn pauses(numbers: std::ops::Range<u64>) -> String {
    let mut log = String::new();
    for n in numbers {
        let (at, ms) = (1 + n, n % 7 + 1);
        let _ = writeln!(
            log,
            "[{at}.500s][info][gc] GC({n}) Pause Young (Normal) (G1 Evacuation Pause) {}M->{}M(256M) {ms}.000ms",
            100 + n % 5,
            20 + n % 3
        );
    }
    log
}

fn log(numbers: std::ops::Range<u64>) -> String {
    format!("[0.010s][info][gc] Using G1\n{}", pauses(numbers))
}

fn total_ms(numbers: std::ops::Range<u64>) -> f64 {
    numbers.map(|n| (n % 7 + 1) as f64).sum()
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("written");
    path.display().to_string()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(text.as_bytes()).expect("packed");
    out.finish().expect("packed")
}

/// The only report that is printed with `--json`.
#[track_caller]
fn report(arguments: &[&str]) -> GcReport {
    let output = gc(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: GcReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(report.schema, schema::GC);
    report
}

#[track_caller]
fn check(report: &GcReport, numbers: std::ops::Range<u64>) {
    assert_eq!(report.pauses.count, numbers.end - numbers.start);
    assert!((report.pauses.total_ms - total_ms(numbers)).abs() < 1e-6, "{}", report.pauses.total_ms);
    assert_eq!(report.not_understood.lines, 0, "{:?}", report.not_understood);
}

#[test]
fn the_same_log_says_the_same_plain_packed_in_an_archive_in_a_folder_and_through_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = write(folder.path(), "gc.log", log(0..200));
    let packed = write(folder.path(), "packed.log.gz", gzip(&log(0..200)));
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("shop/gc.log", zip::write::SimpleFileOptions::default()).expect("a member");
    archive.write_all(log(0..200).as_bytes()).expect("packed");
    let archive = archive.finish().expect("an archive").into_inner();
    let archive = write(folder.path(), "logs.zip", archive);
    let logs = folder.path().join("logs");
    fs::create_dir_all(logs.join("deep")).expect("a folder");
    write(&logs.join("deep"), "gc.log", log(0..200));
    write(&logs, "notes.txt", "nothing of a JVM\n");
    let mut reports = Vec::new();
    for path in [&plain, &packed, &archive, &logs.display().to_string()] {
        let mut report = report(&[path]);
        check(&report, 0..200);
        report.sources.clear();
        reports.push(report);
    }
    for bytes in
        [log(0..200).into_bytes(), fs::read(&packed).expect("packed"), fs::read(&archive).expect("a zip")]
    {
        let mut child = command(&["-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("assay starts");
        child.stdin.take().expect("a pipe").write_all(&bytes).expect("taken");
        let output = child.wait_with_output().expect("an end");
        let mut piped: GcReport = serde_json::from_slice(&output.stdout).expect("the stored form");
        assert!(piped.sources[0].name.starts_with("standard input"), "{:?}", piped.sources);
        piped.sources.clear();
        reports.push(piped);
    }
    assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
    let told = text(&gc(&[&logs.display().to_string()]).stderr);
    assert!(told.contains("skipped: ") && told.contains("notes.txt"), "{told}");
}

#[test]
fn a_rotated_set_is_one_story_whatever_the_order_of_its_names() {
    let folder = tempfile::tempdir().expect("a folder");
    // Rotation has begun anew at 0: 2, 0, 1, active.
    let named = [
        write(folder.path(), "gc.log", pauses(150..200)),
        write(folder.path(), "gc.log.0", pauses(50..100)),
        write(folder.path(), "gc.log.1", gzip(&pauses(100..150))),
        write(folder.path(), "gc.log.2", log(0..50)),
    ];
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let set = report(&named);
    check(&set, 0..200);
    let names: Vec<&str> = set.sources.iter().map(|s| s.name.rsplit('/').next().unwrap_or("")).collect();
    assert_eq!(names, ["gc.log.2", "gc.log.0", "gc.log.1", "gc.log"]);
    assert!(set.span_s.is_some_and(|s| (195.0..=202.0).contains(&s)), "{:?}", set.span_s);
    let told = text(&gc(&[named[0]]).stderr);
    assert!(
        told.contains("not read, though named as if of the same log") && told.contains("gc.log.0"),
        "{told}"
    );
}

#[test]
fn logs_of_several_servers_get_a_row_or_a_line_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = [write(folder.path(), "a.log", log(0..20)), write(folder.path(), "b.log", log(0..30))];
    let output = gc(&[&named[0], &named[1], "--json"]);
    let all = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<GcReport>();
    let counts: Vec<u64> = all.map(|r| r.expect("a report").pauses.count).collect();
    assert_eq!(counts, [20, 30]);
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let csv = text(&gc(&[&named[0], &named[1], "--csv"]).stdout);
    assert!(csv.starts_with("log,table,name,metric,unit,value,low,high\n"), "{csv}");
    for (name, pauses) in named.iter().zip([20, 30]) {
        assert!(csv.contains(&format!("\n{name},log,all,pauses,events,{pauses},,\n")), "{csv}");
    }
    assert_eq!(csv.matches("log,table,").count(), 1);
    let table = text(&gc(&[&named[0], &named[1]]).stdout);
    assert!(table.contains("2 logs") && table.contains("Logs, the worst first"), "{table}");
    assert!(table.contains("a.log") && table.contains("b.log") && table.lines().count() < 24, "{table}");
    let page = folder.path().join("page.html").display().to_string();
    let output = gc(&[&named[0], &named[1], "--html", &page]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--join"), "{}", text(&output.stderr));
}

#[test]
fn a_packed_log_that_breaks_off_gives_what_is_there_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut packed = gzip(&log(0..20_000));
    packed.truncate(packed.len() * 2 / 3);
    let report = report(&[&write(folder.path(), "gc.log.gz", packed)]);
    assert!((5_000..20_000).contains(&report.pauses.count), "{}", report.pauses.count);
    assert!(report.problems.iter().any(|p| p.text.contains("breaks off")), "{:?}", report.problems);
}

#[test]
fn what_is_no_log_is_bad_input_with_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty_folder = folder.path().join("empty");
    fs::create_dir(&empty_folder).expect("a folder");
    let bytes: Vec<u8> = (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let cases = [
        (write(folder.path(), "empty.log", ""), "it is empty"),
        (write(folder.path(), "binary.log", bytes), "is not a GC log"),
        (
            write(folder.path(), "threads.txt", "2024-03-12 10:15:32\nFull thread dump OpenJDK 64-Bit\n"),
            "a thread dump",
        ),
        (write(folder.path(), "heap.phd", b"\0\x12portable heap dump\0\0\0\x06"), "a heap dump of J9 (PHD)"),
        (
            write(folder.path(), "classes.log", "[0.01s][info][class,load] java.lang.Object\n"),
            "neither a collection nor",
        ),
        (
            write(folder.path(), "printers.conf", "[info] Mode: duplex\n<attribute name=\"x\" />\n"),
            "neither a collection nor",
        ),
        (empty_folder.display().to_string(), "holds no GC log"),
        (folder.path().join("none.log").display().to_string(), "cannot read"),
    ];
    for (path, why) in cases {
        let output = gc(&[&path]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {told}");
        assert!(told.contains(why) && output.stdout.is_empty(), "{path}: {told}");
    }
}

#[test]
fn a_condition_that_holds_gives_1_one_that_is_not_understood_2_and_one_without_its_figure_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "gc.log", log(0..700));
    let code = |condition: &str| {
        let output = gc(&[&path, "--fail-if", condition]);
        (output.status.code(), text(&output.stderr))
    };
    let (passed, told) = code("pause_max_ms > 7.5");
    assert_eq!(passed, Some(0));
    assert!(told.contains("passes: pause_max_ms > 7.5: "), "{told}");
    let (failed, told) = code("pause_max_ms > 6.5");
    assert_eq!(failed, Some(1));
    assert!(told.contains("fails: pause_max_ms > 6.5: ") && told.contains("gc.log 7.00 ms"), "{told}");
    let (unknown, told) = code("metaspace_bytes > 1");
    assert_eq!(unknown, Some(3));
    assert!(told.contains("undecided: metaspace_bytes > 1: "), "{told}");
    assert!(told.contains("not measured; the log does not have it"), "{told}");
    let (wrong, told) = code("pause_99_ms > 6");
    assert_eq!(wrong, Some(2));
    assert!(told.contains("did you mean `pause_p99_ms`"), "{told}");
    assert_eq!(code("pause_p99_ms > +10%").0, Some(2), "a change takes two logs");
    let output = gc(&[&path, "--requests-per-second", "-5"]);
    assert!(text(&output.stderr).contains("must be more than 0"), "{}", text(&output.stderr));
}

#[test]
fn text_page_csv_and_events_are_of_the_same_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "gc.log", log(0..300));
    let (page, events) = (folder.path().join("p.html"), folder.path().join("e.ndjson"));
    let output = gc(&[
        &path,
        "--html",
        &page.display().to_string(),
        "--events",
        &events.display().to_string(),
        "--requests",
        "1000",
        "--all",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    for part in ["G1", "300 pauses", "Pause Young (Normal)", "G1 Evacuation Pause", "garbage per request"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(told.lines().all(|l| l.chars().count() <= 100) && !told.contains('\u{1b}'), "{told}");
    assert!(fs::read_to_string(&page).expect("a page").contains("id=\"gc-timeline\""));
    let (headings, records) = lines_of_events(&events);
    let [GcHeading::Source { source: 0, name }, GcHeading::Jvm(jvm)] = &headings[..] else {
        panic!("{headings:?}")
    };
    assert_eq!((name, jvm.collector.as_deref(), jvm.source, jvm.line), (&path, Some("G1"), 0, 1));
    let pauses = records.iter().filter(|r| r.kind == assay_model::GcRecordKind::Pause);
    assert_eq!(pauses.filter_map(|r| r.duration_ns).sum::<u64>(), total_ms(0..300) as u64 * 1_000_000);
    let csv = text(&gc(&[&path, "--csv"]).stdout);
    assert!(csv.contains("\nlog,all,pauses,events,300,,\n"), "{csv}");
}

/// What a file of events says of files and JVMs, and its records.
fn lines_of_events(path: &Path) -> (Vec<GcHeading>, Vec<GcRecord>) {
    let (mut headings, mut records) = (Vec::new(), Vec::new());
    for line in fs::read_to_string(path).expect("events").lines() {
        match serde_json::from_str(line).expect("a line of events") {
            GcEventsLine::Heading(heading) => headings.push(heading),
            GcEventsLine::Record(record) => records.push(*record),
        }
    }
    (headings, records)
}

#[test]
fn events_say_of_which_file_and_jvm_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    // The JVM was started anew within the second file.
    let other = log(0..5).replace("Using G1", "Using Parallel").replace("G1 Evac", "Evac");
    let named = [
        write(folder.path(), "gc.log.0", log(0..10)),
        write(folder.path(), "gc.log", format!("{}{other}", pauses(10..20))),
    ];
    let events = folder.path().join("e.ndjson");
    let output = gc(&[&named[0], &named[1], "--events", &events.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (headings, records) = lines_of_events(&events);
    let names = headings.iter().filter_map(|heading| match heading {
        GcHeading::Source { source, name } => Some((*source, name.as_str())),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), [(0, named[0].as_str()), (1, named[1].as_str())]);
    let jvms = headings.iter().filter_map(|heading| match heading {
        GcHeading::Jvm(jvm) => Some((jvm.collector.as_deref().unwrap_or(""), (jvm.source, jvm.line))),
        _ => None,
    });
    let jvms: Vec<_> = jvms.collect();
    assert_eq!(jvms, [("G1", (0, 1)), ("Parallel", (1, 11))]);
    let of_last = records.iter().filter(|r| jvms[1].1 <= (r.source, r.line)).count();
    assert_eq!((of_last, records.len()), (5, 25));
}

#[test]
fn two_logs_are_compared_and_a_change_can_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = write(folder.path(), "a.log", log(0..2_000));
    let slower = log(0..2_000).replace(".000ms", "0.000ms");
    let after = write(folder.path(), "b.log", slower);
    let output = gc(&["diff", &before, &after, "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let comparison: GcComparison = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(comparison.schema, schema::GC_COMPARISON);
    let p99 = comparison.differences.iter().find(|d| d.metric == "pause_p99_ms").expect("the figure");
    let (old, new) = (p99.before.expect("known"), p99.after.expect("known"));
    assert!((new / old - 10.0).abs() < 0.1, "{p99:?}");
    let failed = gc(&["diff", &before, &after, "--fail-if", "pause_p99_ms > +10%"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    let same = gc(&["diff", &before, &before, "--fail-if", "pause_p99_ms > +10%"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    let within = gc(&["diff", &before, &before, "--fail-if", "pause_p99_ms > +0.1%"]);
    let told = text(&within.stderr);
    assert_eq!(within.status.code(), Some(0), "{told}");
    assert!(told.contains("not shown: ") && told.contains("the interval contains the threshold"), "{told}");
    let largest = gc(&["diff", &before, &after, "--fail-if", "pause_max_ms > +10%"]);
    assert_eq!(largest.status.code(), Some(3), "{}", text(&largest.stderr));
    let told = text(&same.stdout);
    assert!(!told.contains("higher") && !told.contains("lower") && !told.contains("they differ"), "{told}");
    assert_eq!(told.matches("JVM of unknown version · G1").count(), 2, "{told}");
    let other = write(folder.path(), "c.log", log(0..2_000).replace("Using G1", "Using Parallel"));
    let told = text(&gc(&["diff", &before, &other]).stdout);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("here they differ, and that alone may make these differences"), "{told}");
    assert!(told.contains("JVM of unknown version · Parallel"), "{told}");
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("appended");
}

/// Nothing takes so long but a fault.
const HANG: Duration = Duration::from_secs(120);

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(HANG)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Asks until the answer has this in it.
#[track_caller]
fn wait_for(port: u16, wanted: &str) -> String {
    let deadline = Instant::now() + HANG;
    loop {
        let answer = get(port, "/metrics").unwrap_or_default();
        if answer.contains(wanted) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{wanted} in {answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_log_that_is_written_is_followed_through_rotation_and_offered_as_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gc.log");
    fs::write(&path, log(0..10)).expect("written");
    let child = command(&[
        &path.display().to_string(),
        "--follow",
        "--every",
        "200ms",
        "--json",
        "--openmetrics",
        "127.0.0.1:0",
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("assay starts");
    let mut child = Running(child);
    // It says where the kernel lets it listen.
    let (mut talk, mut said) = (BufReader::new(child.0.stderr.take().expect("a pipe")), String::new());
    talk.read_line(&mut said).expect("text");
    let port = said.split_once("127.0.0.1:").and_then(|(_, rest)| rest.split_once('/'));
    let port: u16 = port.and_then(|(port, _)| port.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    let counted = |n: u64| format!("assay_gc_pause_seconds_count{{phase=\"Pause Young (Normal)\"}} {n}\n");
    let answer = wait_for(port, &counted(10));
    assert!(answer.contains("application/openmetrics-text; version=1.0.0"), "{answer}");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("# EOF\n"), "{answer}");
    assert!(get(port, "/other").is_some_and(|a| a.starts_with("HTTP/1.1 404")));
    append(&path, &pauses(10..15));
    fs::rename(&path, folder.path().join("gc.log.0")).expect("renamed");
    append(&path, &pauses(15..20));
    wait_for(port, &counted(20));
    let pid = rustix::process::Pid::from_raw(child.0.id().cast_signed()).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("told");
    let mut stdout = Vec::new();
    child.0.stdout.take().expect("a pipe").read_to_end(&mut stdout).expect("read");
    assert!(child.0.wait().expect("an end").success());
    let last: GcReport = serde_json::from_slice(&stdout).expect("the last report");
    check(&last, 0..20);
    let names: Vec<&str> = last.sources.iter().map(|s| s.name.rsplit('/').next().unwrap_or("")).collect();
    assert_eq!(names, ["gc.log.0", "gc.log"], "after rotation a file has the name that it was given");
}

#[test]
fn following_ends_after_its_time_and_wants_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "gc.log", log(0..10));
    let output = gc(&[&path, "--follow", "--for", "500ms"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("10 pauses"), "{}", text(&output.stdout));
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let inside = folder.path().display().to_string();
    for wrong in [&["-", "--follow"][..], &[&path, &path, "--follow"], &[&inside, "--follow"]] {
        assert_eq!(gc(wrong).status.code(), Some(2), "{wrong:?}");
    }
    let mut child =
        Running(command(&[&pipe, "--follow"]).stderr(Stdio::piped()).spawn().expect("assay starts"));
    let deadline = Instant::now() + HANG;
    while child.0.try_wait().expect("asked").is_none() {
        assert!(Instant::now() < deadline, "it waits for someone who writes into the pipe");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.0.wait().expect("an end").code(), Some(2));
    let mut told = String::new();
    child.0.stderr.take().expect("a pipe").read_to_string(&mut told).expect("text");
    assert!(told.contains("not a regular file") && told.contains(&format!("assay gc {pipe}")), "{told}");
    let busy = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = busy.local_addr().expect("an address").port().to_string();
    let output = gc(&[&path, "--follow", "--for", "1s", "--openmetrics", &port]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn help_has_examples_and_fits_a_terminal() {
    for arguments in [&["--help"][..], &["diff", "--help"]] {
        let help = text(&gc(arguments).stdout);
        assert!(help.contains("EXAMPLES:\n  assay gc"), "{help}");
        assert!(help.lines().all(|l| l.chars().count() <= 110), "{help}");
    }
}

#[test]
fn sample_logs_of_many_kinds_are_read_whole() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/gclog");
    if !samples.is_dir() {
        assay_testkit::skip!("sample data not there");
    }
    let output = gc(&[&samples.display().to_string(), "--json"]);
    let all = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<GcReport>();
    let reports: Vec<GcReport> = all.map(|r| r.expect("a report")).collect();
    assert!(reports.len() >= 14, "{}", reports.len());
    for report in reports {
        assert!(report.pauses.count > 0, "{:?}", report.sources);
    }
}

#[test]
fn pauses_of_which_none_could_be_read_are_an_error_and_never_no_pause() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("gc.log");
    let begin = "[0.1s][info][gc] Using G1\n";
    fs::write(&log, format!("{begin}[1.0s][info][gc] GC(1) Pause Reticulate 1.2ms\n")).expect("written");
    let name = log.display().to_string();
    let output = gc(&[&name]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    let first = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("1 lines look like pauses and none could be read"), "{first}");
    // A log without a pause is one.
    fs::write(&log, begin).expect("written");
    assert!(gc(&[&name]).status.success());
}
