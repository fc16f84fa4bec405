//! The list of GC figures.

use assay_model::*;
use std::collections::BTreeSet;

#[test]
fn a_figure_stands_once_with_its_unit_last_and_says_what_it_is() {
    let ids: BTreeSet<&str> = GC_FIGURES.iter().map(|figure| figure.id).collect();
    assert_eq!(ids.len(), GC_FIGURES.len());
    for figure in GC_FIGURES {
        let last = match figure.unit {
            "bytes" if figure.id.ends_with("_per_request") => "bytes_per_request".to_owned(),
            "events" | "lines" | "messages" | "JVMs" => continue,
            "events/s" => "pauses_per_s".to_owned(),
            unit => unit.replace('/', "_per_"),
        };
        assert!(figure.id.ends_with(&last), "{} in {}", figure.id, figure.unit);
        assert!(figure.help.ends_with('.'), "{}", figure.id);
    }
    assert_eq!(GcFigure::by_id(gc_figure::PAUSE_P99_MS).map(|figure| figure.unit), Some("ms"));
}
