//! Dashboard, alert rules and scrape configuration in `deploy/monitoring`, and the guide to them, use only series and labels that
//! `assay gc --openmetrics` serves.

use assay_report::gc::{GcFamily, openmetrics_families};
use assay_testkit::checkout;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// What Prometheus adds to each series, what the scrape configuration does, and what a summary has besides.
const LABELS_OF_ALL: [&str; 4] = ["job", "instance", "service", "quantile"];

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The series that a text names.
fn series_in(text: &str) -> BTreeSet<&str> {
    let ends = |at: usize| text[at..].find(|c| !is_of_name(c)).map_or(text.len(), |length| at + length);
    text.match_indices("assay_gc_").map(|(at, _)| &text[at..ends(at)]).collect()
}

/// The labels by which an expression groups.
fn labels_in(expression: &str) -> Vec<&str> {
    let groups = expression.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
    groups.flat_map(|group| group.split(',')).map(str::trim).collect()
}

/// What stands between braces in a legend.
fn labels_of_legend(legend: &str) -> Vec<&str> {
    legend.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0.trim())).collect()
}

/// What an expression asks for that is not served: series, and labels that none of its series has.
fn wrong_in(expression: &str, legend: &str) -> Vec<String> {
    let families = openmetrics_families();
    let family_of =
        |series: &str| families.iter().find(|family| family.series().iter().any(|of| of == series));
    let named = series_in(expression);
    let unknown =
        named.iter().filter(|series| family_of(series).is_none()).map(|series| (*series).to_owned());
    let of_families: BTreeSet<&str> = named
        .iter()
        .filter_map(|series| family_of(series))
        .flat_map(|family: &GcFamily| family.labels.iter().copied())
        .chain(LABELS_OF_ALL)
        .collect();
    let labels = labels_in(expression).into_iter().chain(labels_of_legend(legend));
    let without = labels.filter(|label| !of_families.contains(label)).map(|label| format!("label {label}"));
    unknown.chain(without).collect()
}

/// Rows and columns that a panel takes, of 24 columns.
fn place(panel: &Value) -> [u64; 4] {
    ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().expect("a place"))
}

#[test]
fn the_dashboard_asks_only_for_series_that_are_served() {
    let dashboard: Value = serde_json::from_str(&text("deploy/monitoring/dashboard.json")).expect("JSON");
    assert!(dashboard["uid"].is_string() && dashboard["schemaVersion"].is_u64());
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(panels.len() >= 10, "{} panels", panels.len());
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for panel in panels {
        let title = panel["title"].as_str().expect("a title");
        assert!(seen.insert(panel["id"].as_u64().expect("an id")), "{title}: its id stands twice");
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{title} shows nothing");
        for target in targets {
            let expression = target["expr"].as_str().expect("an expression");
            assert!(!series_in(expression).is_empty(), "{title}: {expression}");
            let found = wrong_in(expression, target["legendFormat"].as_str().expect("a legend"));
            wrong.extend(found.into_iter().map(|what| format!("{title}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "not served:\n{}", wrong.join("\n"));
    for (number, panel) in panels.iter().enumerate() {
        let [x, y, width, height] = place(panel);
        assert!(x + width <= 24, "{} leaves the grid", panel["title"]);
        let covers = |other: &Value| {
            let [other_x, other_y, other_width, other_height] = place(other);
            x < other_x + other_width
                && other_x < x + width
                && y < other_y + other_height
                && other_y < y + height
        };
        let covered = panels.iter().skip(number + 1).find(|other| covers(other));
        assert!(covered.is_none(), "{} lies over {covered:?}", panel["title"]);
    }
}

#[test]
fn alert_rules_and_guide_name_only_series_that_are_served() {
    let served: BTreeSet<String> = openmetrics_families().iter().flat_map(GcFamily::series).collect();
    for file in
        ["deploy/monitoring/alerts.yml", "deploy/monitoring/alerts-test.yml", "docs/how-to/monitoring.md"]
    {
        let text = text(file);
        let named = series_in(&text);
        assert!(named.len() > 3, "{file} names {named:?}");
        let unknown: Vec<&&str> = named.iter().filter(|series| !served.contains(**series)).collect();
        assert!(unknown.is_empty(), "{file}: not served: {unknown:?}");
    }
    let rules = text("deploy/monitoring/alerts.yml");
    let tests = text("deploy/monitoring/alerts-test.yml");
    for rule in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tests.contains(&format!("alertname: {rule}\n")), "alerts-test.yml does not try {rule}");
    }
    let scraped = text("deploy/monitoring/prometheus.yml");
    let job = scraped.split_once("job_name: ").and_then(|(_, rest)| rest.lines().next()).expect("a job");
    for file in ["deploy/monitoring/alerts.yml", "deploy/monitoring/dashboard.json"] {
        assert!(
            text(file).replace('\\', "").contains(&format!("job=\"{job}\"")),
            "{file} is not of job {job}"
        );
    }
}

#[test]
fn a_series_or_label_that_is_not_served_is_found() {
    let expression = "sum by (instance, phase) (rate(assay_gc_pause_seconds_sum{job=\"assay-gc\"}[5m]))";
    assert_eq!(wrong_in(expression, "{{phase}} {{instance}}"), [""; 0]);
    assert_eq!(wrong_in(expression, "{{space}}"), ["label space"]);
    assert_eq!(wrong_in("assay_gc_pauses_total", ""), ["assay_gc_pauses_total"]);
    assert_eq!(wrong_in("sum by (space) (assay_gc_jvms)", ""), ["label space"]);
}
