//! Results as CSV and as Markdown: rows that add up to the stored values, what is absent empty, texts from outside harmless.

use assay_model::*;
use assay_report::memory;
use assay_testkit::testdata;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Write};

fn stored<T: DeserializeOwned>(name: &str) -> T {
    let path = testdata("formats").join(name);
    serde_json::from_slice(&fs::read(path).expect("a stored result")).expect("its format is known")
}

/// Heading and rows of a CSV without quoted fields.
#[track_caller]
fn rows(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> (Vec<String>, Vec<Vec<String>>) {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all bytes");
    let text = String::from_utf8(out).expect("UTF-8");
    let mut lines = text.lines().map(fields);
    let heading = lines.next().expect("a heading");
    let rows: Vec<Vec<String>> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == heading.len()), "{text}");
    (heading, rows)
}

/// The fields of a line, of which quoted ones may hold commas.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().expect("one at least").push(c),
        }
    }
    fields
}

/// The sum of a column.
#[track_caller]
fn sum((heading, rows): &(Vec<String>, Vec<Vec<String>>), column: &str) -> i64 {
    let at = heading.iter().position(|name| name == column).expect(column);
    rows.iter().map(|row| row[at].parse::<i64>().expect("a number")).sum()
}

#[test]
fn the_entries_of_a_snapshot_add_up_to_its_rss() {
    let snapshot: MemoryReport = stored("memory-5.json");
    let csv = rows(|out| memory::data(&snapshot).write_csv(out));
    assert_eq!(csv.1.len(), snapshot.entries.len());
    assert_eq!(sum(&csv, "resident_bytes"), snapshot.rss_bytes as i64 + snapshot.difference_bytes);
    let markdown = memory::document(&snapshot, &[], None).markdown();
    assert!(markdown.starts_with("# Memory of ") && markdown.contains("\n**Every entry"), "{markdown}");
    assert!(markdown.contains("| Area and entry | Resident | Share of RSS |"), "{markdown}");
}

#[test]
fn causes_and_parts_of_a_limit_have_a_row_each() {
    let change: MemoryChange = stored("memory-change-3.json");
    let csv = rows(|out| memory::change_data(&change).write_csv(out));
    assert_eq!(csv.1.len(), change.causes.len());
    let all: i64 = change.causes.iter().map(Cause::change_bytes).sum();
    assert_eq!(sum(&csv, "change_bytes"), all);
    let markdown = memory::change(&change, &[]).markdown();
    assert!(markdown.contains("**Causes, the biggest growth first**"), "{markdown}");
    let advice: Advice = stored("memory-advice-4.json");
    let (heading, rows) = rows(|out| memory::advice_data(&advice).write_csv(out));
    assert_eq!((heading[3].as_str(), rows.len()), ("budgeted_bytes", advice.lines.len() + 1));
    let limit = rows.last().expect("the limit");
    assert_eq!((limit[0].as_str(), limit[3].clone()), ("limit", advice.limit_bytes.to_string()));
    assert!(memory::advice(&advice).markdown().contains("**How the limit is computed**"));
}

#[test]
fn a_jvm_that_could_not_be_read_has_empty_fields_and_a_dash() {
    let found = RunningJvms {
        schema: schema::MEMORY_JVMS.to_owned(),
        jvms: vec![RunningJvm { pid: 7, rss_bytes: None, version: None, program: "a|b, c".to_owned() }],
        not_readable: 1,
    };
    let (_, rows) = rows(|out| memory::running_data(&found).write_csv(out));
    assert_eq!(rows, [["7", "", "", "a|b, c"]]);
    let markdown = memory::running(&found, Some("1 process could not be read")).markdown();
    assert!(markdown.contains("| 7 | - | - | a\\|b, c |"), "{markdown}");
    assert!(markdown.contains("\n1 process could not be read\n"), "{markdown}");
}

#[test]
fn logs_and_their_differences_have_every_figure() {
    let report: GcReport = stored("gc-5.json");
    let markdown = assay_report::gc::document(&report, "a*b.log").markdown();
    assert!(markdown.starts_with("# a\\*b.log\n") && markdown.contains("**Pauses by kind**"), "{markdown}");
    let comparison: GcComparison = stored("gc-comparison-2.json");
    let (heading, rows) = rows(|out| assay_report::gc::comparison_data(&comparison).write_csv(out));
    assert_eq!((heading[1].as_str(), rows.len()), ("unit", comparison.differences.len()));
    for (row, one) in rows.iter().zip(&comparison.differences) {
        assert_eq!(row[2], one.before.map_or_else(String::new, |value| value.to_string()), "{}", one.metric);
        assert_eq!(row[7], serde_json::to_value(one.verdict).expect("a word"), "{}", one.metric);
    }
    let markdown = assay_report::gc::comparison(&comparison).markdown();
    assert!(markdown.contains("**Every figure of both logs**"), "{markdown}");
}

#[test]
fn a_rate_that_was_not_found_is_empty_and_not_zero() {
    let stored: CapacityReport = stored("capacity-4.json");
    let found = Estimate { estimate: 812.5, low: Some(790.0), high: None };
    let limits = vec![
        LimitRate {
            limit_ms: 10.0,
            operation: None,
            rate_per_s: None,
            last_success_per_s: None,
            first_failure_per_s: Some(9.0),
            limited_by_max: false,
        },
        LimitRate {
            limit_ms: 25.0,
            operation: Some("checkout".to_owned()),
            rate_per_s: Some(found),
            last_success_per_s: Some(800.0),
            first_failure_per_s: None,
            limited_by_max: false,
        },
    ];
    let report = CapacityReport { limits, max_rate_per_s: None, valid: None, ..stored };
    let (heading, rows) = rows(|out| assay_report::capacity::data(&report).write_csv(out));
    assert_eq!(heading[4..7], ["rate_per_s", "rate_low_per_s", "rate_high_per_s"]);
    assert_eq!(rows[0][..10], ["limit", "", "10", "99", "", "", "", "", "9", ""]);
    assert_eq!(rows[1][..10], ["limit", "checkout", "25", "99", "812.5", "790", "", "800", "", ""]);
    assert_eq!((rows[3][0].as_str(), rows[3][4].as_str()), ("max", ""));
    let markdown = assay_report::capacity::document(&report).markdown();
    assert!(markdown.contains("It is not known whether these figures may be used."), "{markdown}");
    assert!(markdown.contains("**Rates that keep the limits**"), "{markdown}");
}

#[test]
fn runs_side_by_side_have_a_row_for_each_figure() {
    let comparison: RunComparison = stored("run-comparison-1.json");
    let (_, rows) = rows(|out| assay_report::compare::data(&comparison).write_csv(out));
    assert_eq!(rows.len(), comparison.changes.len());
    for (row, change) in rows.iter().zip(&comparison.changes) {
        assert_eq!(row[3], change.before.estimate.to_string(), "{}", change.metric);
        assert_eq!(row[12], serde_json::to_value(change.verdict).expect("a word"), "{}", change.metric);
    }
    let markdown = assay_report::compare::document(&comparison).markdown();
    assert!(markdown.contains("**Every figure of both runs**"), "{markdown}");
}
