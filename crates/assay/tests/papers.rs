//! `docs/explanation/papers.md` is made of the rows and the stored results in `testdata/papers`. `UPDATE_EXPECT=1` writes it anew.

mod answer;
mod page;

use assay_model::{Direction, Summary};
use assay_testkit::checkout;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// What `rows.toml` has: its head says what the keys mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    paper: Vec<Paper>,
    file: Vec<StoredFile>,
}

/// A stored JSON that is no study's, and therefore does not say when and where it was made.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFile {
    name: String,
    measured: String,
    machine: String,
    command: String,
}

/// A publication.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    title: String,
    about: String,
    rows: Vec<Row>,
}

/// A system, setting, figure, table or claim of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    place: String,
    what: String,
    published: String,
    study: Option<String>,
    folder: Option<String>,
    against: Option<String>,
    source: Option<String>,
    metric: Option<String>,
    variant: Option<String>,
    claim: Option<String>,
    stored: Option<String>,
    ours: Option<String>,
    per: Option<String>,
    change_percent: Option<f64>,
    change_percent_min: Option<f64>,
    change_percent_max: Option<f64>,
    direction: Option<Direction>,
    value: Option<f64>,
    within_percent: Option<f64>,
    command: Option<String>,
    not_here: Option<String>,
}

/// Where results are stored.
fn kept() -> PathBuf {
    checkout().join("testdata/papers")
}

fn rows() -> Rows {
    let text = fs::read_to_string(kept().join("rows.toml")).expect("the rows");
    toml::from_str(&text).unwrap_or_else(|e| panic!("rows.toml: {e}"))
}

#[test]
fn the_page_of_the_papers_is_made_of_stored_results() {
    let path = checkout().join("docs/explanation/papers.md");
    let said = page::page(&rows());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &said).expect("written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored.lines().zip(said.lines()).find(|(stored, said)| stored != said);
    assert!(
        stored == said,
        "{} is out of date: UPDATE_EXPECT=1 cargo test -p assay --test all papers::\n{differs:?}",
        path.display()
    );
}

/// What this version judges of a stored run is what its page says; `UPDATE_EXPECT=1` writes it.
#[test]
fn the_verdicts_of_stored_runs_are_those_of_this_version() {
    let folders =
        rows().paper.into_iter().flat_map(|paper| paper.rows).filter_map(|row| row.folder.or(row.study));
    let folders: BTreeSet<String> = folders.collect();
    for path in folders.iter().map(|folder| kept().join(folder)).filter(|path| path.is_dir()) {
        let run = assay_results::load_run(&path).expect("a stored run");
        let summary = run.summary.expect("its summary");
        let claims = assay_results::check_claims(&run.plan, &summary);
        if std::env::var_os("UPDATE_EXPECT").is_some() && claims != summary.claims {
            let summary = Summary { claims, ..summary };
            let text = serde_json::to_string(&summary).expect("JSON");
            fs::write(path.join("summary.json"), text + "\n").expect("written");
        } else {
            assert_eq!(summary.claims, claims, "{}: UPDATE_EXPECT=1", path.display());
        }
    }
}

#[test]
fn an_answer_is_in_the_words_of_the_question_and_compares_no_level_with_itself() {
    let run = assay_results::load_run(&kept().join("non-java-memory-accessors")).expect("a stored run");
    let page = assay_report::study::document(&run).markdown();
    let headlines: Vec<&str> =
        page.lines().filter(|line| line.contains("**") && line.contains("CI")).collect();
    let first = headlines.first().expect("an answer");
    assert!(first.contains("A JVM that has called each accessor 2,000 times uses"), "{first}");
    let apart = headlines.iter().find(|line| line.contains("form handle and form method"));
    assert!(apart.is_some(), "variants of one level are named by what differs: {headlines:?}");
}

#[test]
fn every_row_says_what_measures_it_or_why_nothing_does() {
    for paper in rows().paper {
        for row in &paper.rows {
            let of = format!("{}, {}: {}", paper.title, row.place, row.what);
            let ways = [row.study.is_some(), row.stored.is_some(), row.not_here.is_some()];
            let ways = ways.iter().filter(|has| **has).count();
            assert!(ways <= 1 && (ways == 1 || row.command.is_some()), "{of}");
            assert_eq!(row.study.is_some(), row.metric.is_some(), "{of}");
            assert_eq!(row.study.is_some() && row.against.is_none(), row.source.is_some(), "{of}");
            assert!(row.against.is_none() || (row.study.is_some() && row.variant.is_some()), "{of}");
            assert_eq!(row.stored.is_some(), row.ours.is_some(), "{of}");
            for study in row.study.iter().chain(&row.against) {
                let file = checkout().join(format!("studies/{study}.toml"));
                let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{of}: {e}"));
                let source = row.source.as_ref().map(|source| format!("source = {source:?}"));
                assert!(
                    source.is_none_or(|source| text.contains(&source)),
                    "{of}: not the source in {study}"
                );
            }
        }
    }
}

#[test]
fn each_stored_result_is_of_a_study_that_a_row_names_and_is_small() {
    let named: Vec<String> = rows()
        .paper
        .into_iter()
        .flat_map(|p| p.rows)
        .flat_map(|row| row.study.into_iter().chain(row.against))
        .collect();
    for entry in fs::read_dir(kept()).expect("the folder").flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(named.contains(&name), "{name}: no row is about it");
        let mut bytes = 0;
        let mut folders = vec![entry.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.path().is_dir() {
                    true => folders.push(entry.path()),
                    false => bytes += entry.metadata().expect("a file").len(),
                }
            }
        }
        assert!(bytes < 600_000, "{name}: {bytes} bytes are too many for a checkout");
    }
}
