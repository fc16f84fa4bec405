//! `assay report` on a stored capacity.

use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).env("COLUMNS", "100").output().expect("assay starts")
}

#[test]
fn a_stored_capacity_becomes_a_page_a_text_and_json_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = assay_testkit::testdata("capacity/disturbed.json");
    std::fs::copy(&recorded, folder.path().join("capacity.json")).expect("copied");
    let path = folder.path().display().to_string();
    let page = assay(&["report", &path]);
    assert_eq!(page.status.code(), Some(0), "{}", String::from_utf8_lossy(&page.stderr));
    let html = std::fs::read_to_string(folder.path().join("report.html")).expect("the page");
    assert!(html.contains("Not valid: do not use these figures"));
    let text = assay(&["report", &path, "--format", "table"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("NOT VALID"));
    let json = assay(&["report", &path, "--json"]);
    let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON");
    let stored = value(&std::fs::read(&recorded).expect("the record"));
    assert_eq!(value(&json.stdout), stored, "all that was stored");
    let csv = assay(&["report", &path, "--format", "csv"]);
    let heading = "name,operation,limit_ms,percentile,rate_per_s,";
    assert!(String::from_utf8_lossy(&csv.stdout).starts_with(heading));
    let file = folder.path().join("capacity.md");
    let file = file.to_str().expect("a name");
    assert_eq!(assay(&["report", &path, "--format", "md", "--out", file]).status.code(), Some(0));
    let markdown = std::fs::read_to_string(file).expect("written");
    assert!(markdown.contains("**Not valid: do not use these figures.**"), "{markdown}");
}

#[test]
fn what_is_no_capacity_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    for (text, why) in
        [("{}", "text file"), ("", "empty file"), ("{\"schema\": \"assay.capacity/4\"}", "missing field")]
    {
        std::fs::write(folder.path().join("capacity.json"), text).expect("written");
        let output = assay(&["report", &path]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("capacity.json is not a ") && said.contains(why), "{said}");
    }
}

#[test]
fn a_result_of_a_number_that_is_not_read_says_which_are_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("result.json");
    let (format, number) = assay_model::schema::CAPACITY.split_once('/').expect("NAME/N");
    let number: u32 = number.parse().expect("a number");
    for (other, why) in [
        (
            number - 1,
            format!(
                "which a development version before 0.1.0 wrote; this version reads {format}/{number}: measure again"
            ),
        ),
        (
            number + 1,
            format!("which a newer Assay wrote; this version reads {format}/{number}: take a newer Assay"),
        ),
    ] {
        std::fs::write(&path, format!("{{\"schema\": \"{format}/{other}\"}}")).expect("written");
        let output = assay(&["report", path.to_str().expect("a name")]);
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("result.json: it is {format}/{other}, {why}")), "{told}");
    }
}
