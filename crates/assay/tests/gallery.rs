//! The gallery: `scripts/gallery` writes one page of each kind, of stored results, and `docs/gallery` has a picture of each.

use assay_testkit::checkout;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A page larger than this is too large for a browser on a phone.
const PAGE_BYTES_MAX: usize = 600_000;
/// A picture larger than this is too large for a checkout.
const PICTURE_BYTES_MAX: u64 = 60_000;

/// The pages that the script writes into a folder, by name.
fn pages(folder: &Path) -> BTreeMap<String, String> {
    let mut script = Command::new(checkout().join("scripts/gallery"));
    let made = script.arg(folder).env("ASSAY", env!("CARGO_BIN_EXE_assay")).output().expect("it starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), fs::read_to_string(&path).expect("a page"))).collect()
}

#[test]
fn each_page_is_made_of_stored_results_alone_and_has_its_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = pages(folder.path());
    assert_eq!(pages(tempfile::tempdir().expect("a folder").path()), all, "the same results, other pages");
    for (name, page) in &all {
        let is_whole = page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>");
        assert!(is_whole && page.len() < PAGE_BYTES_MAX, "{name}: {} bytes", page.len());
    }
    let docs = checkout().join("docs/gallery");
    let text = fs::read_to_string(docs.join("pages.md")).expect("the gallery's text");
    let shown = text.split("](").skip(1).filter_map(|rest| rest.split_once(".webp)"));
    let shown: BTreeSet<&str> = shown.map(|(name, _)| name).collect();
    assert_eq!(
        shown,
        all.keys().map(String::as_str).collect(),
        "docs/gallery/pages.md shows a picture of each page"
    );
    for name in shown {
        let bytes = fs::metadata(docs.join(format!("{name}.webp"))).map_or(0, |of| of.len());
        assert!(0 < bytes && bytes <= PICTURE_BYTES_MAX, "{name}: {bytes} bytes: scripts/gallery --pictures");
    }
}

#[test]
fn in_a_book_each_picture_leads_to_its_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = folder.path().join("pages.html");
    fs::write(&index, r#"<p><img src="memory.webp" alt="a"></p><p><img src="gc-z.webp" alt="b"></p>"#)
        .expect("written");
    pages(folder.path());
    let linked = r#"<p><a href="memory.html"><img src="memory.webp" alt="a"></a></p><p><a href="gc-z.html"><img src="gc-z.webp" alt="b"></a></p>"#;
    assert_eq!(fs::read_to_string(&index).expect("the index"), linked);
}
