//! The gallery of the documentation: one page of each kind, made from results that the program wrote (`testdata/formats`,
//! `testdata/gallery`) and from logs of JVMs (`testdata/gclog`). `scripts/gallery` makes it anew.

use assay_gclog::GcStream;
use assay_gcstudy::Analysis;
use assay_model::{GcReport, MemoryReport};
use assay_testkit::{checkout, testdata};
use serde::de::DeserializeOwned;
use std::fs;
use std::io;

/// A page larger than this is too large for a checkout.
const PAGE_BYTES_MAX: usize = 600_000;

type Rendered = io::Result<()>;

fn stored<T: DeserializeOwned>(name: &str) -> T {
    let path = testdata(name);
    serde_json::from_slice(&fs::read(path).expect("a stored result")).expect("its format is known")
}

#[track_caller]
fn is_up_to_date(name: &str, render: impl FnOnce(&mut Vec<u8>) -> Rendered) {
    let mut page = Vec::new();
    render(&mut page).expect("a vector takes all bytes");
    let page = String::from_utf8(page).expect("a page is UTF-8");
    // A new version does not change a page.
    let page = page.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    let path = checkout().join("docs/gallery").join(name);
    assert!(page.len() < PAGE_BYTES_MAX, "{name}: {} bytes", page.len());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &page).expect("written");
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == page,
        "{name} is out of date: run scripts/gallery"
    );
    let index = fs::read_to_string(checkout().join("docs/gallery/README.md")).expect("the gallery's text");
    assert!(index.contains(&format!("({name})")), "docs/gallery/README.md does not name {name}");
}

#[test]
fn memory() {
    let snapshot: MemoryReport = stored("gallery/memory.json");
    let advice = stored("gallery/memory-advice.json");
    is_up_to_date("memory.html", |out| assay_report::render_memory_html(&snapshot, &[], Some(&advice), out));
}

#[test]
fn memory_limit() {
    let advice = stored("gallery/memory-advice.json");
    is_up_to_date("memory-advice.html", |out| assay_report::render_advice_html(&advice, out));
}

#[test]
fn memory_before_and_after() {
    let record = record();
    let change = stored("gallery/memory-change.json");
    is_up_to_date("memory-change.html", |out| assay_report::render_change_html(&change, &record, out));
    let last = record.last().expect("snapshots");
    is_up_to_date("memory-record.html", |out| assay_report::render_memory_html(last, &record, None, out));
}

/// The snapshots of a record, behind its first line.
fn record() -> Vec<MemoryReport> {
    let text = fs::read_to_string(testdata("gallery/memory-record.ndjson")).expect("a record");
    text.lines().skip(1).map(|line| serde_json::from_str(line).expect("a snapshot")).collect()
}

/// A log as `assay gc` reads it.
fn analysed(log: &str) -> GcReport {
    let bytes = fs::read(testdata("gclog").join(log)).expect("a log");
    let (mut analysis, mut stream) = (Analysis::default(), GcStream::default());
    stream.begin_source("gc.log", &mut analysis);
    stream.feed(&bytes, &mut analysis);
    stream.end_source(&mut analysis);
    stream.finish(&mut analysis);
    analysis.report()
}

#[test]
fn garbage_collection() {
    let report: GcReport = stored("gallery/gc.json");
    is_up_to_date("gc.html", |out| assay_report::render_gc_html(&report, "g1-96m.log", out));
    let with_stalls = analysed("kinds/25-genz-stall/star.default.log");
    is_up_to_date("gc-z.html", |out| assay_report::render_gc_html(&with_stalls, "gc.log", out));
    let comparison = stored("gallery/gc-comparison.json");
    is_up_to_date("gc-diff.html", |out| assay_report::render_gc_diff_html(&comparison, out));
}

#[test]
fn cpu_time() {
    let report = stored("gallery/time.json");
    is_up_to_date("time.html", |out| assay_report::render_time_html(&report, out));
    let change = stored("formats/time-change-1.json");
    is_up_to_date("time-change.html", |out| assay_report::render_time_change_html(&change, out));
}

#[test]
fn heap() {
    let prediction = stored("formats/heap-prediction-2.json");
    is_up_to_date("heap.html", |out| assay_report::heap::document(&prediction, 10).write_html(out));
    let layouts = stored("formats/heap-layout-2.json");
    is_up_to_date("heap-layout.html", |out| assay_report::heap::layouts(&layouts).write_html(out));
    let modes = stored("formats/heap-modes-3.json");
    is_up_to_date("heap-modes.html", |out| assay_report::heap::modes(&modes).write_html(out));
}

#[test]
fn studies() {
    let run = assay_study::load_run(&testdata("gallery/study")).expect("a stored run");
    is_up_to_date("study.html", |out| assay_report::study::document(&run).write_html(out));
    let comparison = stored("formats/run-comparison-1.json");
    is_up_to_date("compare.html", |out| assay_report::render_run_comparison_html(&comparison, out));
}

#[test]
fn load() {
    let result = stored("formats/load-2.json");
    is_up_to_date("load.html", |out| assay_report::render_load_html(&result, "http://shop:8080/", out));
}

#[test]
fn machines() {
    let report = stored("formats/host-check-2.json");
    is_up_to_date("host.html", |out| assay_report::host::document(&report, false).write_html(out));
    let comparison = stored("formats/host-comparison-1.json");
    is_up_to_date("host-diff.html", |out| assay_report::host::comparison(&comparison).write_html(out));
}

#[test]
fn options_by_release() {
    let report = stored("formats/flags-1.json");
    is_up_to_date("flags.html", |out| assay_report::render_flags_html(&report, out));
}

#[test]
fn capacity() {
    let report = stored("gallery/capacity-tomcat.json");
    is_up_to_date("capacity.html", |out| assay_report::capacity::document(&report).write_html(out));
}
