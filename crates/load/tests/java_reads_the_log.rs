//! Java's HdrHistogram reads the interval log and sees the same values. Skipped where no JDK is, or where the jar
//! is neither in the local Maven repository nor can be brought there.

use assay_load::IntervalLogs;
use assay_load::recorder::{Recorder, RequestTimes};
use std::path::PathBuf;
use std::process::Command;

const ARTIFACT: &str = "org.hdrhistogram:HdrHistogram:2.2.2";
const JAR: &str = ".m2/repository/org/hdrhistogram/HdrHistogram/2.2.2/HdrHistogram-2.2.2.jar";
const MS: u64 = 1_000_000;

/// The jar, from the local repository or brought there by Maven; else why not.
fn jar() -> Result<PathBuf, String> {
    let home = std::env::var_os("HOME").ok_or("no home folder")?;
    let jar = PathBuf::from(home).join(JAR);
    if !jar.exists() {
        let maven = Command::new("mvn")
            .args(["-q", "-B", "dependency:get", "-Dtransitive=false", &format!("-Dartifact={ARTIFACT}")])
            .output()
            .map_err(|error| format!("mvn: {error}"))?;
        if !jar.exists() {
            return Err(format!("mvn brought no {ARTIFACT}: {}", String::from_utf8_lossy(&maven.stdout)));
        }
    }
    Ok(jar)
}

#[test]
fn java_reads_every_interval_with_its_tag_counts_and_values() {
    if let Err(error) = Command::new("java").arg("-version").output() {
        println!("skipped: no java: {error}");
        return;
    }
    let jar = match jar() {
        Ok(jar) => jar,
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("latency.hlog");
    let file = std::fs::File::create(&log).expect("a file");
    let mut recorder = Recorder::new(0, Some(IntervalLogs::each_second(file)));
    for second in 1..=3 {
        for n in 1..=100 {
            let done_ns = second * n * MS;
            recorder.record(&RequestTimes {
                intended_ns: 0,
                sendable_ns: 0,
                sent_ns: Some(done_ns / 2),
                done_ns,
            });
        }
        recorder.roll(second * 1_000 * MS);
    }
    recorder.finish(3_000 * MS);

    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/java/ReadIntervalLog.java");
    let output = Command::new("java").arg("-cp").arg(&jar).arg(source).arg(&log).output().expect("java runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 6, "{text}");
    for (position, line) in lines.iter().enumerate() {
        let (second, is_service) = (position as u64 / 2 + 1, position % 2 == 1);
        assert_eq!((line[0], line[1]), (if is_service { "service" } else { "null" }, "100"));
        let unit = if is_service { second * MS / 2 } else { second * MS };
        for (seen, want) in [(line[2], 50 * unit), (line[3], 100 * unit)] {
            let seen: u64 = seen.parse().expect("a number");
            assert!(seen.abs_diff(want) <= want / 1_000, "{seen} instead of {want}: three digits are kept");
        }
    }
}
