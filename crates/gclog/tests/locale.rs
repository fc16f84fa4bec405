//! In a locale such as de_DE a JVM writes decimal commas: the same log with them gives the same records.

use assay_gclog::Records;
use std::fs;
use std::path::PathBuf;

/// Each figure with a unit of time, and each uptime in brackets, with a comma for its point.
fn with_commas(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_decimal = |at: usize| {
        let behind = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        let after = &text[at + 1 + behind..];
        let unit = ["ms", "s"].iter().find_map(|unit| after.strip_prefix(unit));
        let has_unit = unit.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
        0 < behind && 0 < at && bytes[at - 1].is_ascii_digit() && has_unit
    };
    let comma = |(at, c): (usize, char)| if c == '.' && is_decimal(at) { ',' } else { c };
    text.char_indices().map(comma).collect()
}

fn logs() -> Vec<PathBuf> {
    let mut folders = vec![assay_testkit::testdata("gclog")];
    let mut logs = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log") {
                logs.push(path);
            }
        }
    }
    logs.sort();
    logs
}

#[test]
fn decimal_commas_change_no_record() {
    let mut changed = 0;
    for path in logs() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("the log");
        let commas = with_commas(&text);
        changed += usize::from(commas != text);
        let (points, commas) =
            (Records::read("log", text.as_bytes()), Records::read("log", commas.as_bytes()));
        assert_eq!(commas.lines_not_understood, points.lines_not_understood, "{name}: {:?}", commas.problems);
        assert!(commas.records == points.records, "{name}: other records");
    }
    assert!(changed > 30, "{changed} logs have decimals");
}

#[test]
fn a_collection_and_its_cpu_time_are_read_with_commas() {
    let log = "[0,115s][info][gc] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 6,572ms\n\
               [0,115s][info][gc,cpu] GC(0) User=0,02s Sys=0,01s Real=0,01s\n";
    let read = Records::read("log", log.as_bytes());
    let pause = read.pauses().next().expect("a pause");
    assert_eq!((pause.duration_ns, pause.end.uptime_ns), (Some(6_572_000), Some(115_000_000)));
    assert_eq!(pause.cpu.map(|cpu| (cpu.user_ns, cpu.sys_ns)), Some((20_000_000, 10_000_000)));
    assert_eq!(read.lines_not_understood, 0, "{:?}", read.problems);
}
