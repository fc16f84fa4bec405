//! The HTML page: what the template shows, gathered from the other modules.

use crate::answer::Answer;
use crate::charts::{Figure, figures};
use crate::grid::Grid;
use crate::table::Table;
use crate::text::{clean, clean_lines};
use crate::{conditions, results};
use askama::Template;
use std::io;

/// Styles and script stand in `web/`, where their tests are, and are carried inside the page.
const STYLE: &str = include_str!("../../../web/report.css");
const SCRIPT: &str = include_str!("../../../web/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    style: &'static str,
    script: &'static str,
    study: String,
    question: String,
    background: String,
    quick: bool,
    answer: Answer,
    findings: Vec<(String, String)>,
    published: Option<Table>,
    figures: Vec<Figure>,
    results: Vec<Table>,
    how_to_read: &'static str,
    not_measured: Vec<String>,
    skipped: Option<Table>,
    failed: Option<Table>,
    disturbed: Option<Table>,
    problems: Option<Table>,
    facts: Vec<(&'static str, String)>,
    variants: Table,
    trials: Table,
    repeat_command: String,
    seed: u64,
    study_text: String,
    assay_version: String,
}

/// Writes the whole page.
pub fn render(grid: &Grid, out: &mut impl io::Write) -> io::Result<()> {
    let plan = &grid.run.plan;
    let findings = grid.run.summary.iter().flat_map(|s| &s.findings);
    let page = Page {
        style: STYLE,
        script: SCRIPT,
        study: clean(&plan.study),
        question: clean(&plan.question),
        background: clean(&plan.background),
        quick: plan.quick,
        answer: Answer::of(grid),
        findings: findings.map(|f| (clean(&f.claim), clean(&f.evidence))).collect(),
        published: results::beside_published(grid),
        figures: figures(grid),
        results: results::tables(grid),
        how_to_read: results::HOW_TO_READ,
        not_measured: results::not_measured(grid),
        failed: conditions::failed(grid),
        skipped: results::skipped(grid),
        disturbed: conditions::disturbed(grid),
        problems: conditions::problems(grid),
        facts: conditions::facts(grid),
        variants: conditions::variants(grid),
        trials: conditions::trials(grid),
        repeat_command: conditions::repeat_command(grid),
        seed: plan.seed,
        study_text: clean_lines(&grid.run.study_text),
        assay_version: clean(&grid.run.host.provenance.assay_version),
    };
    page.write_into(out)
}
