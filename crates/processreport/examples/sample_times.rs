//! Writes the pages of stored accounts of CPU time, to look at them and for the pages' tests:
//! `cargo run -p assay-processreport --example sample_times -- FOLDER`.

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    let report = serde_json::from_str(include_str!("../../../testdata/formats/time-3.json"))?;
    let mut html = Vec::new();
    assay_processreport::render_time_html(&report, &mut html)?;
    std::fs::write(folder.join("time.html"), html)?;
    let change = serde_json::from_str(include_str!("../../../testdata/formats/time-change-1.json"))?;
    let mut html = Vec::new();
    assay_processreport::render_time_change_html(&change, &mut html)?;
    std::fs::write(folder.join("time-change.html"), html)
}
