//! The scenarios in the documentation are right.

use std::path::Path;

#[test]
fn every_scenario_of_the_documentation_is_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/load.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let blocks = text.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let scenarios: Vec<&str> =
        blocks.map(|(block, _)| block).filter(|block| block.starts_with("schema")).collect();
    assert_eq!(scenarios.len(), 4);
    for scenario in scenarios {
        assay_scenario::Scenario::look(scenario, "load.md").expect("no mistakes");
    }
}
