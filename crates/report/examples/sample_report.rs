//! Writes the report of a made-up run, to look at it and for the page's tests:
//! `cargo run -p assay-report --example sample_report -- FOLDER`.

#[path = "../tests/capacity_sample/mod.rs"]
mod capacity_sample;
#[path = "../tests/gc_sample/mod.rs"]
mod gc_sample;
#[expect(dead_code, reason = "the tests of the report use the rest of it")]
#[path = "../tests/kafka/mod.rs"]
mod kafka;
#[path = "../tests/sample/mod.rs"]
mod sample;

use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    let run = sample::run();
    let mut demo = sample::demo_run();
    demo.trials.iter_mut().for_each(|t| t.memory_report = Some(kafka::snapshot()));
    demo.trials.iter_mut().for_each(|t| t.gc_report = Some(gc_sample::g1()));
    let pages = [("report.html", run.clone()), ("demo.html", demo), ("hostile.html", sample::hostile_run())];
    for (name, run) in pages {
        let mut html = Vec::new();
        assay_report::study::document(&run).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let (snapshots, advice) = (kafka::snapshots(), kafka::advice());
    let memory = [
        ("memory.html", &snapshots[0], &snapshots[..0], None),
        ("memory-record.html", &snapshots[40], &snapshots[..], Some(&advice)),
        ("memory-hostile.html", &kafka::hostile_snapshot(), &[][..], None),
    ];
    for (name, report, snapshots, advice) in memory {
        let mut html = Vec::new();
        assay_report::memory::document(report, snapshots, advice).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let mut change = Vec::new();
    assay_report::memory::change(&kafka::change(), &snapshots).write_html(&mut change)?;
    std::fs::write(folder.join("memory-change.html"), change)?;
    let mut page = Vec::new();
    assay_report::memory::advice(&advice).write_html(&mut page)?;
    std::fs::write(folder.join("memory-advice.html"), page)?;
    capacity_pages(&folder)?;
    gc_pages(&folder)?;
    let comparison = serde_json::from_str(include_str!("../../../testdata/formats/run-comparison-1.json"))?;
    let mut compared = Vec::new();
    assay_report::compare::document(&comparison).write_html(&mut compared)?;
    std::fs::write(folder.join("compared.html"), compared)?;
    let builds = serde_json::from_str(include_str!("../../../testdata/formats/ab-1.json"))?;
    let mut page = Vec::new();
    assay_report::ab::document(&builds).write_html(&mut page)?;
    std::fs::write(folder.join("ab.html"), page)?;
    let mut markdown = Vec::new();
    markdown.extend(assay_report::study::document(&run).markdown().into_bytes());
    std::fs::write(folder.join("report.md"), markdown)?;
    let mut csv = Vec::new();
    assay_report::study::data(&run).write_csv(&mut csv)?;
    std::fs::write(folder.join("report.csv"), csv)?;
    let view = assay_report::TerminalView { width: 110, color: false, extent: assay_report::Extent::All };
    print!("{}", assay_report::study::document(&run).terminal(view));
    Ok(())
}

fn capacity_pages(folder: &Path) -> io::Result<()> {
    for (name, report) in [
        ("capacity.html", capacity_sample::search()),
        ("capacity-sweep.html", capacity_sample::sweep()),
        ("capacity-disturbed.html", capacity_sample::disturbed()),
        ("capacity-hostile.html", capacity_sample::hostile()),
        ("capacity-empty.html", capacity_sample::empty()),
    ] {
        let mut html = Vec::new();
        assay_report::capacity::document(&report).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    Ok(())
}

fn gc_pages(folder: &Path) -> io::Result<()> {
    for (name, report) in [
        ("gc.html", gc_sample::g1()),
        ("gc-z.html", gc_sample::z()),
        ("gc-hostile.html", gc_sample::hostile()),
        ("gc-empty.html", gc_sample::empty()),
    ] {
        let mut html = Vec::new();
        assay_report::gc::document(&report, "/var/log/shop/gc.log").write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let mut html = Vec::new();
    assay_report::gc::comparison(&gc_sample::comparison()).write_html(&mut html)?;
    std::fs::write(folder.join("gc-diff.html"), html)?;
    Ok(())
}
