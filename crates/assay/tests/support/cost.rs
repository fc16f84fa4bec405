//! What a snapshot of a JVM costs on each release.

use super::memory::options;
use super::subject::{COLLECTORS, Row, Subject, assay};
use assay_model::MemoryReport;
use assay_testkit::{Running, start_java};
use std::collections::BTreeMap;

/// Looks at each JVM.
const SNAPSHOTS: usize = 15;
/// The release that the others are held against.
const TO: Row = Row { feature: 17, bits: 64 };

/// CPU time of a snapshot by row, and how many times that of JDK 17 it is: snapshots of all JVMs in turn, the median of each.
pub fn snapshots(subjects: &[Subject]) -> BTreeMap<Row, [String; 2]> {
    let started = |subject: &Subject| {
        (subject.row, start_java(&subject.java, &options(COLLECTORS[3], &[]), &[], "Waiting"))
    };
    let jvms: Vec<(Row, Running)> = subjects.iter().map(started).collect();
    let mut times: BTreeMap<Row, Vec<u64>> = BTreeMap::new();
    for _ in 0..SNAPSHOTS {
        for (row, jvm) in &jvms {
            let report: Result<MemoryReport, String> = assay(&["memory", &jvm.pid().to_string()]);
            times.entry(*row).or_default().extend(report.map(|report| report.scan_cpu_ns));
        }
    }
    let medians: BTreeMap<Row, u64> =
        times.into_iter().filter_map(|(row, times)| Some((row, median(times)?))).collect();
    let to = medians.get(&TO).copied();
    let figures = |ns: u64| {
        let ratio =
            to.map_or("no JDK 17 was at hand".to_owned(), |to| format!("{:.2}", ns as f64 / to as f64));
        [format!("{:.0} ms", ns as f64 / 1e6), ratio]
    };
    medians.into_iter().map(|(row, ns)| (row, figures(ns))).collect()
}

fn median(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
