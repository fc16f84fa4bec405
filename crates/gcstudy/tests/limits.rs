//! Memory does not grow with the log: a log of any length through a pipe, read by a process of its own, whose peak the kernel tells.
//!
//! `ASSAY_TEST_GC_MB=10000 cargo test --release -p assay-gcstudy --test all limits::` reads 10 GB of each kind.

use crate::made::Made;
use crate::without_end;
use assay_gclog::GcStream;
use assay_gcstudy::Analysis;
use std::fs;
use std::io::{self, Read as _, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Resident at most, MiB.
const RESIDENT_MIB_MAX: f64 = 64.0;

fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("the process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

/// Not a test by itself: the process that reads.
#[test]
#[ignore = "the other test starts it, with a log on its standard input"]
fn reads_standard_input() {
    let (mut analysis, mut stream) = (Analysis::default(), GcStream::default());
    let mut buffer = vec![0; 256 << 10];
    let (began, mut bytes, mut early_mib) = (Instant::now(), 0, 0.0);
    stream.begin_source("standard input", &mut analysis);
    loop {
        let count = io::stdin().read(&mut buffer).expect("standard input");
        if count == 0 {
            break;
        }
        stream.feed(&buffer[..count], &mut analysis);
        bytes += count;
        if early_mib == 0.0 && bytes > 4 << 20 {
            early_mib = peak_mib();
        }
    }
    stream.end_source(&mut analysis);
    stream.finish(&mut analysis);
    let report = analysis.report();
    println!(
        "read {bytes} {} {} {} {early_mib} {}",
        report.sources[0].lines,
        report.sources[0].lines_not_understood,
        report.pauses.count,
        peak_mib()
    );
    println!("seconds {}", began.elapsed().as_secs_f64());
}

#[test]
fn a_long_log_through_a_pipe_needs_no_more_memory_than_a_short_one() {
    let megabytes = std::env::var("ASSAY_TEST_GC_MB").map_or(40, |text| text.parse().expect("megabytes"));
    println!(
        "{:<28}{:>9}{:>12}{:>14}{:>10}{:>10}{:>12}{:>10}",
        "log", "MB", "lines", "unrecognized", "pauses", "MB/s", "MiB at 4 MB", "MiB peak"
    );
    for kind in
        ["17-parallel-normal", "25-g1-evacuation-failure", "25-genz-normal", "25-genshenandoah-normal"]
    {
        let log =
            fs::read_to_string(assay_testkit::testdata("gclog/kinds").join(kind).join("star.default.log"));
        read_long(kind, &log.expect("the recorded log"), megabytes * 1_000_000);
    }
}

fn read_long(kind: &str, template: &str, length: usize) {
    let (mut made, mut written, mut lines) = (Made::new(template), 0, 0);
    let read = read_by_itself(kind, |pipe| {
        while written < length {
            let part = made.next_part();
            pipe.write_all(part.as_bytes())?;
            written += part.len();
            lines += part.lines().count();
        }
        Ok(())
    });
    let Read { bytes, lines: lines_read, unrecognized, pauses, early_mib, peak_mib, seconds } = read;
    println!(
        "{kind:<28}{:>9.0}{lines_read:>12}{unrecognized:>14}{pauses:>10}{:>10.1}{early_mib:>12.1}{peak_mib:>10.1}",
        bytes / 1e6,
        bytes / 1e6 / seconds
    );
    assert_eq!((bytes, lines_read), (written as f64, lines as f64), "{kind}");
    assert!(pauses > 0.0, "{kind}: nothing was read");
    assert!(peak_mib <= RESIDENT_MIB_MAX, "{kind}: {peak_mib} MiB resident");
}

/// What the process that reads has said of itself.
struct Read {
    bytes: f64,
    lines: f64,
    unrecognized: f64,
    pauses: f64,
    early_mib: f64,
    peak_mib: f64,
    seconds: f64,
}

/// What is written is read by a process of its own.
fn read_by_itself(what: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Read {
    let mut reader = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "limits::reads_standard_input", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts again");
    let mut pipe = reader.stdin.take().expect("a pipe");
    write(&mut pipe).expect("the reader reads");
    drop(pipe);
    let output = reader.wait_with_output().expect("the reader ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{what}: {text}");
    let numbers: Vec<f64> = text
        .lines()
        .filter_map(|line| line.split_once("read ").or_else(|| line.split_once("seconds ")))
        .flat_map(|(_, numbers)| numbers.split(' '))
        .filter_map(|number| number.parse().ok())
        .collect();
    let [bytes, lines, unrecognized, pauses, early_mib, peak_mib, seconds] = numbers[..] else {
        panic!("{what}: {text}")
    };
    Read { bytes, lines, unrecognized, pauses, early_mib, peak_mib, seconds }
}

/// A line without end, one of nothing but brackets, elements and collections that never end: none of it stays in memory.
#[test]
fn what_grows_without_end_is_not_kept() {
    /// So much more than the first 4 MB, MiB: a tenth of it, were it kept, would be seen.
    const GROWTH_MIB_MAX: f64 = 4.0;
    for piece in without_end::PIECES {
        let part = piece.repeat(1_000_000 / piece.len());
        let read = read_by_itself(piece, |pipe| (0..40).try_for_each(|_| pipe.write_all(part.as_bytes())));
        assert_eq!(read.bytes, 40.0 * part.len() as f64, "{piece:?}");
        let grown_mib = read.peak_mib - read.early_mib;
        assert!(read.peak_mib <= RESIDENT_MIB_MAX, "{piece:?}: {} MiB resident", read.peak_mib);
        assert!(grown_mib <= GROWTH_MIB_MAX, "{piece:?}: {grown_mib} MiB more after 40 MB than after 4 MB");
    }
}
