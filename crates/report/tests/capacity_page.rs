//! The page of a capacity: the same bytes each time, nothing made up where something is absent, any file drawn.

use crate::capacity_sample;
use assay_model::CapacityReport;
use capacity_sample as sample;

fn page(report: &CapacityReport) -> String {
    let mut out = Vec::new();
    assay_report::capacity::document(report).write_html(&mut out).expect("a vector takes all");
    String::from_utf8(out).expect("UTF-8")
}

/// The text of a table by its caption.
fn table<'p>(page: &'p str, caption: &str) -> &'p str {
    let from = page.find(&format!("<caption>{caption}")).expect("the table");
    page[from..].split("</table>").next().expect("its end")
}

#[test]
fn the_same_result_gives_the_same_bytes() {
    let (first, second) = (page(&sample::search()), page(&sample::search()));
    assert!(first == second);
    assert!(first.contains("name = &quot;supermarket-standard-mix&quot;</bdi></code></pre>"), "the scenario");
    assert!(first.contains(" the limit is crossed at 902 (845 to 959)"));
}

#[test]
fn what_was_not_found_is_told_and_not_drawn_as_zero() {
    let sweep = page(&sample::sweep());
    let limits = table(&sweep, "Rates that keep the limits");
    assert!(limits.contains("kept at all rates, up to 1,180/s"), "{limits}");
    let max = limits.split("max rate").nth(1).expect("the row");
    assert!(max.contains("<bdi>-</bdi>") && !max.contains(">0<"), "{max}");
    assert!(sweep.contains("not available: no possible cause was observed"));
    let empty = page(&sample::empty());
    assert!(empty.contains("not available: no window was measured"));
    assert!(!empty.contains("<figure"));
}

#[test]
fn a_result_that_is_not_valid_says_so_and_why() {
    let disturbed = sample::disturbed();
    assert!(disturbed.valid == Some(false), "the recorded run is one of a busy machine");
    let page = page(&disturbed);
    let box_at = page.find("Not valid: do not use these figures").expect("a box");
    assert!(box_at < page.find("class=\"headline\"").expect("an answer"));
    assert_eq!(page.matches("pub left-out").count(), 4 * disturbed.windows.len());
    let hidden = CapacityReport { checks: Vec::new(), problems: Vec::new(), ..disturbed };
    assert!(self::page(&hidden).contains("the result does not say why"));
}

#[test]
fn csv_has_every_window_in_full_and_empty_fields_for_what_is_absent() {
    let mut report = sample::search();
    report.windows[0].response_ms.p99 = None;
    let page = page(&report);
    let csv =
        page.split("id=\"windows-csv\"").nth(1).expect("the CSV").split("</pre>").next().expect("its end");
    let mut lines = csv.split_once('>').expect("the tag").1.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), report.windows.len());
    let column = |name: &str| head.iter().position(|h| *h == name).expect("a column");
    assert_eq!(rows[0][column("response_ms_p99")], "");
    for (row, (_, step)) in rows.iter().zip(report.steps()) {
        assert_eq!(row[column("offered_rate_per_s")].parse(), Ok(step.offered_rate_per_s));
        assert_eq!(row[column("misses_25_ms")].parse(), Ok(step.misses[1]));
    }
}

/// Earlier versions stored another step of arithmetic under another key.
#[test]
fn a_machine_of_an_earlier_version_has_a_memory_and_no_arithmetic() {
    let earlier = r#"{"compute_ns":1.38,"memory_ns":96.5}"#;
    let mut report = sample::search();
    report.windows.truncate(1);
    report.windows[0].machine = Some(serde_json::from_str(earlier).expect("the stored form"));
    let page = page(&report);
    assert!(page.contains(",machine_arithmetic_ns,machine_memory_ns,"));
    assert!(page.contains(",,96.5,"));
}

/// Any figure of any window, limit or cause may be anything.
#[test]
fn odd_figures_are_drawn_without_panic_and_never_as_code() {
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, f64::MAX, 1e-9, 1e12];
    for (round, value) in odd.into_iter().enumerate() {
        let mut report = sample::hostile();
        for (index, window) in report.windows.iter_mut().enumerate() {
            match (index + round) % 6 {
                0 => capacity_sample::step(window).offered_rate_per_s = value,
                1 => window.response_ms.p50 = Some(value),
                2 => capacity_sample::step(window).limited_ms = Some(value),
                3 => window.end_monotonic_ns = (1e9 * value) as u64,
                4 => {
                    window.generator_cpu_share = Some(value);
                    window.metrics.values_mut().for_each(|figure| *figure = value);
                    window.machine =
                        Some(assay_model::MachineSpeed { arithmetic_ns: Some(value), memory_ns: value });
                }
                _ => window.completed = value as u64,
            }
        }
        report.limits.iter_mut().for_each(|l| l.limit_ms = value);
        report.limits[0].rate_per_s =
            Some(assay_model::Estimate { estimate: value, low: Some(value), high: None });
        report.percentile = value;
        report.duration_s = value;
        let page = page(&report);
        assert!(
            !page.contains("=\"NaN") && !page.contains("=\"inf") && !page.contains("<script>alert"),
            "{value}"
        );
    }
}
