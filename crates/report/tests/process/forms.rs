//! Accounts of CPU time, checks of machines and options as CSV, Markdown and pages.

use assay_model::*;
use assay_report::*;
use serde::de::DeserializeOwned;
use std::io::{self, Write};

fn stored<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a kept result")
}

fn csv(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Vec<String> {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect()
}

fn page(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn groups_of_threads_have_a_row_each_and_unknown_times_are_empty() {
    let mut report: TimeReport = stored(include_str!("../../../../testdata/formats/time-4.json"));
    report.groups.truncate(1);
    let group = &mut report.groups[0];
    (group.name, group.sums.cpu_ns, group.sums.user_ns) = ("pool".to_owned(), 7, None);
    group.sums.kernel_share = None;
    let rows = csv(|out| render_time_csv(&report, out));
    assert_eq!(rows.len(), 2);
    let fields: Vec<&str> = rows[1].split(',').collect();
    assert_eq!((fields[1], fields[4], fields[5], fields[7]), ("pool", "7", "", ""));
    let markdown = render_time_markdown(&report);
    assert!(markdown.starts_with("# CPU time of ") && markdown.contains("**Threads by role and name**"));
}

#[test]
fn a_change_of_cpu_time_has_its_total_and_every_role() {
    let change: TimeChange = stored(include_str!("../../../../testdata/formats/time-change-1.json"));
    let rows = csv(|out| render_time_change_csv(&change, out));
    assert_eq!(rows.len(), change.roles.len() + 2);
    assert!(rows[1].starts_with("total,"), "{rows:?}");
    let markdown = render_time_change_markdown(&change);
    assert!(markdown.contains("**CPU time by role**"), "{markdown}");
}

#[test]
fn every_ruling_is_in_the_csv_and_what_is_good_in_markdown_only_where_asked_for() {
    let report: HostReport = stored(include_str!("../../../../testdata/formats/host-check-3.json"));
    assert_eq!(csv(|out| host::data(&report).write_csv(out)).len(), report.rulings.len() + 1);
    let bad =
        report.rulings.iter().find(|ruling| ruling.verdict == HostVerdict::Bad).expect("one that is bad");
    let (few, all) = (host::document(&report, false).markdown(), host::document(&report, true).markdown());
    assert!(few.contains(&format!("({})", bad.finding.rule)), "{few}");
    assert!(!few.contains("**Rules that are kept**") && all.contains("**Rules that are kept**"));
    let page = page(|out| host::document(&report, false).write_html(out));
    assert!(page.contains(&format!("{} rules bad", bad_rules(&report))), "the answer counts what is bad");
    assert!(page.contains("id=\"verdicts-figure\"") && page.contains("class=\"action\""));
}

fn bad_rules(report: &HostReport) -> usize {
    let bad = report.rulings.iter().filter(|ruling| ruling.verdict == HostVerdict::Bad);
    bad.map(|ruling| ruling.finding.rule).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn machines_that_differ_have_a_row_for_each_difference_and_equal_ones_say_so() {
    let comparison: HostComparison =
        stored(include_str!("../../../../testdata/formats/host-comparison-2.json"));
    let differences = comparison.rulings.len() + comparison.machine.len() + comparison.settings.len();
    let rows = csv(|out| host::comparison_data(&comparison).write_csv(out));
    assert_eq!(rows.len(), differences + 1);
    assert!(rows.iter().any(|row| row.starts_with("verdict,accept-queue,good,bad")), "{rows:?}");
    assert!(host::comparison(&comparison).markdown().contains("| accept-queue | good | bad |"));
    let of_difference = page(|out| host::comparison(&comparison).write_html(out));
    assert!(of_difference.contains("Begin with accept-queue, which became bad. "), "{of_difference}");
    let equal =
        HostComparison { rulings: Vec::new(), machine: Vec::new(), settings: Vec::new(), ..comparison };
    let equal = page(|out| host::comparison(&equal).write_html(out));
    assert!(equal.contains("No difference in machine, settings and verdicts."));
}

#[test]
fn options_have_a_row_for_each_release_and_the_page_names_the_first_to_change() {
    let report: FlagsReport = stored(include_str!("../../../../testdata/formats/flags-1.json"));
    let rows = csv(|out| render_flags_csv(&report, out));
    assert!(rows.len() > report.options.len() * report.releases.len(), "{rows:?}");
    for option in &report.options {
        for of in &report.releases {
            let begin = format!("{option},{},", of.release);
            assert!(rows.iter().any(|row| row.starts_with(&begin)), "{begin}");
        }
    }
    let fails = report.releases.iter().find(|of| !of.starts).expect("a release without one of them");
    let markdown = render_flags_markdown(&report);
    assert!(markdown.contains("| a JVM with all of them |"), "{markdown}");
    let page = page(|out| render_flags_html(&report, out));
    assert!(page.contains(&format!(" on JDK {}", fails.release)), "{page}");
    assert!(page.contains("→ Begin with <span class=\"kept\">-XX:"), "{page}");
}

#[test]
fn a_load_has_its_percentiles_and_what_is_wrong_with_it() {
    let load: LoadResult = stored(include_str!("../../../../testdata/formats/load-3.json"));
    let all = csv(|out| render_load_csv(&load, out));
    let value = |metric: &str| {
        all.iter().find_map(|row| row.split_once(&format!(",{metric},"))).map(|(_, value)| value)
    };
    assert_eq!(value("response_ms_p99"), Some("192.937983"));
    assert_eq!((value("requests"), value("delivery_ms_p50")), (Some("300"), None));
    let none = LatencySummary { p99: None, ..load.response_ms };
    let broken = LoadResult {
        response_ms: none,
        valid: false,
        problems: vec![Problem::new("server", "<script>gone")],
        ..load
    };
    let all = csv(|out| render_load_csv(&broken, out));
    assert!(all.iter().all(|row| !row.contains(",response_ms_p99,")), "what is absent has no row");
    let markdown = render_load_markdown(&broken, "http://shop/");
    assert!(markdown.contains("**Not valid: do not use these figures.**"), "{markdown}");
    assert!(markdown.contains("| server | &lt;script&gt;gone |"), "{markdown}");
    let mut page = Vec::new();
    render_load_html(&broken, "http://shop/", &mut page).expect("a vector takes all");
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.contains("Not valid: do not use these figures"));
    assert!(page.contains("&lt;script&gt;gone") && !page.contains("<script>gone"));
    assert!(page.contains("p99.9: 212 ms; service time 205 ms"), "a bar for each percentile that is known");
    assert!(!page.contains("p99: "), "and none for one that is not");
}

const VIEW: TerminalView = TerminalView { width: 80, color: false, entries: EntriesShown::All };

#[test]
fn bad_verdicts_come_first_with_what_to_do_and_what_the_page_alone_has_is_named() {
    let report: HostReport = stored(include_str!("../../../../testdata/formats/host-check-3.json"));
    for width in [60, 80, 120] {
        let text = host::document(&report, true).terminal(TerminalView { width, ..VIEW });
        assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{text}");
    }
    let text = host::document(&report, true).terminal(VIEW);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part:?} in {text}"));
    assert!(at("rules bad") < at("Not met: "));
    assert!(at("What is unknown") < at("What is good") && at("What is good") < at("What does not apply"));
    let few = host::document(&report, false).terminal(VIEW).replace('\n', " ");
    assert!(!few.contains("Rules that are kept"), "{few}");
    assert!(
        few.contains("Only on the page: the chart of rules by verdict; What is good; What does not apply."),
        "{few}"
    );
}

#[test]
fn a_comparison_of_machines_names_what_differs() {
    let comparison: HostComparison =
        stored(include_str!("../../../../testdata/formats/host-comparison-2.json"));
    let text = host::comparison(&comparison).terminal(VIEW);
    assert!(text.contains("accept-queue  good    bad") && text.contains("net/core/somaxconn"), "{text}");
}
