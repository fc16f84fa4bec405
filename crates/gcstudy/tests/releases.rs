//! Logs of releases that are not at hand, against the line that the JVM itself writes for each stop.

use crate::analysed;
use assay_model::GcReport;
use std::fs;

fn read(name: &str) -> (GcReport, String) {
    let path = assay_testkit::testdata("gclog/releases").join(name);
    let log = fs::read_to_string(path).expect("a recorded log");
    (analysed::report(log.as_bytes()), log)
}

/// Numbers behind a text, one of each line that has it.
fn numbers(log: &str, before: &str) -> Vec<f64> {
    let number = |rest: &str| rest.split([' ', 'n']).next()?.parse().ok();
    log.lines().filter_map(|line| number(line.split_once(before)?.1)).collect()
}

#[track_caller]
fn check_stops(name: &str, stopped_ms: &[f64]) -> GcReport {
    let (report, _) = read(name);
    assert_eq!(report.not_understood.lines, 0, "{name}: {:?}", report.not_understood);
    let read_ms = report.pauses.total_ms + report.other_safepoints_ms.expect("lines of safepoints");
    let true_ms: f64 = stopped_ms.iter().sum();
    assert!(!stopped_ms.is_empty() && report.pauses.total_ms < true_ms, "{name}: {true_ms}");
    // The log has seven digits of a second.
    let rounding_ms = 1e-3 * stopped_ms.len() as f64;
    assert!((read_ms - true_ms).abs() <= rounding_ms, "{name}: {read_ms} read, {true_ms} ms true");
    report
}

/// Statistics of `-XX:+PrintCMSInitiationStatistics`, `-XX:PrintCMSStatistics=1` and `-XX:+G1SummarizeRSetStats` stand among and
/// within the lines of pauses.
#[test]
fn statistics_of_collectors_of_jdk_8_hide_no_pause_and_no_line() {
    for (name, says) in [("8-cms.log", "initiatingOccupancy="), ("8-g1.log", "Current rem set statistics")] {
        let (_, log) = read(name);
        assert!(log.contains(says), "{name}");
        let stopped_s = numbers(&log, "application threads were stopped: ");
        let report = check_stops(name, &stopped_s.iter().map(|s| s * 1e3).collect::<Vec<_>>());
        let begun: usize = ["[GC (", "[GC pause", "[GC remark", "[GC cleanup"]
            .iter()
            .map(|begin| log.matches(begin).count())
            .sum();
        assert_eq!(report.pauses.count, begun as u64, "{name}");
    }
}

#[test]
fn debug_lines_of_safepoints_of_jdk_11_are_read() {
    for name in ["11-serial.log", "11-parallel.log", "11-g1.log", "11-cms.log"] {
        let (_, log) = read(name);
        let stopped_s = numbers(&log, "application threads were stopped: ");
        let report = check_stops(name, &stopped_s.iter().map(|s| s * 1e3).collect::<Vec<_>>());
        let pauses = log.lines().filter(|line| line.contains(") Pause ") && line.ends_with("ms")).count();
        assert_eq!(report.pauses.count, pauses as u64, "{name}");
    }
}

#[test]
fn each_line_of_g1_in_other_releases_is_read() {
    for name in ["21-g1.log", "26-g1.log", "28-g1.log"] {
        let (_, log) = read(name);
        let report =
            check_stops(name, &numbers(&log, "Total: ").iter().map(|ns| ns / 1e6).collect::<Vec<_>>());
        let is_pause = |line: &&str| line.contains(") Pause ") && line.ends_with("ms");
        assert_eq!(report.pauses.count, log.lines().filter(is_pause).count() as u64, "{name}");
    }
}

#[test]
fn shenandoah_of_jdk_27_and_28_is_read_to_the_last_line() {
    for (name, says) in [
        ("27-shenandoah.log", "Concurrent uncommit "),
        ("27-genshenandoah.log", "Concurrent update cards"),
        ("28-shenandoah.log", "Concurrent GC 1M->8M(16M) "),
    ] {
        let (_, log) = read(name);
        assert!(log.contains(says), "{name}");
        let stopped_ns = numbers(&log, "Total: ");
        check_stops(name, &stopped_ns.iter().map(|ns| ns / 1e6).collect::<Vec<_>>());
    }
}
