//! Writes the pages of stored accounts of CPU time, of checks of a machine, of options and of a load, to look at them and for the pages' tests:
//! `cargo run -p assay-report --example sample_times -- FOLDER`.

#[path = "../tests/process/detailed_load.rs"]
mod detailed_load;

use assay_model::{LoadResult, Problem};
use std::io;
use std::path::{Path, PathBuf};

/// A name that must stay text.
const HOSTILE: &str = "<script>alert('1')</script>";

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    for (name, stored) in [
        ("time.html", include_str!("../../../testdata/formats/time-4.json")),
        ("time-stacks.html", include_str!("../../../testdata/gallery/time.json")),
    ] {
        let report = serde_json::from_str(stored)?;
        let mut html = Vec::new();
        assay_report::time::document(&report).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let change = serde_json::from_str(include_str!("../../../testdata/formats/time-change-1.json"))?;
    let mut html = Vec::new();
    assay_report::time::change(&change).write_html(&mut html)?;
    std::fs::write(folder.join("time-change.html"), html)?;
    let report = serde_json::from_str(include_str!("../../../testdata/formats/host-check-3.json"))?;
    let mut html = Vec::new();
    assay_report::host::document(&report, false).write_html(&mut html)?;
    std::fs::write(folder.join("host.html"), html)?;
    let comparison = serde_json::from_str(include_str!("../../../testdata/formats/host-comparison-2.json"))?;
    let mut html = Vec::new();
    assay_report::host::comparison(&comparison).write_html(&mut html)?;
    std::fs::write(folder.join("host-diff.html"), html)?;
    let report = serde_json::from_str(include_str!("../../../testdata/formats/flags-2.json"))?;
    let mut html = Vec::new();
    assay_report::flags::document(&report).write_html(&mut html)?;
    std::fs::write(folder.join("flags.html"), html)?;
    load_pages(&folder)
}

/// One stored load, and the same with texts that a page must not take as markup.
fn load_pages(folder: &Path) -> io::Result<()> {
    let stored = serde_json::from_str(include_str!("../../../testdata/formats/load-3.json"))?;
    let stored = detailed_load::detailed(stored);
    let mut hostile = LoadResult { valid: false, scenario: Some(HOSTILE.to_owned()), ..stored.clone() };
    hostile.operations.iter_mut().for_each(|operation| operation.name = HOSTILE.to_owned());
    hostile.problems.push(Problem::new(HOSTILE, HOSTILE));
    for (name, result, target) in
        [("load.html", &stored, "http://shop:8080/"), ("load-hostile.html", &hostile, HOSTILE)]
    {
        let mut page = Vec::new();
        assay_report::load::document(result, target, None).write_html(&mut page)?;
        std::fs::write(folder.join(name), page)?;
    }
    Ok(())
}
