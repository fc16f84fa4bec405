//! `assay gc` against what the JVM's management interface counts in the same run.

use super::cell::Cell;
use super::subject::{Collector, Subject, assay};
use assay_jdk::Release;
use assay_model::{GcReport, GcRow};
use assay_testkit::{Running, start_java};
use std::path::Path;

/// What the management interface counts of one collector.
struct Counted {
    name: String,
    collections: u64,
}

/// Collections of a run, by the log and by the JVM; each line of the log must be understood.
pub fn collections(subject: &Subject, collector: Collector) -> Cell {
    let Ok(folder) = tempfile::tempdir() else { return Cell::Wrong("no temporary folder".to_owned()) };
    let log = folder.path().join("gc.log");
    let has_xlog = Release::of(subject.row.feature).jvm.has_unified_logging;
    let written: Vec<String> = if has_xlog {
        vec![format!("-Xlog:gc*=info,safepoint=info:file={}", log.display())]
    } else {
        let lines = ["-XX:+PrintGCDetails", "-XX:+PrintGCDateStamps", "-XX:+PrintGCApplicationStoppedTime"];
        [format!("-Xloggc:{}", log.display())].into_iter().chain(lines.map(str::to_owned)).collect()
    };
    let never = if collector.name == "Epsilon" { "-Dnever=true" } else { "-Dnever=false" };
    let mut options = [&collector.options()[..], &["-Xmx128m", never]].concat();
    options.extend(written.iter().map(String::as_str));
    let jvm = start_java(&subject.java, &options, &[], "Collected");
    let counted = counted(&jvm);
    drop(jvm);
    compare(collector, &counted, &log)
}

fn counted(jvm: &Running) -> Vec<Counted> {
    let of = |line: &str| {
        let mut words = line.strip_prefix("collector\t")?.split('\t');
        Some(Counted { name: words.next()?.to_owned(), collections: words.next()?.parse().ok()? })
    };
    jvm.said.lines().filter_map(of).collect()
}

fn compare(collector: Collector, counted: &[Counted], log: &Path) -> Cell {
    let report: GcReport = match assay(&["gc", &log.display().to_string()]) {
        Ok(report) => report,
        Err(why) => return Cell::Wrong(why),
    };
    let unread = report.not_understood.lines;
    let of = |rows: &[GcRow], is_counted: &dyn Fn(&str) -> bool| -> u64 {
        let rows = rows.iter().filter(|row| is_counted(&row.name));
        rows.map(|row| row.durations.count * collections_in(&row.name)).sum()
    };
    let sum = |is_counted: &dyn Fn(&str) -> bool| -> u64 {
        counted.iter().filter(|of| is_counted(&of.name)).map(|of| of.collections).sum()
    };
    let has = |part: &str| counted.iter().any(|of| of.name.contains(part));
    let pauses = |not: &[&str]| {
        of(&report.pauses_by_phase, &|name| !not.iter().any(|part| name.to_lowercase().contains(part)))
    };
    let (by_log, by_jvm) = match collector.name {
        // Until JDK 19 pauses within a concurrent cycle are not its collections.
        "G1" if !has("G1 Concurrent GC") => (pauses(&["remark", "cleanup"]), sum(&|_| true)),
        // A cycle is counted when it has swept: one that was given up has its first pause alone.
        "CMS" => (pauses(&["initial"]), sum(&|_| true)),
        "ZGC" | "Shenandoah" if has("Pauses") => (pauses(&[]), sum(&|name| name.contains("Pauses"))),
        "ZGC" => (of(&report.cycles_by_phase, &|_| true), sum(&|_| true)),
        _ => (pauses(&[]), sum(&|_| true)),
    };
    let is_right = by_log == by_jvm && unread == 0 && (collector.name == "Epsilon" || by_jvm != 0);
    let lines = if unread == 0 { String::new() } else { format!(", {unread} lines not understood") };
    Cell::of(is_right, format!("{by_log} of {by_jvm}{lines}"))
}

/// Before JDK 9 a pause that collects one generation after the other has the names of both; the JVM counts both.
fn collections_in(phase: &str) -> u64 {
    phase.split(", ").count() as u64
}
