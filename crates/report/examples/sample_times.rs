//! Writes the pages of stored results, and of a load, to look at them and for the pages' tests:
//! `cargo run -p assay-report --example sample_times -- FOLDER`.

#[path = "../tests/process/detailed_load.rs"]
mod detailed_load;

use assay_model::{LoadResult, Problem};
use assay_report::{Document, bisect, fit, flags, host, judge, load, time, why};
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

/// A name that must stay text.
const HOSTILE: &str = "<script>alert('1')</script>";

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    let stored = |name: &str, document: Document| save(&folder.join(name), &document);
    stored("time.html", time::document(&read(include_str!("../../../testdata/formats/time-4.json"))?))?;
    stored("time-stacks.html", time::document(&read(include_str!("../../../testdata/gallery/time.json"))?))?;
    stored(
        "time-change.html",
        time::change(&read(include_str!("../../../testdata/formats/time-change-1.json"))?),
    )?;
    stored(
        "host.html",
        host::document(&read(include_str!("../../../testdata/formats/host-check-3.json"))?, false),
    )?;
    stored(
        "host-diff.html",
        host::comparison(&read(include_str!("../../../testdata/formats/host-comparison-2.json"))?),
    )?;
    stored("flags.html", flags::document(&read(include_str!("../../../testdata/formats/flags-2.json"))?))?;
    stored("why.html", why::document(&read(include_str!("../../../testdata/formats/why-1.json"))?))?;
    stored("judge.html", judge::document(&read(include_str!("../../../testdata/formats/judge-1.json"))?))?;
    stored("bisect.html", bisect::document(&read(include_str!("../../../testdata/formats/bisect-1.json"))?))?;
    stored("fit.html", fit::document(&read(include_str!("../../../testdata/formats/fit-1.json"))?))?;
    load_pages(&folder)
}

fn read<T: DeserializeOwned>(stored: &str) -> io::Result<T> {
    Ok(serde_json::from_str(stored)?)
}

fn save(file: &Path, document: &Document) -> io::Result<()> {
    let mut html = Vec::new();
    document.write_html(&mut html)?;
    std::fs::write(file, html)
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
        save(&folder.join(name), &load::document(result, target, None))?;
    }
    Ok(())
}
