//! The scenarios in the documentation are right.

use std::path::Path;

/// The scenarios of a page.
fn scenarios(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).expect("the page");
    let blocks = text.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    blocks.map(|(block, _)| block.to_owned()).filter(|block| block.starts_with("schema")).collect()
}

#[test]
fn every_scenario_of_the_documentation_is_one() {
    for (page, count) in [("how-to/load.md", 4), ("reference/peer-scenarios.md", 11)] {
        let scenarios = scenarios(page);
        assert_eq!(scenarios.len(), count, "{page}");
        for scenario in scenarios {
            let looked = assay_scenario::Scenario::look(&scenario, page);
            looked.unwrap_or_else(|error| panic!("{error}\n{scenario}"));
        }
    }
}
