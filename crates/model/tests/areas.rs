//! Memory areas as they are stored.

use assay_model::*;

#[test]
fn areas_are_stored_under_their_titles() {
    for area in Area::ALL {
        assert_eq!(serde_json::to_value(area).expect("a word"), area.title());
        assert_eq!(Area::of_path(&[area.title().to_owned()]), Some(area));
    }
}
