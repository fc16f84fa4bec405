//! What the ready-made study of compressed references asks for: the paper's heaps, and a short form that can show its headline.

use crate::check::combinations::combine;
use crate::check::layout::Layout;
use crate::file::study::{LoadKind, Study};
use crate::file::units::parse_size;
use assay_model::{Design, PlannedProcedure, ReferenceMode, RequestedMode, metric};
use std::collections::BTreeSet;

/// What `assay demo` may take, seconds.
const DEMO_S_MAX: f64 = 360.0;
/// Collections between which a window counts garbage: with fewer, the first and the last decide.
const COLLECTIONS_MIN: f64 = 5.0;
/// Compilers work for longer than this in each server of the demo.
const WARM_UP_S_MIN: f64 = 30.0;

fn compressed_references() -> Study {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/compressed-references.toml");
    toml::from_str(&std::fs::read_to_string(file).expect("a ready-made study")).expect("it is a study")
}

/// Figures 6 and 7 of the paper have heaps of up to 12 GB, and Figure 5 three systems.
#[test]
fn the_study_has_the_heaps_of_the_paper_as_the_jvm_chooses_and_its_values_beside_them() {
    let study = compressed_references();
    let specs = combine(&study, None);
    for heap_gib in [4, 8, 12] {
        for (level, mode) in [
            ("compressed", RequestedMode::Compressed),
            ("64-bit", RequestedMode::Exactly(ReferenceMode::Full64)),
        ] {
            let name = format!("{level}/{heap_gib}g");
            let spec = specs.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(spec.reference_mode, Some(mode), "{name}");
            assert_eq!(spec.heap.map(|heap| heap.bytes), Some(heap_gib << 30), "{name}");
        }
    }
    let published = |metric: &str, part: &str| -> BTreeSet<&str> {
        let of = study.published.iter().filter(|p| p.metric == metric && p.source.contains(part));
        of.filter_map(|p| p.at.get("heap").map(String::as_str)).collect()
    };
    let heaps = BTreeSet::from(["1g", "2g", "3g", "4g", "8g", "12g"]);
    for metric in [metric::GARBAGE_KIB_PER_REQUEST, metric::THROUGHPUT_PER_S] {
        assert_eq!(published(metric, "Figures 6 and 7"), heaps, "{metric}");
    }
    for system in ["Windows", "AIX", "SLES"] {
        assert!(!published(metric::THROUGHPUT_PER_S, system).is_empty(), "{system}");
    }
}

/// What the width of the demo's intervals rests on. How wide they are, only a run shows.
#[test]
fn the_demo_has_few_warm_servers_and_enough_collections_in_each_window_and_fits_its_minutes() {
    let study = compressed_references();
    let quick = study.quick.as_ref().expect("a short form");
    let specs = combine(&study, Some(quick));
    let names: Vec<&str> = specs.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["32-bit/1g", "compressed/1g", "64-bit/1g"]);

    let layout = Layout::of(&study.design, Some(&quick.design));
    assert_eq!(layout.kind, Design::Resident);
    assert!(layout.warm_up_min_s >= WARM_UP_S_MIN, "{layout:?}");
    let expected_s = layout.expected_s(&vec![0; specs.len()], &PlannedProcedure::Windows);
    assert!(expected_s <= DEMO_S_MAX, "{expected_s}");

    let load = quick.load.as_ref().expect("a load of its own");
    assert_eq!(load.kind, LoadKind::Open, "all variants get the very same requests");
    let young = quick.jvm_options.iter().find_map(|option| option.strip_prefix("-Xmn")).expect("a size");
    let young_kib = parse_size(young).expect("it is a size").bytes as f64 / 1024.0;
    let published = study.published.iter().find(|p| p.metric == metric::GARBAGE_KIB_PER_REQUEST);
    let per_request_kib = published.expect("the paper's").absolute["32-bit"];
    let garbage_kib = load.rate_per_s.expect("a rate") * layout.window_s * per_request_kib;
    assert!(
        COLLECTIONS_MIN * young_kib <= garbage_kib,
        "{garbage_kib} KiB in a young generation of {young_kib}"
    );
}
