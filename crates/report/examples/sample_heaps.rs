//! Writes the pages of made-up heaps, to look at them and for the pages' tests:
//! `cargo run -p assay-report --example sample_heaps -- FOLDER`.

#[path = "../tests/heap/sample/mod.rs"]
mod sample;

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    std::fs::create_dir_all(&folder)?;
    let predictions = [
        ("heap.html", sample::prediction()),
        ("heap-hostile.html", sample::hostile_prediction()),
        ("heap-empty.html", sample::empty_prediction()),
    ];
    for (name, heap) in predictions {
        let mut html = Vec::new();
        assay_report::heap::document(&heap, 10).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    let layouts = [
        ("heap-layout.html", sample::loader_layouts()),
        ("heap-contended.html", sample::contended_layouts()),
    ];
    for (name, layouts) in layouts {
        let mut html = Vec::new();
        assay_report::heap::layouts(&layouts).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    for (name, modes) in
        [("heap-modes.html", sample::modes::modes()), ("heap-modes-empty.html", sample::modes::empty_modes())]
    {
        let mut html = Vec::new();
        assay_report::heap::modes(&modes).write_html(&mut html)?;
        std::fs::write(folder.join(name), html)?;
    }
    Ok(())
}
