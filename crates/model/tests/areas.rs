//! Memory areas, and the paths that other versions stored.

use assay_model::*;
use serde_json::json;

#[test]
fn areas_are_stored_under_their_titles_and_paths_are_read_by_the_names_of_any_version() {
    for area in Area::ALL {
        assert_eq!(serde_json::to_value(area).expect("a word"), area.title());
        assert_eq!(Area::of_path(&[area.title().to_owned()]), Some(area));
    }
    let read = |path: &[&str]| {
        let cause = json!({
            "path": path, "before_bytes": 1, "after_bytes": 2, "count_change": null, "source": "kernel", "explanation": "",
        });
        serde_json::from_value::<Cause>(cause).expect("a list of words").path.join(": ")
    };
    assert_eq!(read(&["Java heap", "old", "behind top"]), "Java heap: old: unused above top");
    assert_eq!(read(&["JVM work area", "symbols"]), "JVM internal: symbols");
    assert_eq!(read(&["stacks", "Java", "JVM work area"]), "stacks: Java: JVM work area", "a thread's name");
    assert_eq!(read(&["behind top", "of a later version"]), "behind top: of a later version");
}
