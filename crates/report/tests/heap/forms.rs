//! Heaps as CSV and Markdown.

use super::sample;
use assay_report::*;
use std::io::{self, Write};

fn csv(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all bytes");
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_places_of_an_object_add_up_to_its_size() {
    let layouts = sample::layouts();
    let rows = csv(|out| heap::layouts_data(&layouts).write_csv(out));
    assert_eq!(rows[0].last().map(String::as_str), Some("bytes"));
    for layout in &layouts.layouts {
        let of = rows.iter().filter(|row| row[0] == layout.model.name.name());
        let sum: u64 = of.map(|row| row.last().and_then(|b| b.parse::<u64>().ok()).expect("bytes")).sum();
        assert_eq!(sum, layout.instance_bytes, "{}", layout.model.name.name());
    }
    let markdown = heap::layouts(&layouts).markdown();
    assert!(markdown.contains("An instance takes ") && markdown.contains("| header | "), "{markdown}");
}

#[test]
fn the_answer_of_an_object_leaves_out_layouts_that_the_release_lacks() {
    let answer = |layouts: &assay_model::HeapLayouts| {
        let text = heap::layouts(layouts).markdown();
        text.lines().find(|line| line.starts_with("**")).expect("an answer").to_owned()
    };
    let mut layouts = sample::layouts();
    let all = answer(&layouts);
    assert!(all.contains("48 bytes (64-bit"), "{all}");
    for layout in &mut layouts.layouts {
        layout.is_in_release = layout.model.name != assay_model::ModelName::Bits64;
    }
    let of_release = answer(&layouts);
    assert!(!of_release.contains("48 bytes (64-bit)"), "{of_release}");
}

#[test]
fn every_heap_size_has_a_row_and_a_mode_that_was_not_verified_is_empty() {
    let mut modes = sample::modes::modes();
    modes.cells.truncate(2);
    modes.cells[0].verified_mode = None;
    let rows = csv(|out| heap::modes_data(&modes).write_csv(out));
    assert_eq!((rows.len(), rows[0][8].as_str(), rows[1][8].as_str()), (3, "verified_mode", ""));
    assert_eq!(rows[1][3], modes.cells[0].max_heap_bytes.to_string());
    let markdown = heap::modes(&modes).markdown();
    assert!(markdown.contains("**Modes and their largest heaps**"), "{markdown}");
    assert!(markdown.contains(&format!("| -Xmx | {}", modes.cells[0].collector)), "{markdown}");
}

#[test]
fn a_prediction_has_its_answer_and_the_size_of_every_layout() {
    let prediction = sample::prediction();
    let markdown = heap::document(&prediction, 10).markdown();
    assert!(markdown.starts_with("# Heap of "), "{markdown}");
    for model in &prediction.models {
        assert!(markdown.contains(&format!("| {} | ", model.name.name())), "{markdown}");
    }
}

#[test]
fn the_answer_has_layouts_of_the_heaps_release_and_names_the_release_of_others() {
    let mut found = sample::prediction();
    for model in &mut found.models {
        use assay_model::ModelName::{Bits64CompressedClassPointers, Compact, Compact64, CompactAlign16};
        model.is_in_release = model.name != Bits64CompressedClassPointers;
        model.jdk = if matches!(model.name, Compact | CompactAlign16 | Compact64) { 25 } else { 11 };
    }
    let text = heap::document(&found, 5).markdown();
    let answer = text.lines().find(|line| line.starts_with("**")).expect("an answer");
    assert!(answer.contains(" in compact of JDK 25, ") && answer.ends_with(" in 64-bit.**"), "{answer}");
}
