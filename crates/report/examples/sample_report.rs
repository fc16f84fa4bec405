//! Writes the report of a made-up run, to look at it and for the page's tests:
//! `cargo run -p assay-report --example sample_report -- FOLDER`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    let run = sample::run();
    let pages = [
        ("report.html", run.clone()),
        ("demo.html", sample::demo_run()),
        ("hostile.html", sample::hostile_run()),
    ];
    for (name, run) in pages {
        let mut html = Vec::new();
        assay_report::render_html(&run, &mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let mut markdown = Vec::new();
    assay_report::render_markdown(&run, &mut markdown)?;
    std::fs::write(folder.join("report.md"), markdown)?;
    let mut csv = Vec::new();
    assay_report::render_csv(&run, &mut csv)?;
    std::fs::write(folder.join("report.csv"), csv)?;
    print!("{}", assay_report::render_terminal(&run, 110, false));
    Ok(())
}
