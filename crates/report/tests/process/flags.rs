//! What releases make of options.

use super::*;
use assay_report::flags;

fn kept() -> FlagsReport {
    stored(include_str!("../../../../testdata/formats/flags-2.json"))
}

#[test]
fn terminals_and_markdown_are_the_golden_files() {
    golden::expect("flags", &flags::document(&kept()));
}

#[test]
fn each_release_has_a_column_in_one_block_or_several_and_what_they_say_alike_is_said_once() {
    let text = flags::document(&kept()).terminal(view(80));
    let wide = flags::document(&kept()).terminal(view(120));
    let is_alike = |line: &&str| {
        line.contains(" 17, 21, 25, 26, 27, 28 ")
            && line.contains(" unrecognized: this release does not have it")
    };
    assert_eq!(wide.lines().filter(is_alike).count(), 1, "{wide}");
    assert_eq!(text.matches("a JVM with all of them").count(), 2, "{text}");
    let of_releases =
        |text: &str| kept().releases.iter().all(|of| text.contains(&format!("JDK {}", of.release)));
    assert!(
        [60, 80, 120]
            .map(|width| flags::document(&kept()).terminal(view(width)))
            .iter()
            .all(|text| of_releases(text))
    );
}

#[test]
fn options_have_a_row_for_each_release_and_the_page_names_the_first_to_change() {
    let report = kept();
    let rows = csv(&flags::data(&report));
    assert!(rows.len() > report.options.len() * report.releases.len(), "{rows:?}");
    for option in &report.options {
        for of in &report.releases {
            let begin = format!("{option},{},", of.release);
            assert!(rows.iter().any(|row| row.starts_with(&begin)), "{begin}");
        }
    }
    let fails =
        report.releases.iter().find(|of| of.starts == Some(false)).expect("a release without one of them");
    let markdown = flags::document(&report).markdown();
    assert!(markdown.contains("| a JVM with all of them |"), "{markdown}");
    let page = page(&flags::document(&report));
    assert!(page.contains(&format!(" on JDK {}", fails.release)), "{page}");
    assert!(page.contains("→ Begin with <span class=\"kept\">-XX:"), "{page}");
}

#[test]
fn what_was_not_judged_stands_in_the_headline() {
    let mut report = kept();
    for of in &mut report.releases {
        of.starts = None;
        of.remarks = vec![RemarkOnOption {
            option: 0,
            remark: OptionRemark::NotJudged,
            certainty: Certainty::Unknown,
            why: "it loads code".to_owned(),
            instead: None,
        }];
    }
    let text = flags::document(&report).terminal(view(120));
    assert!(text.contains("is not known: 1 of "), "{text}");
    assert!(text.contains("not known") && !text.contains("A JVM starts"), "{text}");
}
