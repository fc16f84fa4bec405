//! `assay report --check-claims` as it is typed: sources of the text, exit codes, stored form.

use assay_model::{ClaimReport, ClaimVerdict, schema};
use assay_testkit::skip;
use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).env("COLUMNS", "100").output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_right_claim_is_good_and_a_wrong_one_a_finding() {
    let good = assay(&["report", "--check-claims", "It falls from 72 to 48 ms (-33 %)."]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert!(text(&good.stdout).contains("0 wrong, 1 right, 0 not checked, 0 not understood"));
    let wrong = assay(&["report", "--check-claims", "It falls from 72 to 48 ms (-51 %)."]);
    assert_eq!(wrong.status.code(), Some(1));
    let told = text(&wrong.stdout);
    assert!(told.contains("wrong arithmetic") && told.contains("from 72 to 48 is -33.3 %"), "{told}");
    assert!(told.lines().all(|l| l.chars().count() <= 100));
}

#[test]
fn wrong_use_is_told_from_a_wrong_claim() {
    for arguments in [
        &["report"][..],
        &["report", "--check-claims", "no-such-file.md"],
        &["report", "/no/such", "--check-claims", "5 % up"],
    ] {
        assert_eq!(assay(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// The blog post of the study that this checker was made for: its direction that is the wrong way round, and the 59 % of its
/// conclusion against the 51 % of its numbers.
#[test]
fn the_published_post_is_read_as_a_file_and_its_two_slips_are_found() {
    let folder = assay_testkit::testdata("../../shared/papers");
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let post = files
        .into_iter()
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("003_")));
    let Some(post) = post else { skip!("the published post is not at {}", folder.display()) };
    let output = assay(&["report", "--json", "--check-claims", &post.display().to_string()]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report: ClaimReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(report.schema, schema::CLAIMS);
    let wrong: Vec<(ClaimVerdict, &str)> = report
        .claims
        .iter()
        .filter(|c| c.verdict.is_wrong())
        .map(|c| (c.verdict, c.claim.as_str()))
        .collect();
    let wanted = [
        (ClaimVerdict::WrongDirection, "critical-jOPS 51 % better"),
        (ClaimVerdict::Conflicts, "critical-jOPS 59 % better"),
    ];
    assert_eq!(wrong, wanted);
    assert_eq!(report.claims.iter().filter(|c| c.verdict == ClaimVerdict::Right).count(), 2);
}
