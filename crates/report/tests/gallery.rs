//! The gallery of the documentation: one page of each kind, made from results that the program wrote (`testdata/formats`).
//! `scripts/gallery` makes it anew.

use assay_model::{GcReport, MemoryReport};
use assay_testkit::{checkout, testdata};
use serde::de::DeserializeOwned;
use std::fs;
use std::io;

/// A page larger than this is too large for a checkout.
const PAGE_BYTES_MAX: usize = 300_000;

type Rendered = io::Result<()>;

fn stored<T: DeserializeOwned>(name: &str) -> T {
    let path = testdata("formats").join(name);
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
    let snapshot: MemoryReport = stored("memory-4.json");
    let advice = stored("memory-advice-3.json");
    is_up_to_date("memory.html", |out| assay_report::render_memory_html(&snapshot, &[], Some(&advice), out));
}

#[test]
fn memory_before_and_after() {
    let change = stored("memory-change-2.json");
    is_up_to_date("memory-change.html", |out| assay_report::render_change_html(&change, &[], out));
}

#[test]
fn garbage_collection() {
    let report: GcReport = stored("gc-4.json");
    is_up_to_date("gc.html", |out| assay_report::render_gc_html(&report, "gc.log", out));
    let comparison = stored("gc-comparison-1.json");
    is_up_to_date("gc-diff.html", |out| assay_report::render_gc_diff_html(&comparison, out));
}

#[test]
fn cpu_time() {
    let report = stored("time-3.json");
    is_up_to_date("time.html", |out| assay_processreport::render_time_html(&report, out));
    let change = stored("time-change-1.json");
    is_up_to_date("time-change.html", |out| assay_processreport::render_time_change_html(&change, out));
}

#[test]
fn heap() {
    let prediction = stored("heap-prediction-2.json");
    is_up_to_date("heap.html", |out| assay_heapreport::prediction_page(&prediction, out));
    let layouts = stored("heap-layout-2.json");
    is_up_to_date("heap-layout.html", |out| assay_heapreport::layouts_page(&layouts, out));
    let modes = stored("heap-modes-3.json");
    is_up_to_date("heap-modes.html", |out| assay_heapreport::modes_page(&modes, out));
}

#[test]
fn studies() {
    let run = assay_study::load_run(&testdata("formats/run")).expect("a stored run");
    is_up_to_date("study.html", |out| assay_report::render_html(&run, out));
    let comparison = stored("run-comparison-1.json");
    is_up_to_date("compare.html", |out| assay_report::render_run_comparison_html(&comparison, out));
}

#[test]
fn capacity() {
    let report = stored("capacity-3.json");
    is_up_to_date("capacity.html", |out| assay_report::render_capacity_html(&report, out));
}
