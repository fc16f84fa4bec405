//! docs/how-to/access-log.md shows the scenario that is made of the log that it shows, and what it adds to it is right.

use assay_scenario::Scenario;
use assay_scenario::generate::{AccessLog, from_access_log};
use std::path::Path;

/// The blocks of a page that are marked so, without their indentation.
fn blocks(page: &str, mark: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_within, mut indentation) = (false, 0);
    for line in page.lines() {
        let text = line.trim_start();
        if text.starts_with("```") {
            is_within = !is_within && text == format!("```{mark}");
            indentation = line.len() - text.len();
            found.extend(is_within.then(String::new));
        } else if let (true, Some(block)) = (is_within, found.last_mut()) {
            block.push_str(line.get(indentation..).unwrap_or_default());
            block.push('\n');
        }
    }
    found
}

#[test]
fn the_draft_on_the_page_is_made_of_its_log_and_takes_what_the_page_adds() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/access-log.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (logs, scenarios) = (blocks(&page, "text"), blocks(&page, "toml"));
    let ([log], [draft, addition]) = (logs.as_slice(), scenarios.as_slice()) else {
        panic!("{} logs and {} scenarios", logs.len(), scenarios.len())
    };
    let made = from_access_log(log.as_bytes(), &AccessLog { named: "access.log", trace: None });
    assert_eq!(&made.expect("a good log").text, draft);
    for scenario in [draft, &format!("{draft}\n{addition}")] {
        Scenario::look(scenario, "access-log.md").unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}
